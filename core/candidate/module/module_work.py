"""What does a module's work: torch's operators, Triton's kernels and functions of extensions that have kernels, counted
in one call that the judge asks to watch, and the device's time of either.

Evidence and no proof: this runs beside the submission. Nothing is watched but in that call, which is not timed.
"""

import contextlib
import json
import sys

from torch.utils._python_dispatch import TorchDispatchMode

from module_place import PLACE

NAMES_MAX, NAME_MAX = 48, 60
SPANS_MAX = 128  # that are timed: each holds the device up
IDLE = {"prim.device", "prim.layout", "aten.detach"}  # what fake tensors are asked besides: no work
TORCHS = {"aten", "prim", "prims", "quantized", "inductor", "debugprims", "higher_order", "_c10d_functional", "c10d"}


class DeviceTimes:
    """How long the device was at what lies between begin() and end(), without what lies within that again.

    The device is held up first, so that it finds the work waiting: what Python takes to start it is not counted.
    """

    def __init__(self, wanted=True):
        self.known = wanted and PLACE.device.type != "cpu"
        self.spans = []  # (of a kernel, its events, spans within)
        self.open = []
        self.least = 0.0  # of a span that holds nothing, in milliseconds
        if self.known:
            for _ in range(2):  # the first of each takes its time
                self.spans.clear()
                self.begin(False)
                self.end()
            PLACE.wait()
            _, (start, stop), _ = self.spans.pop()
            self.least = start.elapsed_time(stop)

    def begin(self, of_kernel):
        if not self.known:
            return
        if len(self.spans) >= SPANS_MAX or PLACE.is_captured():
            self.known = False
            return
        if not self.open:
            PLACE.hold()
        span = (of_kernel, [PLACE.mark()], [])
        if self.open:
            self.open[-1][2].append(span)
        self.spans.append(span)
        self.open.append(span)

    def end(self):
        if self.known and self.open:
            self.open.pop()[1].append(PLACE.mark())

    def totals(self):
        """Microseconds of kernels and of operators; nothing where they are not known."""
        if not self.known or self.open or not self.spans:
            return {}
        PLACE.wait()
        us = {True: 0.0, False: 0.0}
        for of_kernel, (start, stop), within in self.spans:
            inner = sum(first.elapsed_time(last) for _, (first, last), _ in within)
            us[of_kernel] += max(start.elapsed_time(stop) - inner - self.least * (1 + len(within)), 0.0) * 1e3
        return {"kernels_us": round(us[True], 2), "operators_us": round(us[False], 2)}


class Operators(TorchDispatchMode):
    """`others`: counts of operators that are not torch's; where it is None they are counted as torch's are."""

    def __init__(self, counts, others, times):
        super().__init__()
        self.counts = counts
        self.others = counts if others is None else others
        self.times = times

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
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
def timed(times, of_kernel):
    times.begin(of_kernel)
    try:
        yield
    finally:
        times.end()


def count(counts, name):
    name = "".join(c if "!" <= c <= "~" else "?" for c in name)[:NAME_MAX] or "?"
    if name in counts or len(counts) < NAMES_MAX:
        counts[name] = counts.get(name, 0) + 1


def launchers():
    """The classes whose run() starts a kernel, compiled or interpreted; none without Triton."""
    with contextlib.suppress(ImportError):
        from triton.runtime.jit import JITFunction

        yield JITFunction
    with contextlib.suppress(ImportError):
        from triton.runtime.interpreter import InterpretedFunction

        yield InterpretedFunction


class Watch:
    """Once it is asked for, the next call counts."""

    def __init__(self):
        self.asked = self.timed = False
        self.foreign = False  # an operator ran that is not torch's
        self.extensions = set()  # by name: those that have kernels
        self.kernels, self.operators = {}, {}
        self.times = None

    def ask(self, timed=True):
        """`timed`: with the device's time, where there is one."""
        self.asked, self.timed, self.foreign = True, timed, False
        self.kernels, self.operators = {}, {}
        self.times = None

    def words(self, room):
        """What was counted, as JSON of at most so many bytes; the rarest names go first."""
        self.asked = False
        found = {"kernels": self.kernels, "operators": self.operators, **self.totals()}
        while True:
            words = json.dumps(found, separators=(",", ":"))
            if len(words) <= room:
                return words
            longest = max(self.kernels, self.operators, key=len)
            del longest[min(longest, key=longest.get)]

    def totals(self):
        with contextlib.suppress(Exception):  # a submission's torch
            return self.times.totals() if self.times is not None else {}
        return {}

    def call(self, function, *args, **kwargs):
        if not self.asked:
            return function(*args, **kwargs)
        self.times = DeviceTimes(self.timed)
        with contextlib.ExitStack() as stack:
            for launcher in launchers():
                stack.enter_context(self.launches(launcher))
            stack.enter_context(self.launches_of_compiled())
            others = self.kernels if self.extensions else None
            stack.enter_context(Operators(self.operators, others, self.times))
            stack.enter_context(self.calls_of_extensions())
            return function(*args, **kwargs)

    @contextlib.contextmanager
    def calls_of_extensions(self):
        if not self.extensions:
            yield
            return

        def see(frame, event, function):
            if event[:2] != "c_" or getattr(function, "__module__", None) not in self.extensions:
                return
            if event == "c_call":
                count(self.kernels, str(getattr(function, "__name__", "kernel")))
                self.times.begin(True)
            else:
                self.times.end()

        before = sys.getprofile()
        sys.setprofile(see)
        try:
            yield
        finally:
            sys.setprofile(before)

    @contextlib.contextmanager
    def launches(self, launcher):
        run = launcher.run

        def counted(kernel, *args, **kwargs):
            if not kwargs.get("warmup"):
                function = getattr(kernel, "fn", None)
                count(self.kernels, getattr(function, "__name__", "kernel"))
            with timed(self.times, True):
                return run(kernel, *args, **kwargs)

        launcher.run = counted
        try:
            yield
        finally:
            launcher.run = run

    @contextlib.contextmanager
    def launches_of_compiled(self):
        """kernel.warmup(…)[grid](…), which Triton's own examples have."""
        try:
            from triton.compiler import CompiledKernel
        except ImportError:
            yield
            return
        for_grid = CompiledKernel.__getitem__

        def counted(kernel, grid):
            run = for_grid(kernel, grid)

            def start(*args, **kwargs):
                count(self.kernels, str(getattr(kernel, "name", "kernel")))
                with timed(self.times, True):
                    return run(*args, **kwargs)

            return start

        CompiledKernel.__getitem__ = counted
        try:
            yield
        finally:
            CompiledKernel.__getitem__ = for_grid


WATCH = Watch()
