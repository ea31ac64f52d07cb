"""A module's first run, in a jail without a device, on tensors that hold nothing.

    python -I -B rehearse_module.py PLACE hone-candidate.so DEVICE FOLDER…   (which it may read)

DEVICE: what there will be, as JSON: "architecture" ("sm_90a") and, where they are known, "name", "memory_bytes",
"cache_bytes", "multiprocessors", "block_threads" and "shared_bytes".

Theory of operation. The module is loaded, constructed and called as in a candidate's process (module_artifact.py), with
fake tensors for the task's. Triton's kernels are compiled, for the device that is not there, and what lies in its cache
then travels with the artifact: the process that has the device finds it compiled. What fails here for being here says
nothing and is left to the device; a library that is missing and a kernel that does not compile fail there, too, and
are said at once. Extensions of torch's are built (module_extension.py) and not called. The answer is a line, empty or
"load WORDS", "run WORDS", "build KIND WORDS" of a compiler, or "hindered KIND WORDS", KIND being "host", or "device"
with kernels; another with what was started, as module_work.py counts it, empty where the call did not come to its end
as it would beside a device; and the files as JSON.
Nothing of it is believed: it is the submission's own, for its own process, or speaks against what that says of itself.
"""

import ast
import contextlib
import ctypes
import json
import os
import re
import sys
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # -I leaves it out
import run_module  # first: it sets what torch reads

# isort: split
import torch
from torch._subclasses import fake_tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

import module_ahead
import module_extension
from known_extension import known_extension
from module_artifact import Artifact
from module_place import PLACE as HERE
from module_work import WATCH

sys.path.pop(0)

QUESTION = re.compile(r"(nvidia|rocm|amd)-smi|deviceQuery|lspci|lib(cuda|nvidia-ml|amdhip64)\.so")
WORK_BYTES_MAX = 3071  # as much as the other witness may say (kObservedMax)
SAID = {"answer": b""}
# What they call a device's properties, and what these are called in DEVICE.
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
    avoid_device_init = True  # whatever the module is told: there is none

    def __torch_dispatch__(self, *args, **kwargs):
        with missing():
            return super().__torch_dispatch__(*args, **kwargs)


@contextlib.contextmanager
def missing():
    """Remembers that something failed, perhaps for want of a device or of values."""
    try:
        yield
    except Exception:
        module_ahead.Missed.asked = True
        raise


class FakeArena:
    """Tensors of the task that hold nothing."""

    def view(self, at, dtype, shape):
        return torch.empty(shape, dtype=dtype, device=HERE.device)


class Addresses:
    """What tensors say of where they lie, which kernels are specialised for."""

    def __init__(self):
        self.known = {}

    def of(self, tensor):
        storage = tensor.untyped_storage()
        if storage._cdata not in self.known:
            self.known[storage._cdata] = (1 + len(self.known)) << 40
        return self.known[storage._cdata] + tensor.storage_offset() * tensor.element_size()


def apply(module, change, recurse=True):
    """nn.Module._apply, which does not do with fake tensors."""
    for child in module.children() if recurse else ():
        apply(child, change)
    for name, parameter in module._parameters.items():
        if parameter is not None:
            module._parameters[name] = torch.nn.Parameter(change(parameter), parameter.requires_grad)
    for name, buffer in module._buffers.items():
        if buffer is not None:
            module._buffers[name] = change(buffer)
    return module


class DeviceProperties(module_ahead.Absent):
    """Those of a torch.cuda device that are known here."""

    def __init__(self, known):
        own = getattr(torch._C, "_CudaDeviceProperties", None)
        self.__dict__.update({name: value for name, value in known.items() if own is None or hasattr(own, name)})

    @property
    def __class__(self):
        return getattr(torch._C, "_CudaDeviceProperties", DeviceProperties)


def properties_of(device):
    """By torch's names, None where they are not known; and by Triton's."""
    if not device["architecture"].startswith("sm_"):  # other vendors mean something else by them
        return None, {}
    triton = {ours: device[name] for ours, name in FOR_TRITON.items() if name in device}
    known = {ours: device[name] for ours, name in FOR_TORCH.items() if name in device}
    if not known:
        return None, triton
    major, minor = capability_of(device["architecture"])
    return DeviceProperties({**known, "major": major, "minor": minor, "warp_size": 32}), {**triton, "warpSize": 32}


def capability_of(architecture):
    return divmod(int(re.sub(r"\D", "", architecture)), 10)


def only_device(device=None):
    """As torch reads the argument of its questions: raises for another than the first."""
    with missing():
        if isinstance(device, torch.cuda.device):
            device = device.idx
        if not isinstance(device, int):
            device = torch.device("cuda" if device is None else device)
            if device.type != "cuda":
                raise ValueError(f"Expected a cuda device, but got: {device}")
            device = device.index or 0
        if device != 0:
            raise AssertionError("Invalid device id")


def say_there_is_a_device(architecture, properties):
    """torch does, from now on. Nobody puts it back: this process ends here."""

    def get_device_properties(device=None):
        only_device(device)
        return properties

    def get_device_capability(device=None):
        only_device(device)
        return capability_of(architecture)

    if properties is not None:
        torch.cuda.get_device_properties = get_device_properties
    if architecture.startswith("sm_"):
        torch.cuda.get_device_capability = get_device_capability
    addresses = Addresses()
    FakeTensor.data_ptr = lambda tensor: addresses.of(tensor)
    torch.nn.Module._apply = apply
    fake_tensor.init_gpu_context = lambda device: None
    torch.cuda.is_available = lambda: True
    torch.cuda.device_count = lambda: 1
    torch.cuda.current_device = lambda: 0
    torch.cuda.synchronize = lambda device=None: None
    torch.cuda.set_device = only_device
    torch.cuda._exchange_device = torch.cuda._maybe_exchange_device = lambda index: 0
    torch.cuda._lazy_init = torch.cuda.random._lazy_init = missing()(torch.cuda._lazy_init)
    for name in dir(torch._C):
        function = getattr(torch._C, name)
        if name.startswith("_cuda_") and callable(function) and not isinstance(function, type):
            setattr(torch._C, name, missing()(function))


def warm():
    """What a first fake tensor imports. It would look for a device, whose driver does not survive the copying."""
    look = getattr(torch._C, "_ensureCUDADeviceGuardSet", None)
    torch._C._ensureCUDADeviceGuardSet = lambda: None
    try:
        with Fake(allow_non_fake_inputs=True):
            torch.nn.Linear(4, 4)(torch.rand(2, 4)).relu().softmax(-1).double().sum()
    finally:
        torch._C._ensureCUDADeviceGuardSet = look


def watch_questions():
    """Whoever asks for a device by other means than torch and Triton is told that there is none, too."""

    def hear(event, arguments):
        if event in ("subprocess.Popen", "os.system", "ctypes.dlopen") and QUESTION.search(str(arguments)):
            module_ahead.Missed.asked = True

    sys.addaudithook(hear)


def use_extensions(architecture):
    """Built for the device that there will be; a function of theirs ends the rehearsal."""

    def wrap(module, has_kernels):
        return module_extension.stand_in(module, lambda *_, **__: module_ahead.no_values())

    module_extension.install(architecture, wrap)


def is_of_the_source(error):
    """Whether it says what is wrong with the submission's text: no device would change that."""
    if module_extension.refused(error) is not None:
        return True
    if isinstance(error, ModuleNotFoundError):  # not one that some library imports
        frames = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
        return error.name is not None and frames[-1:] == ["submission.py"]
    with contextlib.suppress(ImportError):
        from triton.compiler.errors import CompilationError

        return isinstance(error, CompilationError)
    return False


def certain(error):
    """Whether it fails likewise beside a device. Not where something else failed before, which the submission has
    caught: it might have gone well there, and this way not have been taken."""
    if module_ahead.Missed.asked or not is_of_the_source(error):
        return False
    while (error := error.__context__) is not None:
        frames = traceback.extract_tb(error.__traceback__)  # from who caught it on
        caught = bool(frames) and frames[0].filename == "submission.py"
        if isinstance(error, (OSError, MemoryError)) or (caught and not is_of_the_source(error)):
            return False
    return True


def noting_handlers(source, name):
    """The code of a module whose handlers of exceptions say that they were used."""
    tree = ast.parse(source, name)
    for handler in [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]:
        note = ast.parse("__import__('module_ahead').Missed.caught = True").body[0]
        for node in ast.walk(note):
            ast.copy_location(node, handler)
        handler.body.insert(0, note)
    return compile(tree, name, "exec")


def goes_as_beside_a_device():
    """As far as is known. Of operators that are not torch's, fake tensors run no more than a description."""
    return not (module_ahead.Missed.asked or module_ahead.Missed.caught or WATCH.foreign)


def rehearse(content, device):
    """What is certain to fail, or what hindered it, or ""; and what was started, or "" where that is not known."""
    import module_artifact

    stage = "load"
    architecture = device["architecture"]
    try:
        properties, of_triton = properties_of(device)
        if run_module.PLACE == "device" and (torch.version.cuda or torch.version.hip):
            HERE.device = torch.device("cuda", 0)
        module_artifact.ARENA = FakeArena()
        module_artifact.code_of = noting_handlers
        with contextlib.ExitStack() as stack:
            if run_module.PLACE == "device":
                target = module_ahead.target_of(architecture)
                stack.enter_context(module_ahead.compiling_for(target, of_triton))
            say_there_is_a_device(architecture, properties)
            watch_questions()
            if module_extension.is_used(content["source"]):
                use_extensions(architecture)
            artifact = Artifact(content)
            stack.enter_context(Fake(allow_non_fake_inputs=True))
            stack.enter_context(torch.no_grad())
            entry = artifact.entry("ModelNew")
            stage = "run"
            values = [0] * (len(artifact.tensors) + 1)
            entry(values)
            WATCH.ask(timed=False)  # beside the device it is no first call either
            entry(values)
            if goes_as_beside_a_device():
                return "", WATCH.words(WORK_BYTES_MAX)
    except module_ahead.Enough:
        pass
    except BaseException as error:
        kind = module_extension.kind()
        hindered = module_extension.hindered(error)
        if hindered is not None:
            return f"hindered {kind} {hindered}", ""
        refused = module_extension.refused(error)
        if certain(error):
            if refused is None:
                return f"{stage} {run_module.words_of(error)}", ""
            return f"{'link' if refused.of_linker else 'build'} {kind} {refused.words}", ""
    return "", ""


def answer(address, size, found, length):
    before = set(module_ahead.compiled())
    content = json.loads(ctypes.string_at(address, size))
    if "cpp_extension" in content:  # the host asks whether any is built here
        content = known_extension(content["cpp_extension"])
    words, work = rehearse(content, json.loads(sys.argv[3]))
    new = {path: data for path, data in module_ahead.compiled().items() if path not in before}
    lines = b"\x1e" if words.startswith(("build ", "link ")) else b" "
    words = words.encode("ascii", "replace").replace(b"\n", lines)
    SAID["answer"] = b"\n".join((words, work.encode(), json.dumps(module_ahead.packed(new)).encode()))
    found[0] = ctypes.cast(SAID["answer"], ctypes.c_void_p).value
    length[0] = len(SAID["answer"])


ANSWER = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
    ctypes.c_uint64,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_uint64),
)


def main():
    _, candidate, _, *folders = sys.argv[1:]
    words = [word.encode() for word in ("rehearsal", *folders)]
    arguments = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    function = ANSWER(answer)
    return ctypes.CDLL(candidate).hone_rehearsal_main(len(words), arguments, function)


if __name__ == "__main__":
    sys.exit(main())
