"""For SkyRL (0.4): an environment of skyrl-gym, and a generator that masks faults.

    from hone.adapters import skyrl as hone_skyrl

    hone_skyrl.register("tcp://127.0.0.1:5917", {"max_turns": 4})  # in SkyRL's entrypoint
    generator = hone_skyrl.Masked(generator)  # in BasePPOExp.get_generator

and rows with ``env_class: hone``, which ``write_prompts`` writes. An environment of SkyRL cannot
exclude a sample from training: a reward is a number. So ``Masked`` wraps SkyRL's generator. Without
it, an environment raises after a fault. With the option ``tools`` the model may call the episode's
tools, as JSON between ``<tool_call>`` tags. See docs/trainers/skyrl.md.
"""

from __future__ import annotations

import inspect
import json
import os
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hone._requests import DEFAULT_ENDPOINT

from ._calls import as_user, calls_in, respond, with_tools
from ._play import Play, Settings, client_of
from ._record import Message, Record
from ._versions import require

require("hone.adapters.skyrl", "skyrl-gym", "0.4", "0.5")

import skyrl_gym  # noqa: E402 - after the check of its version
from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput  # noqa: E402
from skyrl_gym.envs.registration import deregister, registry  # noqa: E402

#: Value of ``stop_reasons`` for an episode with a fault.
STOP_REASON = "hone_fault"
_NO_PROMPT: list[Message] = [{"role": "user", "content": "Answer with one word."}]
_EXTRA = "hone_link"  # the column with the _Link between Masked and an environment


class FaultError(RuntimeError):
    """A fault in an environment without ``Masked``, which would exclude it from training."""


@dataclass
class _Link:
    """Connects ``Masked`` and one environment.

    Attributes:
        group: The episode's group.
        batched: Whether SkyRL generates one answer only.
        record: The record of the episode.
        retries: How often a lost episode is generated again.
    """

    group: str | None
    batched: bool = False
    record: Record | None = None
    retries: int = 0

    def may_retry(self, spent: int) -> bool:
        """Whether the episode ended because its server was lost, and may be repeated.

        Args:
            spent: How often it was.
        """
        return self.record is not None and self.record.server_lost and spent < self.retries


class HoneEnv(BaseTextEnv):  # type: ignore[misc]
    """One episode. SkyRL makes one environment for each trajectory; ``init`` connects it.

    The sum of the turns' rewards is the episode's return, also for an episode that ends early.

    Args:
        env_config: SkyRL's; a mapping has further settings.
        extras: The row's other columns: ``task``, ``seed``; and ``max_turns``, SkyRL's
            ``generator.max_turns``, the default of the option ``max_turns``.
        settings: As in ``Settings``; set by ``register``.

    Raises:
        TypeError: A setting is unknown.
    """

    def __init__(
        self,
        env_config: Any = None,  # noqa: ANN401 - SkyRL's configuration
        extras: Mapping[str, Any] | None = None,
        *,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()
        more = dict(env_config) if isinstance(env_config, Mapping) else {}
        given = {**(settings or {}), **more}
        self._row = dict(extras or {})
        options = dict(given.get("options") or {})
        if "max_turns" not in options and self._row.get("max_turns") is not None:
            options["max_turns"] = int(self._row["max_turns"])
        self.max_turns: int = options.get("max_turns", 1)
        self._settings = Settings.of({**given, "options": options})
        self._link: _Link | None = self._row.get(_EXTRA)
        self._play: Play | None = None

    @property
    def record(self) -> Record:
        """The episode's record: turns, rewards, returns, fault."""
        return Record() if self._play is None else self._play.record

    def init(self, prompt: list[Message]) -> tuple[list[Message], dict[str, Any]]:
        """Starts the episode.

        Args:
            prompt: The row's prompt. It is not used: the server has its own.

        Returns:
            The server's prompt and the episode's record.

        Raises:
            FaultError: The machine was at fault and ``Masked`` is not there.
            ValueError: There are tools, but SkyRL generates one answer only (``batched``).
            hone.HoneError: The request is wrong, or no server answers the first one.
        """
        if self._settings.tools and self._link is not None and self._link.batched:
            raise ValueError("option tools: expected generator.batched=false, found true")
        row = {**(self._row.get("extra_info") or {}), **self._row}
        self._play = self._play or Play(self._settings)
        group = row.get("group") if self._link is None else self._link.group
        messages = self._play.start(row.get("task"), seed=row.get("seed"), group=group)
        self._pass_on()
        shown = with_tools(messages, self._play.tools.functions)
        return shown or list(prompt or _NO_PROMPT), self.record.details()

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Submits a model's answer, or makes the tool calls in it.

        Returns:
            hone's messages, the turn's contribution to the return (0.0 for tool calls), whether the
            episode is over, and its record as ``metadata``.

        Raises:
            FaultError: The machine was at fault and ``Masked`` is not there.
            hone.HoneError: The request is wrong.
            ValueError: ``init`` was not called.
        """
        if self._play is None:
            raise ValueError("step: the episode is not started; call init first")
        before = self.record.return_to_date or 0.0
        calls = calls_in(action) if self._play.tools.functions else []
        messages = as_user(respond(self._play, action, calls))
        self._pass_on()
        self.turns = self.record.turns
        after = before if self.record.score is None else self.record.score
        return BaseTextEnvStepOutput(
            observations=messages,
            reward=after - before,
            done=self.record.ended,
            metadata=self.record.details(),
        )

    def close(self) -> None:
        """Closes the episode. Dropping the environment does so, too."""
        if self._play is not None:
            self._play.finish()

    def get_metrics(self) -> dict[str, Any]:
        """Values for SkyRL's log, which averages them over episodes. Unknown ones are left out."""
        record = self.record
        calls = sum(record.tool_calls.values()) if self._settings.tools else None
        known = {
            "return": record.score,
            "best_speedup": record.best_speedup,
            "tool_calls": calls,
        }
        return {
            "turns": record.turns,
            "correct": "correct" in record.outcomes,
            "fault": record.fault is not None,
            **{name: value for name, value in known.items() if value is not None},
        }

    def _pass_on(self) -> None:
        """Passes the record to ``Masked``. Without ``Masked`` a fault raises."""
        if self._link is not None:
            self._link.record, self._link.retries = self.record, self._settings.retries
        elif self.record.fault is not None:
            advice = "wrap the generator in hone.adapters.skyrl.Masked to mask faults"
            raise FaultError(f"{self.record.fault}; {advice}")


class Masked:
    """Wraps a generator of SkyRL and excludes faults from training.

    An episode with a fault has loss masks of 0 and the stop reason ``"hone_fault"``. Its reward is
    the mean of the judged episodes of its group, so it does not change the group's mean.

    Args:
        generator: A ``SkyRLGymGenerator``, or an object with the same ``generate``.

    Raises:
        ImportError: SkyRL is missing or not supported.
    """

    def __init__(self, generator: Any) -> None:  # noqa: ANN401 - SkyRL's
        require("hone.adapters.skyrl", "skyrl", "0.4", "0.5")
        self._generator = generator

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self.__dict__["_generator"], name)

    async def generate(self, input_batch: Any, disable_tqdm: bool = False) -> Any:  # noqa: ANN401
        """SkyRL's ``generate``, GeneratorInput to GeneratorOutput."""
        ids = input_batch.get("trajectory_ids") or [None] * len(input_batch["prompts"])
        groups = [at if one is None else one.instance_id for at, one in enumerate(ids)]
        config = getattr(self._generator, "generator_cfg", None)
        batched = bool(getattr(config, "batched", False))
        links = [
            _Link(None if one is None else f"skyrl-{os.getpid()}-{one.instance_id}", batched)
            for one in ids
        ]
        extras = input_batch.get("env_extras") or [{} for _ in ids]
        batch = {
            **input_batch,
            "env_extras": [{**row, _EXTRA: one} for row, one in zip(extras, links, strict=True)],
        }
        inner = self._generator.generate
        named = {"disable_tqdm": disable_tqdm}
        named = {name: named[name] for name in named if name in inspect.signature(inner).parameters}
        output = await inner(batch, **named)
        for spent in range(max((one.retries for one in links), default=0)):
            lost = [at for at, one in enumerate(links) if one.may_retry(spent)]
            if not lost:
                break
            again = await inner(_only(batch, lost, len(ids)), **named)
            for one in (links[at].record for at in lost):
                if one is not None:
                    one.retries += spent + 1
            _replace(output, again, lost, len(ids))
        zeroes = bool(getattr(config, "zero_reward_on_non_stop", False))
        return _masked(output, groups, [one.record for one in links], zeroes)


def register(
    endpoint: str | Sequence[str] = DEFAULT_ENDPOINT,
    options: Mapping[str, Any] | None = None,
    *,
    name: str = "hone",
    **settings: Any,  # noqa: ANN401 - Settings checks them
) -> None:
    """Registers ``HoneEnv`` with skyrl-gym in this process, replacing an earlier registration.

    Args:
        endpoint: Of ``hone serve``, or a list of them.
        options: Of every episode.
        name: The ``env_class`` of its rows.
        settings: More of ``Settings``.

    Raises:
        TypeError: A setting is unknown.
    """
    given = {"endpoint": endpoint, "options": dict(options or {}), **settings}
    Settings.of(given)
    if name in registry:
        deregister(name)
    skyrl_gym.register(
        id=name, entry_point="hone.adapters.skyrl:HoneEnv", kwargs={"settings": given}
    )


def write_prompts(
    path: str | os.PathLike[str],
    *,
    name: str = "hone",
    **settings: Any,  # noqa: ANN401
) -> int:
    """Writes SkyRL's data (``data.train_data``): a line of JSON for each task of a server.

    Args:
        path: A file whose name ends in ``.jsonl``.
        name: The ``env_class`` that was registered.
        settings: ``endpoint``, ``split``, …, as in ``Settings``.

    Returns:
        How many tasks there were.
    """
    given = Settings.of(settings)
    lines, play = [], Play(given)
    for task in client_of(given).tasks(split=given.split):
        # Only for SkyRL's filter by length: the environment gets its prompt from the server.
        messages = play.start(task.id)
        if play.record.fault is not None:
            raise ConnectionError(f"{task.id}: {play.record.fault}")
        prompt = with_tools(messages, play.tools.functions)
        lines.append(json.dumps({"prompt": prompt, "env_class": name, "task": task.id}))
    play.finish()
    Path(path).write_text("".join(line + "\n" for line in lines))
    return len(lines)


def _masked(
    output: dict[str, Any], groups: list[Any], records: list[Record | None], zeroes: bool
) -> dict[str, Any]:
    """Masks the rows of faults in a GeneratorOutput, and sets the return of every judged episode.

    Args:
        output: SkyRL's; it is changed.
        groups: Of each trajectory.
        records: Of each trajectory; None where its environment is not hone's.
        zeroes: Whether SkyRL takes the reward of what was cut off.
    """
    rewards, masks = output["rewards"], output["loss_masks"]
    is_last = output.get("is_last_step")
    rows = _rows_of(len(rewards), is_last)
    totals: dict[int, float] = {}
    for at, record in enumerate(records):
        if record is None or record.fault is not None:
            continue
        total = sum(_sum(rewards[row]) for row in rows[at])
        if not isinstance(rewards[rows[at][0]], list):  # SkyRL keeps only the last turn's
            cut = zeroes and (output.get("stop_reasons") or ["stop"])[rows[at][0]] != "stop"
            total = 0.0 if cut else record.score or 0.0
        totals[at] = total
        if is_last is not None or not isinstance(rewards[rows[at][0]], list):
            _put(rewards, masks, rows[at], total)  # SkyRL reads only the last step's
    judged: dict[Any, list[float]] = defaultdict(list)
    for at, total in totals.items():
        judged[groups[at]].append(total)
    faults = [at for at, record in enumerate(records) if record and record.fault is not None]
    for at in faults:
        _put(rewards, masks, rows[at], _mean(judged.get(groups[at]) or list(totals.values())))
        for row in rows[at]:
            masks[row] = [0] * len(masks[row])
            if output.get("stop_reasons") is not None:
                output["stop_reasons"][row] = STOP_REASON
    if isinstance(output.get("rollout_metrics"), dict):
        output["rollout_metrics"]["hone/faults"] = len(faults) / len(records)
    return output


def _only(batch: Mapping[str, Any], kept: list[int], count: int) -> dict[str, Any]:
    """A GeneratorInput with some of its trajectories."""
    return {
        name: [value[at] for at in kept]
        if isinstance(value, list) and len(value) == count
        else value
        for name, value in batch.items()
    }


def _replace(
    output: dict[str, Any], again: Mapping[str, Any], which: list[int], count: int
) -> None:
    """Puts trajectories that were generated again into the places of the lost ones."""
    mine, theirs = (_rows_of(len(o["rewards"]), o.get("is_last_step")) for o in (output, again))
    assert (len(mine), len(theirs)) == (count, len(which))
    place = {at: index for index, at in enumerate(which)}
    total = len(output["rewards"])
    for name, value in list(output.items()):
        new = again.get(name)
        if not (isinstance(value, list) and len(value) == total and isinstance(new, list)):
            continue
        output[name] = [
            new[row] if at in place else value[row]
            for at in range(count)
            for row in (theirs[place[at]] if at in place else mine[at])
        ]


def _rows_of(count: int, is_last: list[bool] | None) -> list[list[int]]:
    """The rows of each trajectory: one, or with ``step_wise_trajectories`` one for each turn."""
    if is_last is None:
        return [[row] for row in range(count)]
    rows: list[list[int]] = [[]]
    for row in range(count):
        rows[-1].append(row)
        if is_last[row]:
            rows.append([])
    return rows[:-1]


def _put(rewards: list[Any], masks: list[list[int]], rows: list[int], total: float) -> None:
    """Sets a trajectory's reward, at the model's last token in its last row."""
    for row in rows:
        if isinstance(rewards[row], list):
            rewards[row] = [0.0] * len(rewards[row])
    last = rows[-1]
    if isinstance(rewards[last], list):
        spoken = [at for at, kept in enumerate(masks[last]) if kept]
        rewards[last][spoken[-1] if spoken else -1] = total
    else:
        rewards[last] = total


def _sum(reward: Any) -> float:  # noqa: ANN401 - a number, or one for each token
    return float(sum(reward)) if isinstance(reward, list) else float(reward)


def _mean(values: list[float]) -> float:
    """The mean; exactly the common value if all are equal, because SkyRL tests for differences."""
    if not values:
        return 0.0  # nothing was judged, and every mask is 0
    return min(max(statistics.fmean(values), min(values)), max(values))


__all__ = ["STOP_REASON", "FaultError", "HoneEnv", "Masked", "register", "write_prompts"]
