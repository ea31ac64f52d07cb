"""A zygote: imports torch and Triton once, and runs a launcher whose processes are forks of this one.

    python -I -B zygote.py PLACE hone-launcher.so ARCHITECTURE     the host's socket is descriptor 3

A fork runs run_module.py, dry_run_module.py or record_module.py, and is ready in milliseconds.

Theory of operation. hone_launcher_main is hone-launcher itself. Where hone-launcher starts a program, a fork of this
process continues in begin(), in the same sandbox: with its own user, group and namespaces, and only the given
descriptors. No untrusted code ever runs in this process. It never touches a device, because a driver does not survive a
fork.
"""

from __future__ import annotations

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
from typing import Any

if __name__ == "__main__":
    # Imports may print, to no reader. A missing import is reported when the interpreter starts without a zygote.
    quiet = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(quiet, standard)
    os.close(quiet)
    os.environ["PATH"] = "/usr/local/bin:/usr/bin:/bin"
    gc.disable()  # until the imports are done, because collections take 8 % of their time and free little
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "device"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "builder"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # python -I leaves out all three
import module_environment  # first: it sets what torch reads

# isort: split
if module_environment.PLACE_NAME == "recorder":
    import record_module  # before torch: its driver takes the place of the device's

# isort: split
import torch

import dry_run_module
import module_absent_device
import module_artifact
import module_cache
import module_extension
import replay_module
import run_module

del sys.path[:3]

# Further imports of a first compilation. An interpreter without them compiles nothing.
COMPILERS = (
    "triton.compiler.code_generator",
    "triton.runtime.interpreter",
    "triton.language.extra.libdevice",
    "triton.experimental.gluon",
    "torch.utils._triton",
)

PROGRAMS = {
    "run_module.py": run_module.main,
    "replay_module.py": replay_module.main,
    "dry_run_module.py": dry_run_module.main,
}
if module_environment.PLACE_NAME == "recorder":
    PROGRAMS["record_module.py"] = record_module.main
WITHOUT_FILES = {"replay_module.py"}  # it compiles nothing, and its sandbox has no folder to write to
IMAGE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ctypes.c_char_p))


def draw_anew() -> None:
    """Seeds all generators. Otherwise forks draw the same numbers, and a submission knows a reference's inputs."""
    random.seed()
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()
    torch.seed()


def begin(cache: dict[str, bytes], count: int, arguments: Any, variables: Any) -> int:
    """The main function of a fork. `cache`: compiled files that it starts with; the rest as for main() in C."""
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
        for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # as Python does at its start
            signal.signal(ignored, signal.SIG_IGN)
        draw_anew()
        module_environment.set_environment()
        tempfile.tempdir = None  # the imports may have set it to a folder that is not this process'
        name = os.path.basename(words[0])
        if name not in WITHOUT_FILES:
            module_cache.keep(cache)
        status = PROGRAMS[name]()
    except BaseException:
        traceback.print_exc()
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    return status


def compile_once(architecture: str) -> dict[str, bytes]:
    """Compiles a first kernel. Returns the files that every fork then has, such as the library of Triton's driver."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["TRITON_HOME"] = folder
        module_absent_device.warm_compiler(architecture, module_artifact.run_source)
        files = module_cache.compiled()
        os.chdir(here)
    return files


def main() -> None:
    run_module.warm()
    for name in COMPILERS:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    with contextlib.suppress(Exception):
        module_extension.imported()
    cache: dict[str, bytes] = {}
    if module_environment.COMPILES:
        cache = compile_once(sys.argv[3])
    if module_environment.PLACE_NAME == "device":
        dry_run_module.warm()
    if module_environment.PLACE_NAME != "recorder" and module_absent_device.driver_is_started():
        sys.exit("an import starts the device's driver")  # so interpreters are started one by one
    image = IMAGE(lambda *arguments: begin(cache, *arguments))
    gc.enable()
    gc.collect()
    gc.freeze()  # collections leave these objects alone, so their memory stays shared
    launch = ctypes.CDLL(sys.argv[2]).hone_launcher_main
    os._exit(launch(image))


if __name__ == "__main__":
    main()
