"""Imports torch and Triton once, and runs a launcher whose processes are copies of this one: run_module.py's, ready in
milliseconds.

    python -I -B warm_modules.py PLACE hone-launcher.so ARCHITECTURE     the host's socket is descriptor 3

Theory of operation. hone_launcher_main is hone-launcher itself. Where that starts a program, this one's copy goes on in
begin(), in the same jail: with a user, a group and namespaces of its own and no descriptor but the given ones. Nothing
foreign is ever near this process, and it never touches a device, whose driver would not survive the copying.
"""

import contextlib
import ctypes
import gc
import importlib
import os
import random
import signal
import sys
import tempfile
import traceback

if __name__ == "__main__":
    # What imports print is nobody's; an interpreter that lacks them says so when it is started alone.
    quiet = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(quiet, standard)
    os.close(quiet)
    os.environ["PATH"] = "/usr/local/bin:/usr/bin:/bin"
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # -I leaves it out
import run_module  # first: it sets what torch reads

# isort: split
import module_ahead
import module_artifact
import module_extension
import rehearse_module

sys.path.pop(0)

# What a first compilation imports besides; an interpreter without them compiles nothing.
COMPILERS = (
    "triton.compiler.code_generator",
    "triton.runtime.interpreter",
    "triton.language.extra.libdevice",
    "triton.experimental.gluon",
    "torch.utils._triton",
)

STARTED = {"run_module.py": run_module.main, "rehearse_module.py": rehearse_module.main}
SEED = {}  # of Triton's cache, in each copy
IMAGE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ctypes.c_char_p))


def draw_anew():
    """Copies would draw the same numbers, and a reference's inputs could be foretold."""
    random.seed()
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()
    run_module.torch.seed()


def begin(count, arguments, variables):
    """A copy's main(), with the words of `python -I run_module.py …`."""
    status = 1
    try:
        words = [os.fsdecode(arguments[i]) for i in range(1, count)]
        while words[0].startswith("-"):
            words.pop(0)
        sys.argv = words
        os.environ.clear()
        i = 0
        while variables[i]:
            name, _, value = os.fsdecode(variables[i]).partition("=")
            os.environ[name] = value
            i += 1
        for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # as an interpreter has them
            signal.signal(ignored, signal.SIG_IGN)
        draw_anew()
        run_module.set_environment()
        tempfile.tempdir = None  # what the imports found is not this process' folder
        module_ahead.keep(SEED)
        status = STARTED[os.path.basename(words[0])]()
    except BaseException:
        traceback.print_exc()
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    return status


def compile_once(architecture):
    """What all copies then have: a compiler that has compiled, and the library of its driver."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["TRITON_HOME"] = folder
        module_ahead.warm_compiler(architecture, module_artifact.run_source)
        SEED.update(module_ahead.compiled())
        os.chdir(here)


def main():
    run_module.warm()
    for name in COMPILERS:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    with contextlib.suppress(Exception):
        module_extension.imported()
    if run_module.PLACE == "device":
        compile_once(sys.argv[3])
        rehearse_module.warm()
    if module_ahead.driver_is_started():
        sys.exit("what is imported starts the device's driver")  # so interpreters are started one by one
    gc.collect()
    gc.freeze()  # what collections leave alone stays shared
    launch = ctypes.CDLL(sys.argv[2]).hone_launcher_main
    os._exit(launch(IMAGE(begin)))


if __name__ == "__main__":
    main()
