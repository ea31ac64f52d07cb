"""A dry run of a module: its first run, in a sandbox without a device, on tensors that hold no values.

    python -I -B dry_run_module.py PLACE hone-candidate.so DEVICE FOLDER…

FOLDER…: what the process may read. DEVICE: the device of later runs, as JSON: "architecture" ("sm_90a") and, if known,
"name", "memory_bytes", "cache_bytes", "multiprocessors", "block_threads" and "shared_bytes".

Theory of operation. The module is loaded, constructed and called as in a candidate's process (module_artifact.py), with
fake tensors for the task's. Triton's kernels are compiled for the absent device. Its cache then travels with the
artifact, so the process with the device finds them compiled. Torch's extensions are built (module_extension.py) and not
called. A failure that the absence of the device may have caused means nothing and is left to the device. A missing
library, or a kernel that does not compile, fails there, too, and is reported at once.

The answer has three lines:
1. empty, or "load WORDS", "run WORDS", a compiler's "build KIND WORDS" or "link KIND WORDS", or "hindered KIND WORDS".
   KIND is "host", or "device" for an extension with kernels.
2. the work as module_work.py counts it; empty if the call may take another course with the device.
3. the compiled files, as JSON.

The answer is not trusted: it comes from the submission's process. It serves only the submission's own process, or
speaks against the submission.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
import sys
import traceback
import types
from collections.abc import Callable
from typing import Any

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "shared"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # python -I leaves both out
from module_environment import PLACE_NAME  # first: it sets what torch reads

# isort: split
import torch
from torch._subclasses import fake_tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

import module_cache
import module_extension
from answer_host import answer_host
from known_extension import known_extension
from module_absent_device import Absent, Doubts, Enough, compiling_for, target_of
from module_artifact import Artifact, run_source
from module_errors import words_of
from module_extension import Extensions
from module_place import PLACE
from module_work import WATCH

del sys.path[:2]
with contextlib.suppress(ImportError):  # before torch is changed
    import triton
    import triton.language  # noqa: F401

QUESTION = re.compile(r"(nvidia|rocm|amd)-smi|deviceQuery|lspci|lib(cuda|nvidia-ml|amdhip64)\.so")
WORK_BYTES_MAX = 3071  # as for the counts of a candidate's process (kObservedMax)
CAUGHT = "__hone_caught__"  # a global of the submission's module in a dry run: see noting_handlers()
# The names of a device's properties in torch and Triton, and in DEVICE.
FOR_TORCH = {
    "name": "name",
    "total_memory": "memory_bytes",
    "multi_processor_count": "multiprocessors",
    "L2_cache_size": "cache_bytes",
    "max_threads_per_block": "block_threads",
    "shared_memory_per_block_optin": "shared_bytes",
}
FOR_TRITON = {"max_shared_mem": "shared_bytes", "multiprocessor_count": "multiprocessors"}


class Fake(FakeTensorMode):
    avoid_device_init = True  # whatever the module is told, there is no device

    def __init__(self, doubts: Doubts) -> None:
        super().__init__(allow_non_fake_inputs=True)
        self.doubts = doubts

    def __torch_dispatch__(self, *args: Any, **kwargs: Any) -> Any:
        with self.doubts.missing():
            return super().__torch_dispatch__(*args, **kwargs)


class Addresses:
    """Addresses of fake tensors, which kernels are specialised for."""

    def __init__(self) -> None:
        self.known: dict[int, int] = {}

    def of(self, tensor: torch.Tensor) -> int:
        storage = tensor.untyped_storage()
        if storage._cdata not in self.known:
            self.known[storage._cdata] = (1 + len(self.known)) << 40
        return int(self.known[storage._cdata] + tensor.storage_offset() * tensor.element_size())


def apply(module: Any, change: Callable[[Any], Any], recurse: bool = True) -> Any:
    """Like nn.Module._apply, which fails for fake tensors."""
    for child in module.children() if recurse else ():
        apply(child, change)
    for name, parameter in module._parameters.items():
        if parameter is not None:
            module._parameters[name] = torch.nn.Parameter(change(parameter), parameter.requires_grad)
    for name, buffer in module._buffers.items():
        if buffer is not None:
            module._buffers[name] = change(buffer)
    return module


class DeviceProperties(Absent):
    """The known properties of a torch.cuda device."""

    def __init__(self, known: dict[str, Any], doubts: Doubts) -> None:
        Absent.__init__(self, doubts)  # super() needs the real __class__
        own = getattr(torch._C, "_CudaDeviceProperties", None)
        self.__dict__.update({name: value for name, value in known.items() if own is None or hasattr(own, name)})

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return getattr(torch._C, "_CudaDeviceProperties", DeviceProperties)


def capability_of(architecture: str) -> tuple[int, int]:
    return divmod(int(re.sub(r"\D", "", architecture)), 10)


def properties_of(device: dict[str, Any], doubts: Doubts) -> tuple[DeviceProperties | None, dict[str, Any]]:
    """The properties by torch's names, None if they are not known, and by Triton's names."""
    if not device["architecture"].startswith("sm_"):  # the names mean something else for other vendors
        return None, {}
    triton = {ours: device[name] for ours, name in FOR_TRITON.items() if name in device}
    known = {ours: device[name] for ours, name in FOR_TORCH.items() if name in device}
    if not known:
        return None, triton
    major, minor = capability_of(device["architecture"])
    properties = DeviceProperties({**known, "major": major, "minor": minor, "warp_size": 32}, doubts)
    return properties, {**triton, "warpSize": 32}


def is_of_the_source(error: BaseException, extensions: Extensions) -> bool:
    """Whether the error is in the submission's text, so that it occurs with every device."""
    if extensions.refused(error) is not None:
        return True
    if isinstance(error, ModuleNotFoundError):  # of the submission's own import, not of a library's
        frames = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
        return error.name is not None and frames[-1:] == ["submission.py"]
    with contextlib.suppress(ImportError):
        from triton.compiler.errors import CompilationError

        return isinstance(error, CompilationError)
    return False


def noting_handlers(source: str, name: str) -> types.CodeType:
    """The code of a module whose exception handlers call CAUGHT when they are used."""
    tree = ast.parse(source, name)
    for handler in [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]:
        note = ast.parse(f"{CAUGHT}()").body[0]
        for node in ast.walk(note):
            ast.copy_location(node, handler)
        handler.body.insert(0, note)
    return compile(tree, name, "exec", dont_inherit=True)


class DryArtifact(Artifact):
    """A module of a dry run: its tensors hold no values, and its exception handlers are noted."""

    def __init__(self, content: dict[str, Any], doubts: Doubts) -> None:
        self.doubts = doubts
        super().__init__(content)

    def run_source(self, name: str, source: str, module_name: str) -> types.ModuleType:
        names = {CAUGHT: self.doubts.note_caught}
        return run_source(name, source, module_name, noting_handlers, **names)

    def view(self, at: int, dtype: torch.dtype, shape: list[int]) -> torch.Tensor:
        return torch.empty(shape, dtype=dtype, device=PLACE.device)


class DryRun:
    """The dry run of one module. It changes torch and Triton for good: the process ends with it."""

    def __init__(self, device: dict[str, Any]) -> None:
        self.device = device
        self.architecture: str = device["architecture"]
        self.doubts = Doubts()
        self.extensions = Extensions()

    def run(self, content: dict[str, Any]) -> tuple[str, str]:
        """The first two lines of the answer."""
        stage = "load"
        try:
            properties, of_triton = properties_of(self.device, self.doubts)
            if PLACE_NAME == "device" and (torch.version.cuda or torch.version.hip):
                PLACE.device = torch.device("cuda", 0)
            with contextlib.ExitStack() as stack:
                if PLACE_NAME == "device":
                    target = target_of(self.architecture)
                    compiling = compiling_for(target, of_triton, self.doubts, lambda: self.extensions.seconds)
                    stack.enter_context(compiling)
                self.pretend_to_have_a_device(properties)
                self.watch_questions()
                if module_extension.is_used(content["source"]):
                    self.use_extensions()
                artifact = DryArtifact(content, self.doubts)
                stack.enter_context(Fake(self.doubts))
                stack.enter_context(torch.no_grad())
                entry = artifact.entry("ModelNew")
                stage = "run"
                values = [0] * (len(artifact.tensors) + 1)
                entry(values)
                WATCH.ask(timed=False)  # with the device, the watched call is not the first either
                entry(values)
                if self.goes_as_with_a_device():
                    return "", WATCH.words(WORK_BYTES_MAX)
        except Enough:
            pass
        except BaseException as error:
            return self.words_of_failure(error, stage), ""
        return "", ""

    def words_of_failure(self, error: BaseException, stage: str) -> str:
        """The first line of the answer for an exception; "" if it may not occur with the device."""
        kind = self.extensions.kind()
        hindered = module_extension.hindered(error)
        if hindered is not None:
            return f"hindered {kind} {hindered}"
        if not self.is_certain(error):
            return ""
        refused = self.extensions.refused(error)
        if refused is None:
            return f"{stage} {words_of(error, kind)}"
        return f"{'link' if refused.of_linker else 'build'} {kind} {refused.words}"

    def is_certain(self, error: BaseException) -> bool:
        """Whether the same error occurs with the device.

        It may not if the submission has caught another error before: with the device that one may not occur, and the
        submission may not come here.
        """
        if self.doubts.asked or not is_of_the_source(error, self.extensions):
            return False
        context = error.__context__
        while context is not None:
            frames = traceback.extract_tb(context.__traceback__)  # begins where it was caught
            caught = bool(frames) and frames[0].filename == "submission.py"
            of_the_source = is_of_the_source(context, self.extensions)
            if isinstance(context, (OSError, MemoryError)) or (caught and not of_the_source):
                return False
            context = context.__context__
        return True

    def goes_as_with_a_device(self) -> bool:
        """Whether the call takes the same course with the device, as far as is known. For operators of other libraries,
        fake tensors run no more than a description."""
        return not (self.doubts.asked or self.doubts.caught or WATCH.foreign)

    def only_device(self, device: Any = None) -> None:
        """Reads a device argument like torch. Raises for another device than the first."""
        with self.doubts.missing():
            if isinstance(device, torch.cuda.device):
                device = device.idx
            if not isinstance(device, int):
                device = torch.device("cuda" if device is None else device)
                if device.type != "cuda":
                    raise ValueError(f"Expected a cuda device, but got: {device}")
                device = device.index or 0
            if device != 0:
                raise AssertionError("Invalid device id")

    def pretend_to_have_a_device(self, properties: DeviceProperties | None) -> None:
        """Makes torch answer as if there were one device."""
        missing = self.doubts.missing

        def get_device_properties(device: Any = None) -> DeviceProperties | None:
            self.only_device(device)
            return properties

        def get_device_capability(device: Any = None) -> tuple[int, int]:
            self.only_device(device)
            return capability_of(self.architecture)

        if properties is not None:
            torch.cuda.get_device_properties = get_device_properties
        if self.architecture.startswith("sm_"):
            torch.cuda.get_device_capability = get_device_capability
        addresses = Addresses()
        FakeTensor.data_ptr = lambda tensor: addresses.of(tensor)
        torch.nn.Module._apply = apply
        fake_tensor.init_gpu_context = lambda device: None
        torch.cuda.is_available = lambda: True
        torch.cuda.device_count = lambda: 1
        torch.cuda.current_device = lambda: 0
        torch.cuda.synchronize = lambda device=None: None
        torch.cuda.set_device = self.only_device
        torch.cuda._exchange_device = torch.cuda._maybe_exchange_device = lambda index: 0
        torch.cuda._lazy_init = torch.cuda.random._lazy_init = missing()(torch.cuda._lazy_init)
        for name in dir(torch._C):
            function = getattr(torch._C, name)
            if name.startswith("_cuda_") and callable(function) and not isinstance(function, type):
                setattr(torch._C, name, missing()(function))

    def watch_questions(self) -> None:
        """Notes a module that looks for a device by other means than torch and Triton."""

        def hear(event: str, arguments: object) -> None:
            if event in ("subprocess.Popen", "os.system", "ctypes.dlopen") and QUESTION.search(str(arguments)):
                self.doubts.asked = True

        sys.addaudithook(hear)

    def use_extensions(self) -> None:
        """Builds extensions for the absent device. A call of one of their functions ends the dry run."""
        self.extensions.install(
            self.architecture, lambda module, _: module_extension.stand_in(module, self.doubts.no_values)
        )


def warm() -> None:
    """Imports what a first fake tensor imports. It must not look for a device: a driver does not survive a fork."""
    look = getattr(torch._C, "_ensureCUDADeviceGuardSet", None)
    torch._C._ensureCUDADeviceGuardSet = lambda: None
    try:
        with Fake(Doubts()):
            torch.nn.Linear(4, 4)(torch.rand(2, 4)).relu().softmax(-1).double().sum()
    finally:
        torch._C._ensureCUDADeviceGuardSet = look


def answer_to(artifact: bytes, device: dict[str, Any]) -> bytes:
    """The answer of a dry run, as the host reads it."""
    before = set(module_cache.compiled())
    content = json.loads(artifact)
    if "cpp_extension" in content:  # the host asks whether an extension can be built here
        content = known_extension(content["cpp_extension"])
    words, work = DryRun(device).run(content)
    new = {path: data for path, data in module_cache.compiled().items() if path not in before}
    lines = b"\x1e" if words.startswith(("build ", "link ")) else b" "
    first = words.encode("ascii", "replace").replace(b"\n", lines)
    return b"\n".join((first, work.encode(), json.dumps(module_cache.packed(new)).encode()))


def main() -> int:
    return answer_host("dry-run", answer_to)


if __name__ == "__main__":
    sys.exit(main())
