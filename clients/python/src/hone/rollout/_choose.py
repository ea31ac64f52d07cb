"""The choice of a server's tasks for a rollout."""

from __future__ import annotations

import fnmatch
import random
from collections.abc import Sequence

from hone.types import Task

from ._settings import Settings, UsageError


def choose(settings: Settings, served: Sequence[Task]) -> list[str]:
    """The ids of the tasks, each once, in the server's order.

    Raises:
        UsageError: Nothing was named, or what was named is not served; the message says what is.
    """
    ids = [task.id for task in served]
    if not settings.tasks and not settings.datasets:
        raise UsageError(
            f"name what to play: --tasks, --dataset, --kernelbench-samples or "
            f"--kernelbook-samples; {_datasets_of(ids)}"
        )
    chosen: set[str] = set()
    for pattern in settings.tasks:
        full = [one for one in ids if fnmatch.fnmatchcase(one, pattern)]
        short = [one for one in ids if fnmatch.fnmatchcase(one.partition("/")[2], pattern)]
        if not full and not short:
            raise UsageError(f"--tasks: the server has no task {pattern!r}; {_datasets_of(ids)}")
        chosen.update(full or short)
    for name, count in settings.datasets:
        chosen.update(_of_dataset(settings, ids, name, count))
    return [one for one in ids if one in chosen]


def _of_dataset(settings: Settings, ids: list[str], name: str, count: int | None) -> list[str]:
    there = [one for one in ids if one.partition("/")[0] == name]
    if not there:
        raise UsageError(
            f"the server has no dataset {name!r} for its backend; {_datasets_of(ids)} "
            f"A server gets one by its configuration: datasets: [{{name: {name}, …}}]"
        )
    if count is None:
        return there
    if count > len(there):
        raise UsageError(f"found {len(there)} tasks in the dataset {name!r}, expected {count}")
    if settings.seed is None:
        return there[:count]
    return random.Random(settings.seed).sample(there, count)


def _datasets_of(ids: list[str]) -> str:
    names = sorted({one.partition("/")[0] for one in ids})
    counts = [f"{name} ({sum(one.startswith(name + '/') for one in ids)} tasks)" for name in names]
    return f"it has: {', '.join(counts) or 'none'}."
