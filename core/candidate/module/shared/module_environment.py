"""The environment of a module's process: where modules compute, and what torch and Triton read when they are imported.

Import this module before torch. The first argument of each program names the place:

    processor   no device; torch.compile and Triton's compiler are off
    device      a GPU
    emulated    for tests: a device whose memory this process can read itself
    recorder    no device: hone's recording driver stands in for the device's (recording_driver.py)
"""

from __future__ import annotations

import fcntl
import os
import sys

PLACE_NAME = sys.argv[1] if len(sys.argv) > 1 else ""
ON_DEVICE = PLACE_NAME != "processor"
COMPILES = PLACE_NAME in ("device", "recorder")  # Triton has no compiler for the others


def recording_libraries() -> str:
    """The folder of the recording driver: next to hone's library, which is each program's second argument."""
    return os.path.join(os.path.dirname(sys.argv[2]), "record")


def set_environment() -> None:
    """Sets the variables that torch, Triton and a driver read. A fork of the zygote calls it again."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    # Triton, torch and the module write to the working folder, which belongs to this process alone.
    for name in ("HOME", "TRITON_HOME", "TORCH_EXTENSIONS_DIR", "XDG_CACHE_HOME"):
        os.environ[name] = os.getcwd()
    os.environ["USER"] = "hone"
    if ON_DEVICE:
        # Load only the kernels of torch that a module uses. Loading all of them takes two seconds.
        os.environ["CUDA_MODULE_LOADING"] = "LAZY"
        # Hardware queues that streams share. With the default of 8, a context takes 140 ms to create and 65 ms to
        # destroy; with 2 it takes 85 and 40 (H200, four at a time). Two streams still run concurrently.
        os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "2"
        # With one queue for copies, a context takes 73 ms to create and 34 ms to destroy.
        os.environ["CUDA_DEVICE_MAX_COPY_CONNECTIONS"] = "1"
    else:
        os.environ["TORCH_COMPILE_DISABLE"] = "1"  # for callers of torch._dynamo itself
    if not COMPILES:
        os.environ["TRITON_INTERPRET"] = "1"
    if PLACE_NAME == "recorder":
        os.environ["PYTORCH_NO_CUDA_MEMORY_CACHING"] = "1"  # so that each tensor is one allocation
        os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
        # Triton compiles a small library that is linked with the driver's.
        os.environ["TRITON_LIBCUDA_PATH"] = recording_libraries()


def no_lock(file: object, operation: int) -> None:
    """Stands in for fcntl.flock: torch's compilers lock their files, and the sandbox has no locks."""


set_environment()
fcntl.flock = no_lock  # no other process uses this process' folder
