"""Runs PyTorch modules in a candidate's process: hone-candidate's loop, with Python in place of a loaded library.

    python -I run_module.py PLACE hone-candidate.so BACKEND.so DEVICE CORE,JUDGE FOLDER…

PLACE: see module_environment.py. CORE,JUDGE: the core for timed work, and the judge's core. FOLDER…: what the process
may read.

Theory of operation. The interpreter imports torch and Triton before any untrusted code runs, or is a fork of a zygote
that has imported them (zygote.py). It passes its functions to the backend: load, get_kernel, launch, and those that
observe a call and open the device. hone_candidate_main does the rest, as for native code: it maps the arena, seals the
process, and calls these functions when the judge orders a round. Modules themselves are in module_artifact.py.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "shared"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # python -I leaves both out
from module_environment import ON_DEVICE, PLACE_NAME  # first: it sets what torch reads

try:
    import torch
except ImportError as error:
    sys.exit(f"found no torch in {sys.executable} ({error}): scripts/setup --python makes an environment that has it")

# isort: split
import module_cache
import module_extension
from backend_functions import (
    FAILED_PRECONDITION,
    FINISH,
    FLAGS,
    GET_KERNEL,
    INVALID_ARGUMENT,
    LAUNCH,
    LOAD,
    NOT_FOUND,
    OBSERVE,
    OPEN,
    RESOURCE_EXHAUSTED,
    TRIM,
    Functions,
    guarded,
    run_candidate,
    write_words,
)
from module_artifact import Artifact, Mismatch
from module_baseline import Baseline
from module_errors import cause_of, words_of
from module_extension import Extensions
from module_phrases import lacks_memory
from module_place import ARENA, PLACE
from module_reference import Reference
from module_state import State
from module_tf32 import use_precision
from module_toolkits import Hindered
from module_work import WATCH
from module_wrapper import Refused

del sys.path[:2]
with contextlib.suppress(ImportError):  # modules of torch alone are judged without Triton
    import triton
    import triton.language  # noqa: F401

HINDERED_HOST, HINDERED_DEVICE, WARNS = 1, 2, 4  # hone_python_flags
MISMATCH = NOT_FOUND  # of launch: an output has another form than the task's
KINDS: dict[str, type[Artifact]] = {"reference.py": Reference, "baseline.py": Baseline}

Kernel = Callable[[list[int]], None]


def run_as_it_is(model: Any = None, **_: object) -> Any:
    """Stands in for torch.compile on the processor, which has no compilers and where nothing is timed."""
    return model if model is not None else lambda model: model


class Candidate:
    """The functions that the backend calls, and the module that is loaded."""

    def __init__(self) -> None:
        self.artifact: Artifact | None = None
        self.kernels: list[Kernel] = []
        self.extensions = Extensions()
        self.flags = 0  # hone_python_flags of the last call
        self.functions: Functions | None = None
        self.finish_function = FINISH(self.guarded(self.finish))
        # Of a process that may serve another task, before it loads a module:
        self.state: State | None = None
        self.cores: set[int] | None = None

    def loaded(self) -> Artifact:
        assert self.artifact is not None
        return self.artifact

    def open_device(self, index: int) -> None:
        """Does the slow first use of the device, before untrusted code runs."""
        if PLACE_NAME == "device":
            PLACE.use_device(index)
            with torch.no_grad():
                PLACE.warm()
        self.state = State()

    def load(self, address: int, size: int) -> None:
        if self.artifact is None:
            gc.freeze()  # under the clock, collections look only at what modules make, not at all of torch
        else:
            self.forget()
        artifact, _, compiled = ctypes.string_at(address, size).partition(b"\n")
        if compiled and ON_DEVICE:  # by the dry run
            module_cache.keep(module_cache.unpacked(json.loads(compiled)))
        content = json.loads(artifact)
        if module_extension.is_used(content["source"]):
            if ON_DEVICE:
                self.extensions.install(wrap=note_extension)
            else:
                module_extension.refuse()
        if ON_DEVICE:
            use_precision(json.loads(content["support"]["module.json"]).get("precision"))
        self.artifact = KINDS.get(content["name"], Artifact)(content)
        if self.functions is not None:
            # Only a reference defers work. Any other module is spared a call in each round, which is timed.
            is_reference = isinstance(self.artifact, Reference)
            self.functions.finish = self.finish_function if is_reference else FINISH()
        if ON_DEVICE:
            # Only now: the driver's threads and the compilers of load() stay off the core.
            self.pin(*map(int, sys.argv[5].split(",")))

    def forget(self) -> None:
        """Drops the loaded module. Raises RuntimeError if it has changed something for the next one."""
        sys.modules.pop(self.loaded().name.removesuffix(".py"), None)
        self.artifact = None
        self.kernels.clear()
        ARENA.forget()
        gc.collect()
        PLACE.give_back(0)
        use_precision(None)
        if self.cores is not None:
            os.sched_setaffinity(0, self.cores)  # compilers of load() must not stay on the core
        if self.state is not None and (changed := self.state.difference()):
            raise RuntimeError(f"after the last task {changed}")

    def pin(self, core: int, judge: int) -> None:
        """Gives timed work this core. The reference runs on other cores, so that it leaves the core's caches alone, and
        not on the judge's, which waits busily, if there are more cores."""
        self.cores = known = os.sched_getaffinity(0)
        others = known - {core, judge} or known - {core}
        is_reference = isinstance(self.artifact, Reference)
        os.sched_setaffinity(0, others if is_reference and others else {core})

    def get_kernel(self, entry: bytes, number: int) -> str:
        artifact = self.loaded()
        self.kernels.append(artifact.entry(entry.decode()))
        ctypes.c_int32.from_address(number).value = len(self.kernels) - 1
        self.flags = WARNS if artifact.note_warns else 0
        return artifact.note

    def launch(self, number: int, base: int, size: int, values: int, amount: int) -> None:
        ARENA.use(base, size)
        with torch.no_grad():
            self.kernels[number](list((ctypes.c_uint64 * amount).from_address(values)))
        # Only now is the memory of the answer itself free. The reference is not timed.
        if isinstance(self.artifact, Reference):
            self.artifact.give_back()

    def finish(self) -> None:
        """After the calls of a round of a reference: makes the inputs of all calls together."""
        reference = self.loaded()
        assert isinstance(reference, Reference)
        with torch.no_grad():
            reference.make_waiting()

    def observe(self, begins: int, words: int, size: int) -> None:
        """Before a call: watches it. After it: writes the counts, or the reference's report."""
        report = self.artifact.report if isinstance(self.artifact, Reference) else None
        if begins:
            if report is None:
                WATCH.ask()
        else:
            write_words(words, size, WATCH.words(size - 1) if report is None else report)

    def trim(self) -> None:
        PLACE.give_back(0)

    def guarded(self, body: Callable[..., str | None]) -> Callable[..., int]:
        """Wraps a function for the backend. Each call resets self.flags, so the flags describe the last call."""

        def call(*given: Any) -> str | None:
            self.flags = 0
            return body(*given)

        return guarded(call, self.failure)

    def failure(self, error: BaseException) -> tuple[int, str]:
        """The hone_code and the words of an exception, and its flags."""
        if isinstance(error, Refused):
            return INVALID_ARGUMENT, str(error)
        if isinstance(error, Mismatch):
            return MISMATCH, str(error)
        if isinstance(error, MemoryError):
            return RESOURCE_EXHAUSTED, f"MemoryError: {error}"
        words = words_of(error, self.extensions.kind())
        self.flags = self.flags_of(error)
        return RESOURCE_EXHAUSTED if lacks_memory(words) else FAILED_PRECONDITION, words

    def flags_of(self, error: BaseException) -> int:
        if not isinstance(cause_of(error), Hindered):
            return 0
        return HINDERED_DEVICE if self.extensions.kind() == "device" else HINDERED_HOST


def note_extension(module: Any, has_kernels: bool) -> Any:
    if has_kernels:
        WATCH.extensions.add(getattr(module, "__name__", ""))
    return module


def warm() -> None:
    """Does the slow first use of torch before the process is sealed, watched because watching imports, too."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    if PLACE_NAME == "processor":
        torch.compile = run_as_it_is
    WATCH.ask()
    with torch.no_grad():
        WATCH.call(lambda: torch.nn.Linear(4, 4)(torch.rand(2, 4)).softmax(-1).double().sum())
    WATCH.words(1000)


def main() -> int:
    _, library, backend, device, _, *folders = sys.argv[1:]
    warm()
    candidate = Candidate()
    candidate.functions = functions = Functions(
        on_device=int(ON_DEVICE),
        load=LOAD(candidate.guarded(candidate.load)),
        get_kernel=GET_KERNEL(candidate.guarded(candidate.get_kernel)),
        launch=LAUNCH(candidate.guarded(candidate.launch)),
        observe=OBSERVE(candidate.observe),
        open=OPEN(candidate.guarded(candidate.open_device)),
        trim=TRIM(candidate.trim),
        flags=FLAGS(lambda: candidate.flags),
    )
    return run_candidate(library, backend, device, folders, functions)


if __name__ == "__main__":
    sys.exit(main())
