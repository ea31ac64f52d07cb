"""Triton's compiler where there is no device: for the kind of device that there will be.

What it compiles lies in Triton's cache, and extensions of torch's in a folder beside it, both this process' own, as
`compiled()` and `keep()` read and write them.
It reaches for what Triton keeps to itself; where a version has that otherwise, nothing is compiled ahead.
"""

import base64
import contextlib
import ctypes
import importlib
import math
import os
import re
import sys
import time

import torch

import module_extension

SECONDS_MAX = 10  # then what is compiled has to do
BYTES_MAX = 16 << 20
NOT_STARTED = 3  # CUDA_ERROR_NOT_INITIALIZED
CACHE = os.path.join(".triton", "cache")
FOLDERS = (CACHE, module_extension.KEPT)
KERNEL = """
import triton
import triton.language as tl


@triton.jit
def warm(x, y, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < count).to(tl.float32)
    tl.store(y + at, tl.exp(value - tl.max(value, axis=0)) + tl.sum(value, axis=0), mask=at < count)
"""


class Enough(BaseException):
    """It takes too long, or nothing can be known from here on."""


def no_values():
    """In the place of a function of an extension, whose arguments hold nothing here."""
    Missed.asked = True
    raise Enough


def target_of(architecture):
    """'sm_90a', 'gfx942' in Triton's words."""
    from triton.backends.compiler import GPUTarget

    if architecture.startswith("sm_"):
        return GPUTarget("cuda", int(re.sub(r"\D", "", architecture)), 32)
    return GPUTarget("hip", architecture, 64 if architecture.startswith("gfx9") else 32)


class Missed:
    """What has been asked of the device that is not there. Whoever is told so may do otherwise beside one."""

    asked = False
    caught = False  # an exception, by the submission: perhaps one that comes here alone


class Properties(dict):
    """Those that are known here. There are more, and who asks for them, or for all, has missed something."""

    def __missing__(self, name):
        Missed.asked = True
        raise KeyError(name)

    def __contains__(self, name):
        Missed.asked |= not super().__contains__(name)
        return super().__contains__(name)

    def get(self, name, default=None):
        return self[name] if name in self else default  # noqa: SIM401

    def __iter__(self):
        Missed.asked = True
        return super().__iter__()

    def keys(self):
        Missed.asked = True
        return super().keys()

    def values(self):
        Missed.asked = True
        return super().values()

    def items(self):
        Missed.asked = True
        return super().items()


class Absent:
    def __getattr__(self, name):
        Missed.asked = True
        raise AttributeError(name)


class Utils(Absent):
    def __init__(self, properties):
        self.properties = properties

    def get_device_properties(self, device):
        return self.properties


class Driver(Absent):
    """Of a device that is not there: it says what is compiled for, and starts nothing."""

    def __init__(self, target, properties):
        self.target = target
        self.utils = Utils(properties)

    def get_current_target(self):
        return self.target

    def get_current_device(self):
        return 0

    def get_current_stream(self, device=None):
        return 0

    def get_active_torch_device(self):
        return torch.device("cuda", 0)

    def get_device_interface(self):
        return torch.cuda


def launcher(kernel, target):
    """Some versions compile what starts a kernel, too: with the C compiler."""
    asked = Missed.asked
    with contextlib.suppress(Exception):
        vendor, name = {"cuda": ("nvidia", "CudaLauncher"), "hip": ("amd", "HIPLauncher")}[target.backend]
        getattr(importlib.import_module(f"triton.backends.{vendor}.driver"), name)(kernel.src, kernel.metadata)
    Missed.asked = asked  # what it asks for was our doing


@contextlib.contextmanager
def compiling_for(target, properties=None):
    """Kernels that are started are compiled, and not started. `properties`: the device's, by Triton's names."""
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.driver import driver
    from triton.runtime.jit import JITFunction

    begun = time.monotonic()
    run, bench = JITFunction.run, Autotuner._bench
    seen = set()

    def compile_alone(kernel, *args, **kwargs):
        if time.monotonic() - begun - module_extension.SPENT["seconds"] > SECONDS_MAX:
            Missed.asked = True
            raise Enough
        kwargs["warmup"] = True
        made = run(kernel, *args, **kwargs)
        if made is not None and id(made) not in seen:
            seen.add(id(made))
            launcher(made, target)
        return made

    def compile_each(tuner, *args, config, **meta):
        try:
            tuner.fn.run(*args, **{**meta, **config.all_kwargs()})
        except Exception:  # one that does not fit is not chosen
            return [math.inf] * 3
        return [1.0] * 3

    driver.set_active(Driver(target, Properties(properties or {})))
    JITFunction.run, Autotuner._bench = compile_alone, compile_each
    try:
        yield
    finally:
        JITFunction.run, Autotuner._bench = run, bench
        driver._active = None  # who has a device finds it anew


def warm_compiler(architecture, run_source):
    """What a first compilation sets up once, and what its driver is made of: files to be kept for all."""
    with contextlib.suppress(Exception), compiling_for(target_of(architecture)):
        module = run_source("warm.py", KERNEL, "hone_warm")
        for dtype in (torch.float32, torch.float16):
            module.warm.warmup(dtype, dtype, 1000, BLOCK=256, grid=(1,))
    sys.modules.pop("hone_warm", None)
    for library in [path for path in compiled() if "warm" in path]:
        os.remove(library)
    if architecture.startswith("sm_"):
        with contextlib.suppress(Exception):
            importlib.import_module("triton.backends.nvidia.driver").CudaUtils()  # a library; touches no device


def driver_is_started():
    """A driver's calls say so, before anything else is asked; it does not survive the copying."""
    with contextlib.suppress(OSError, AttributeError):
        return ctypes.CDLL("libcuda.so.1").cuDeviceGetCount(ctypes.byref(ctypes.c_int())) != NOT_STARTED
    return False


def compiled():
    """What lies in these folders: {path: bytes}."""
    files, total = {}, 0
    for folder, _, names in (part for top in FOLDERS for part in os.walk(top)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            with contextlib.suppress(OSError), open(path, "rb") as file:
                content = file.read(BYTES_MAX + 1)
                total += len(content)
                if total > BYTES_MAX:
                    return files
                files[path] = content
    return files


def keep(files):
    for path, content in files.items():
        at = os.path.normpath(path)
        if not at.startswith(FOLDERS):
            continue
        os.makedirs(os.path.dirname(at), exist_ok=True)
        with open(at, "wb") as file:
            file.write(content)


def packed(files):
    return {path: base64.b64encode(content).decode() for path, content in files.items()}


def unpacked(files):
    return {path: base64.b64decode(content) for path, content in files.items()}
