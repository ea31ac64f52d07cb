"""What does a module's work: torch's operators, Triton's kernels and functions of extensions that have kernels, counted
in one call that the judge asks to watch.

Evidence and no proof: this runs beside the submission. Nothing is watched but in that call, which is not timed.
"""

import contextlib
import json
import sys

from torch.utils._python_dispatch import TorchDispatchMode

NAMES_MAX, NAME_MAX = 48, 60
TORCHS = {"aten", "prim", "prims", "quantized", "inductor", "debugprims", "higher_order", "_c10d_functional", "c10d"}


class Operators(TorchDispatchMode):
    """`others`: counts of operators that are not torch's; by default they are counted as torch's are."""

    def __init__(self, counts, others=None):
        super().__init__()
        self.counts = counts
        self.others = counts if others is None else others

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = str(getattr(function, "overloadpacket", function))
        count(self.counts if name.split(".")[0] in TORCHS else self.others, name)
        return function(*args, **(kwargs or {}))


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
        self.asked = False
        self.extensions = set()  # by name: those that have kernels
        self.kernels, self.operators = {}, {}

    def ask(self):
        self.asked = True
        self.kernels, self.operators = {}, {}

    def words(self, room):
        """What was counted, as JSON of at most so many bytes; the rarest names go first."""
        self.asked = False
        while True:
            words = json.dumps({"kernels": self.kernels, "operators": self.operators}, separators=(",", ":"))
            if len(words) <= room:
                return words
            longest = max(self.kernels, self.operators, key=len)
            del longest[min(longest, key=longest.get)]

    def call(self, function, *args, **kwargs):
        if not self.asked:
            return function(*args, **kwargs)
        with contextlib.ExitStack() as stack:
            for launcher in launchers():
                stack.enter_context(self.launches(launcher))
            stack.enter_context(Operators(self.operators, self.kernels if self.extensions else None))
            stack.enter_context(self.calls_of_extensions())
            return function(*args, **kwargs)

    @contextlib.contextmanager
    def calls_of_extensions(self):
        if not self.extensions:
            yield
            return

        def see(frame, event, function):
            if event == "c_call" and getattr(function, "__module__", None) in self.extensions:
                count(self.kernels, str(getattr(function, "__name__", "kernel")))

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
            return run(kernel, *args, **kwargs)

        launcher.run = counted
        try:
            yield
        finally:
            launcher.run = run


WATCH = Watch()
