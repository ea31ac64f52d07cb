"""Counts a module's work in the one call that the judge asks to watch: torch's operators, Triton's kernels and
functions of extensions with kernels, and the device's time of either.

The counts are evidence and no proof, because this code shares its process with the submission. Only the watched call is
counted, and it is not timed.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from torch.utils._python_dispatch import TorchDispatchMode

from module_place import PLACE

NAMES_MAX, NAME_MAX = 48, 60
SPANS_MAX = 128  # timed spans of one call: each of them delays the device
IDLE = {"prim.device", "prim.layout", "aten.detach"}  # dispatched for fake tensors only; they do no work
TORCHS = {"aten", "prim", "prims", "quantized", "inductor", "debugprims", "higher_order", "_c10d_functional", "c10d"}


class Span(NamedTuple):
    """One stretch of work on the device."""

    of_kernel: bool
    events: list[Any]  # its begin and, once it has ended, its end
    within: list[Span]


class DeviceTimes:
    """The device's time between begin() and end(), without the time of spans within.

    The device is held before a span, so that the work is queued when it starts: Python's own time does not count.
    """

    def __init__(self, wanted: bool = True) -> None:
        self.known = wanted and PLACE.device.type != "cpu"
        self.spans: list[Span] = []
        self.open: list[Span] = []
        self.least = 0.0  # the time of an empty span (ms)
        if self.known:
            for _ in range(2):  # the first events take longer
                self.spans.clear()
                self.begin(False)
                self.end()
            PLACE.wait()
            start, stop = self.spans.pop().events
            self.least = start.elapsed_time(stop)

    def begin(self, of_kernel: bool) -> None:
        if not self.known:
            return
        if len(self.spans) >= SPANS_MAX or PLACE.is_captured():
            self.known = False
            return
        if not self.open:
            PLACE.hold()
        span = Span(of_kernel, [PLACE.mark()], [])
        if self.open:
            self.open[-1].within.append(span)
        self.spans.append(span)
        self.open.append(span)

    def end(self) -> None:
        if self.known and self.open:
            self.open.pop().events.append(PLACE.mark())

    def totals(self) -> dict[str, float]:
        """The time of kernels and of operators (us); empty if it is not known."""
        if not self.known or self.open or not self.spans:
            return {}
        PLACE.wait()
        us = {True: 0.0, False: 0.0}
        for of_kernel, (start, stop), within in self.spans:
            inner = sum(first.elapsed_time(last) for _, (first, last), _ in within)
            us[of_kernel] += max(start.elapsed_time(stop) - inner - self.least * (1 + len(within)), 0.0) * 1e3
        return {"kernels_us": round(us[True], 2), "operators_us": round(us[False], 2)}


class Operators(TorchDispatchMode):
    """Counts operators. `others`: the counts of operators that are not torch's; None for the same counts as torch's."""

    def __init__(self, counts: dict[str, int], others: dict[str, int] | None, times: DeviceTimes) -> None:
        super().__init__()
        self.counts = counts
        self.others = counts if others is None else others
        self.times = times

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = str(getattr(function, "overloadpacket", function))
        if name in IDLE:
            return function(*args, **(kwargs or {}))
        torchs = name.split(".")[0] in TORCHS
        counts = self.counts if torchs else self.others
        WATCH.foreign |= not torchs
        count(counts, name)
        with timed(self.times, counts is not self.counts):
            return function(*args, **(kwargs or {}))


@contextlib.contextmanager
def timed(times: DeviceTimes, of_kernel: bool) -> Iterator[None]:
    times.begin(of_kernel)
    try:
        yield
    finally:
        times.end()


def count(counts: dict[str, int], name: str) -> None:
    name = "".join(c if "!" <= c <= "~" else "?" for c in name)[:NAME_MAX] or "?"
    if name in counts or len(counts) < NAMES_MAX:
        counts[name] = counts.get(name, 0) + 1


def launchers() -> Iterator[Any]:
    """Triton's classes whose run() starts a kernel, compiled or interpreted; none without Triton."""
    with contextlib.suppress(ImportError):
        from triton.runtime.jit import JITFunction

        yield JITFunction
    with contextlib.suppress(ImportError):
        from triton.runtime.interpreter import InterpretedFunction

        yield InterpretedFunction


class Watch:
    """Counts the work of the next call after ask()."""

    def __init__(self) -> None:
        self.asked = self.timed = False
        self.foreign = False  # an operator ran that is not torch's
        self.extensions: set[str] = set()  # names of extensions with kernels
        self.kernels: dict[str, int] = {}
        self.operators: dict[str, int] = {}
        self.times: DeviceTimes | None = None

    def ask(self, timed: bool = True) -> None:
        """Counts the next call. `timed`: with the device's time, if there is a device."""
        self.asked, self.timed, self.foreign = True, timed, False
        self.kernels, self.operators = {}, {}
        self.times = None

    def words(self, room: int) -> str:
        """The counts as JSON of at most `room` bytes. If they are longer, the rarest names are left out."""
        self.asked = False
        found = {"kernels": self.kernels, "operators": self.operators, **self.totals()}
        while True:
            words = json.dumps(found, separators=(",", ":"))
            if len(words) <= room:
                return words
            longest: dict[str, int] = max(self.kernels, self.operators, key=len)
            del longest[min(longest, key=longest.__getitem__)]

    def totals(self) -> dict[str, float]:
        with contextlib.suppress(Exception):  # the submission may have changed torch
            return self.times.totals() if self.times is not None else {}
        return {}

    def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if not self.asked:
            return function(*args, **kwargs)
        self.times = times = DeviceTimes(self.timed)
        with contextlib.ExitStack() as stack:
            for launcher in launchers():
                stack.enter_context(self.launches(launcher, times))
            stack.enter_context(self.launches_of_compiled(times))
            others = self.kernels if self.extensions else None
            stack.enter_context(Operators(self.operators, others, times))
            stack.enter_context(self.calls_of_extensions(times))
            return function(*args, **kwargs)

    @contextlib.contextmanager
    def calls_of_extensions(self, times: DeviceTimes) -> Iterator[None]:
        if not self.extensions:
            yield
            return

        def see(frame: object, event: str, function: object) -> None:
            if event[:2] != "c_" or getattr(function, "__module__", None) not in self.extensions:
                return
            if event == "c_call":
                count(self.kernels, str(getattr(function, "__name__", "kernel")))
                times.begin(True)
            else:
                times.end()

        before = sys.getprofile()
        sys.setprofile(see)
        try:
            yield
        finally:
            sys.setprofile(before)

    @contextlib.contextmanager
    def launches(self, launcher: Any, times: DeviceTimes) -> Iterator[None]:
        run = launcher.run

        def counted(kernel: Any, *args: Any, **kwargs: Any) -> Any:
            if not kwargs.get("warmup"):
                function = getattr(kernel, "fn", None)
                count(self.kernels, getattr(function, "__name__", "kernel"))
            with timed(times, True):
                return run(kernel, *args, **kwargs)

        launcher.run = counted
        try:
            yield
        finally:
            launcher.run = run

    @contextlib.contextmanager
    def launches_of_compiled(self, times: DeviceTimes) -> Iterator[None]:
        """Counts `kernel.warmup(…)[grid](…)`, a form of launch in Triton's examples."""
        try:
            from triton.compiler import CompiledKernel
        except ImportError:
            yield
            return
        for_grid = CompiledKernel.__getitem__

        def counted(kernel: Any, grid: Any) -> Any:
            run = for_grid(kernel, grid)

            def start(*args: Any, **kwargs: Any) -> Any:
                count(self.kernels, str(getattr(kernel, "name", "kernel")))
                with timed(times, True):
                    return run(*args, **kwargs)

            return start

        CompiledKernel.__getitem__ = counted
        try:
            yield
        finally:
            CompiledKernel.__getitem__ = for_grid


WATCH = Watch()
