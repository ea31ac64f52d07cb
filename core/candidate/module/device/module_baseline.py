"""A baseline in its faster mode: eager, or compiled by torch.compile.

This is trusted code in a process of its own.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch

from module_artifact import Artifact
from module_place import PLACE
from module_values import flat

TURNS, CALLS_MAX = 3, 50
SECONDS = 0.05  # target duration of a turn
COMPILING_SECONDS = 40  # time limit of torch.compile


def set_environment() -> None:
    """Keeps the compiler's files in this process' folder, and the compiler in this process: no worker outlives it."""
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(os.getcwd(), "inductor")
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"


def seconds_of(call: Callable[[], object]) -> float:
    """The time of one call (s), from the fastest of TURNS turns."""
    call()
    PLACE.wait()
    begun = time.perf_counter()
    call()
    PLACE.wait()
    once = time.perf_counter() - begun
    calls = max(1, min(CALLS_MAX, int(SECONDS / max(once, 1e-6))))
    turns = []
    for _ in range(TURNS):
        begun = time.perf_counter()
        for _ in range(calls):
            call()
        PLACE.wait()
        turns.append((time.perf_counter() - begun) / calls)
    return min(turns)


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raises TimeoutError after this time."""

    def give_up(number: int, frame: object) -> None:
        raise TimeoutError(f"compiling takes more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def placed(value: Any) -> Any:
    """The value with its tensors on the place's device."""
    if isinstance(value, torch.Tensor):
        return value.to(PLACE.device)
    return [placed(one) for one in value] if isinstance(value, (list, tuple)) else value


def make_fastest(model: Any, get_inputs: Callable[[], Any]) -> tuple[str, bool]:
    """Compiles the model, and undoes that if it fails or makes it slower.

    Returns a line for the log, and whether it is a warning.
    """
    try:
        with PLACE.device, torch.no_grad():
            given = placed(list(get_inputs()))

            def call() -> Any:
                PLACE.seed(0)
                return flat(model(*given))

            eager = seconds_of(call)
            set_environment()
            with at_most(COMPILING_SECONDS):
                model.compile()
                call()
            compiled = seconds_of(call)
            words = f"eager {eager * 1e6:.1f} us a call, compiled {compiled * 1e6:.1f}"
            if compiled < eager:
                return f"its baseline is compiled by torch.compile: {words}", False
            warns = False
    except Exception as error:
        warns = True
        words = f"it cannot be compiled: {type(error).__name__}: {error}".split("\n")[0]
    model._compiled_call_impl = None  # undoes model.compile()
    if "torch._dynamo" in sys.modules:
        torch._dynamo.reset()
    return f"its baseline is eager: {words}", warns


class Baseline(Artifact):
    """A loaded baseline."""

    def entry(self, name: str) -> Callable[[list[int]], None]:
        run = super().entry(name)
        if self.model is not None and self.meta.get("baseline") == "compile":
            self.note, self.note_warns = make_fastest(self.model[0], self.module.get_inputs)
        return run
