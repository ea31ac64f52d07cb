"""Runs PyTorch modules in a candidate's process: hone-candidate's loop, with Python in the place of a loaded library.

    python -I run_module.py PLACE hone-candidate.so BACKEND.so DEVICE CORE,JUDGE FOLDER…   (which it may read)

PLACE: "processor", "device", or, in tests, "emulated": a device whose memory this process can read itself.
CORE,JUDGE: the core that is timed on, and the judge's.

Theory of operation. The interpreter imports torch and Triton while nothing foreign is near (or is a copy of one that
has, warm_modules.py), and hands the backend its functions: load, get_kernel, launch, and those that observe a call
and open the device. The rest is hone_candidate_main, as for native code: it maps the arena, seals the process, and
calls these when the judge orders a round. Modules themselves: module_artifact.py.
"""

import ctypes
import fcntl
import gc
import json
import os
import sys

PLACE = sys.argv[1] if len(sys.argv) > 1 else ""
ON_DEVICE = PLACE != "processor"


def set_environment():
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    # What Triton, torch and the module itself write lies in the working folder, which is this process' own.
    for name in ("HOME", "TRITON_HOME", "TORCH_EXTENSIONS_DIR", "XDG_CACHE_HOME"):
        os.environ[name] = os.getcwd()
    os.environ["USER"] = "hone"
    if ON_DEVICE:
        # Of torch's thousands of kernels those that a module uses; all of them take two seconds.
        os.environ["CUDA_MODULE_LOADING"] = "LAZY"
        # Hardware queues that streams share: with eight, the default, a context takes 140 ms to make and 65 to end,
        # with two 85 and 40 (H200, four at a time). Two streams run beside each other still.
        os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "2"
        # Of those for copies one, and a context is made in 73 and ends in 34.
        os.environ["CUDA_DEVICE_MAX_COPY_CONNECTIONS"] = "1"
    else:
        os.environ["TORCH_COMPILE_DISABLE"] = "1"  # for callers of torch._dynamo itself
    if PLACE != "device":
        os.environ["TRITON_INTERPRET"] = "1"  # the processor has no compiler of Triton's


set_environment()  # before the imports, which read it
# Compilers of torch's lock their files, and the jail has no locks; nobody shares this process' folder.
fcntl.flock = lambda file, operation: None

import traceback  # noqa: E402
import warnings  # noqa: E402

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # -I leaves it out
try:
    import torch
except ImportError as error:
    sys.exit(f"found no torch in {sys.executable} ({error}): scripts/setup --python makes an environment that has it")

import module_ahead  # noqa: E402
import module_compile  # noqa: E402
import module_extension  # noqa: E402
import module_state  # noqa: E402
from module_artifact import Artifact, Mismatch, Refused  # noqa: E402
from module_phrases import lacks_memory  # noqa: E402
from module_place import ARENA  # noqa: E402
from module_place import PLACE as HERE  # noqa: E402
from module_precision import use_precision  # noqa: E402
from module_reference import Reference  # noqa: E402
from module_work import WATCH  # noqa: E402

sys.path.pop(0)
try:
    import triton
    import triton.language
except ImportError:  # modules of torch alone can be judged without
    triton = None

OK, INVALID_ARGUMENT, NOT_FOUND, FAILED_PRECONDITION, RESOURCE_EXHAUSTED = 0, 1, 2, 3, 4  # hone_code
HINDERED_HOST, HINDERED_DEVICE, WARNS = 1, 2, 4  # hone_python_flags
MISMATCH = NOT_FOUND  # of launch: an output of another form than the task's
# "state", "cores": of a process that may serve others, before it has loaded anything.
# "flags": of the last call of the backend's.
LOADED = {"artifact": None, "kernels": [], "state": None, "cores": None, "flags": 0}


def run_as_it_is(model=None, **_):
    """Stands in for torch.compile on the processor, where there are no compilers and nothing is timed."""
    return model if model is not None else lambda model: model


def cause_of(error):
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def flags_of(error):
    if not isinstance(cause_of(error), module_compile.Hindered):
        return 0
    return HINDERED_DEVICE if module_extension.kind() == "device" else HINDERED_HOST


def words_of(error):
    """The innermost line of the module that raised, and what was said: one line, of a long one its beginning and its
    end."""
    error = cause_of(error)
    try:
        lines = str(error).strip().split("\n")
        text = " ".join(" ".join(lines).split()) or "no message"
        if type(error).__name__ == "CompilationError":  # Triton's: the place, the source, and at last what is wrong
            text = lines[0] + " " + lines[-1]
    except Exception:
        text = "no message that can be read"
    name = type(error).__name__
    if isinstance(error, module_compile.Hindered):
        name = f"{name} ({module_extension.kind()})"
    place = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename in ("submission.py", "baseline.py", "reference.py"):
            place = f" ({frame.filename}:{frame.lineno})"
    room = 240 - len(place)
    said = f"{name}: {text}"
    if len(said) > room:
        said = said[: room * 2 // 3] + " ... " + said[5 - room + room * 2 // 3 :]
    return said + place


def guarded(body):
    """The backend's way of hearing what came of it: a code, and words in its buffer, which body() may return."""

    def call(*arguments):
        *arguments, message, size = arguments
        LOADED["flags"] = 0
        try:
            code, words = OK, body(*arguments)
            if not words:
                return OK
        except Refused as error:
            code, words = INVALID_ARGUMENT, str(error)
        except Mismatch as error:
            code, words = MISMATCH, str(error)
        except MemoryError as error:
            code, words = RESOURCE_EXHAUSTED, f"MemoryError: {error}"
        except BaseException as error:
            words = words_of(error)
            LOADED["flags"] = flags_of(error)
            code = RESOURCE_EXHAUSTED if lacks_memory(words) else FAILED_PRECONDITION
        data = words.encode("utf-8", "replace")[: size - 1] + b"\0"
        ctypes.memmove(message, data, len(data))
        return code

    return call


def open_device(index):
    """What a first use of the device takes, while nothing foreign is here."""
    if PLACE == "device":
        HERE.use_device(index)
        with torch.no_grad():
            HERE.warm()
    LOADED["state"] = module_state.State()


def pin(core, judge):
    """What is timed has this core, and finds its caches as it left them: the reference runs on others, and not on the
    judge's, which waits for it busily, if there are more."""
    known = LOADED["cores"] = os.sched_getaffinity(0)
    others = known - {core, judge} or known - {core}
    is_reference = LOADED["artifact"].name == "reference.py"
    os.sched_setaffinity(0, others if is_reference and others else {core})


def note_extension(module, has_kernels):
    if has_kernels:
        WATCH.extensions.add(getattr(module, "__name__", ""))
    return module


def forget():
    """What was loaded before. An error where it has changed anything for others."""
    sys.modules.pop(LOADED["artifact"].name.removesuffix(".py"), None)
    LOADED["artifact"] = None
    LOADED["kernels"].clear()
    ARENA.forget()
    gc.collect()
    HERE.give_back(0)
    use_precision(None)
    if LOADED["cores"] is not None:
        os.sched_setaffinity(0, LOADED["cores"])  # what loading compiles is not to stay on the core
    if changed := LOADED["state"].difference():
        raise RuntimeError(f"after the last task {changed}")


def load(address, size):
    if LOADED["artifact"] is None:
        gc.freeze()  # collections look at what modules make, not at all of torch, under the clock
    else:
        forget()
    artifact, _, compiled = ctypes.string_at(address, size).partition(b"\n")
    if compiled and ON_DEVICE:  # by the rehearsal
        module_ahead.keep(module_ahead.unpacked(json.loads(compiled)))
    content = json.loads(artifact)
    if module_extension.is_used(content["source"]):
        module_extension.install(wrap=note_extension) if ON_DEVICE else module_extension.refuse()
    if ON_DEVICE:
        use_precision(json.loads(content["support"]["module.json"]).get("precision"))
    LOADED["artifact"] = (Reference if content["name"] == "reference.py" else Artifact)(content)
    if ON_DEVICE:
        # Only now: the driver's threads and what loading compiles stay off the core.
        pin(*map(int, sys.argv[5].split(",")))


def get_kernel(entry, number):
    kernels = LOADED["kernels"]
    kernels.append(LOADED["artifact"].entry(entry.decode()))
    ctypes.c_int32.from_address(number).value = len(kernels) - 1
    LOADED["flags"] = WARNS if LOADED["artifact"].note_warns else 0
    return LOADED["artifact"].note


def launch(number, base, size, values, amount):
    ARENA.use(base, size)
    with torch.no_grad():
        LOADED["kernels"][number](list((ctypes.c_uint64 * amount).from_address(values)))
    # Only now is the answer itself free; nobody times the reference.
    if LOADED["artifact"].name == "reference.py":
        LOADED["artifact"].give_back()


def observe(begins, words, size):
    report = getattr(LOADED["artifact"], "report", None)  # a reference has one, and is not watched
    if begins:
        if report is None:
            WATCH.ask()
    else:
        data = (WATCH.words(size - 1) if report is None else report).encode()[: size - 1] + b"\0"
        ctypes.memmove(words, data, len(data))


def trim():
    HERE.give_back(0)


POINTER, U64, I32 = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int32
LOAD = ctypes.CFUNCTYPE(I32, POINTER, U64, POINTER, U64)
GET_KERNEL = ctypes.CFUNCTYPE(I32, ctypes.c_char_p, POINTER, POINTER, U64)
LAUNCH = ctypes.CFUNCTYPE(I32, I32, POINTER, U64, POINTER, U64, POINTER, U64)
OBSERVE = ctypes.CFUNCTYPE(None, I32, POINTER, U64)
OPEN = ctypes.CFUNCTYPE(I32, ctypes.c_uint32, POINTER, U64)
TRIM = ctypes.CFUNCTYPE(None)
FLAGS = ctypes.CFUNCTYPE(ctypes.c_uint32)


class Functions(ctypes.Structure):
    """hone_python of hone/backend.h."""

    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("on_device", ctypes.c_uint32),
        ("load", LOAD),
        ("get_kernel", GET_KERNEL),
        ("launch", LAUNCH),
        ("observe", OBSERVE),
        ("open", OPEN),
        ("trim", TRIM),
        ("flags", FLAGS),
    ]


def warm():
    """What the first use of torch does, before the process is sealed; watched, for that imports, too."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    if PLACE == "processor":
        torch.compile = run_as_it_is
    WATCH.ask()
    with torch.no_grad():
        WATCH.call(lambda: torch.nn.Linear(4, 4)(torch.rand(2, 4)).softmax(-1).double().sum())
    WATCH.words(1000)


def main():
    _, candidate, backend, device, _, *folders = sys.argv[1:]
    warm()
    functions = Functions(
        ctypes.sizeof(Functions),
        int(ON_DEVICE),
        LOAD(guarded(load)),
        GET_KERNEL(guarded(get_kernel)),
        LAUNCH(guarded(launch)),
        OBSERVE(observe),
        OPEN(guarded(open_device)),
        TRIM(trim),
        FLAGS(lambda: LOADED["flags"]),
    )
    words = [word.encode() for word in ("hone-candidate", backend, device, *folders)]
    arguments = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    return ctypes.CDLL(candidate).hone_candidate_main(len(words), arguments, ctypes.byref(functions))


if __name__ == "__main__":
    sys.exit(main())
