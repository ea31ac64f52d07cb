"""Stand-ins for the device in a dry run: Triton compiles for a kind of device that is absent, and starts nothing.

This replaces private functions of Triton. If a version of Triton lacks one of them, nothing is compiled ahead.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import math
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import torch

from module_cache import compiled

SECONDS_MAX = 10  # of compiling kernels; later kernels are compiled in the process with the device
NOT_STARTED = 3  # CUDA_ERROR_NOT_INITIALIZED
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
    """Ends a dry run: it takes too long, or its further course cannot be known."""


class Doubts:
    """Reasons why the run with the device may take another course than the dry run.

    `asked`: the module asked the absent device for something.
    `caught`: it caught an exception, which may not occur with the device.
    """

    def __init__(self) -> None:
        self.asked = False
        self.caught = False

    def note_caught(self) -> None:
        self.caught = True

    def no_values(self, *_: object, **__: object) -> NoReturn:
        """Stands in for a function of an extension, whose arguments hold no values in a dry run."""
        self.asked = True
        raise Enough

    @contextlib.contextmanager
    def missing(self) -> Iterator[None]:
        """Notes an exception, which the absence of the device or of values may have caused."""
        try:
            yield
        except Exception:
            self.asked = True
            raise


def target_of(architecture: str) -> Any:
    """Triton's target for "sm_90a" or "gfx942"."""
    from triton.backends.compiler import GPUTarget

    if architecture.startswith("sm_"):
        return GPUTarget("cuda", int(re.sub(r"\D", "", architecture)), 32)
    return GPUTarget("hip", architecture, 64 if architecture.startswith("gfx9") else 32)


class Properties(dict[str, Any]):
    """The known properties of the device. A module that asks for another one, or for all, raises a doubt."""

    def __init__(self, known: dict[str, Any], doubts: Doubts) -> None:
        super().__init__(known)
        self._doubts = doubts

    def __missing__(self, name: str) -> NoReturn:
        self._doubts.asked = True
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        self._doubts.asked |= not super().__contains__(name)
        return super().__contains__(name)

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default  # noqa: SIM401

    def __iter__(self) -> Iterator[str]:
        self._doubts.asked = True
        return super().__iter__()

    def keys(self) -> Any:
        self._doubts.asked = True
        return super().keys()

    def values(self) -> Any:
        self._doubts.asked = True
        return super().values()

    def items(self) -> Any:
        self._doubts.asked = True
        return super().items()


class Absent:
    """An object of which only some attributes are known."""

    def __init__(self, doubts: Doubts) -> None:
        self.__dict__["_doubts"] = doubts

    def __getattr__(self, name: str) -> NoReturn:
        self.__dict__["_doubts"].asked = True
        raise AttributeError(name)


class Utils(Absent):
    def __init__(self, properties: Properties, doubts: Doubts) -> None:
        super().__init__(doubts)
        self.properties = properties

    def get_device_properties(self, device: object) -> Properties:
        return self.properties


class Driver(Absent):
    """Triton's driver of the absent device: it names the target and starts nothing."""

    def __init__(self, target: Any, properties: Properties, doubts: Doubts) -> None:
        super().__init__(doubts)
        self.target = target
        self.utils = Utils(properties, doubts)

    def get_current_target(self) -> Any:
        return self.target

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: object = None) -> int:
        return 0

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        return torch.cuda


def compile_launcher(kernel: Any, target: Any) -> None:
    """Compiles the function that starts a kernel, with the C compiler. Some versions of Triton need it."""
    with contextlib.suppress(Exception):
        vendor, name = {"cuda": ("nvidia", "CudaLauncher"), "hip": ("amd", "HIPLauncher")}[target.backend]
        getattr(importlib.import_module(f"triton.backends.{vendor}.driver"), name)(kernel.src, kernel.metadata)


@contextlib.contextmanager
def compiling_for(
    target: Any,
    properties: dict[str, Any],
    doubts: Doubts,
    other_seconds: Callable[[], float] = lambda: 0.0,
) -> Iterator[None]:
    """Makes a launch compile its kernel and not start it.

    `properties`: the device's, by Triton's names. `other_seconds()`: time that does not count for SECONDS_MAX.
    """
    from triton.runtime.autotuner import Autotuner
    from triton.runtime.driver import driver
    from triton.runtime.jit import JITFunction

    begun = time.monotonic()
    run, bench = JITFunction.run, Autotuner._bench
    seen = set()

    def compile_alone(kernel: Any, *args: Any, **kwargs: Any) -> Any:
        if time.monotonic() - begun - other_seconds() > SECONDS_MAX:
            doubts.asked = True
            raise Enough
        kwargs["warmup"] = True
        made = run(kernel, *args, **kwargs)
        if made is not None and id(made) not in seen:
            seen.add(id(made))
            asked = doubts.asked
            compile_launcher(made, target)
            doubts.asked = asked  # its questions are not the module's
        return made

    def compile_each(tuner: Any, *args: Any, config: Any, **meta: Any) -> list[float]:
        try:
            tuner.fn.run(*args, **{**meta, **config.all_kwargs()})
        except Exception:  # a configuration that does not fit is not chosen
            return [math.inf] * 3
        return [1.0] * 3

    driver.set_active(Driver(target, Properties(properties, doubts), doubts))
    JITFunction.run, Autotuner._bench = compile_alone, compile_each
    try:
        yield
    finally:
        JITFunction.run, Autotuner._bench = run, bench
        driver._active = None  # a process with a device looks for it again


def warm_compiler(architecture: str, run_source: Callable[[str, str, str], Any]) -> None:
    """Does a first compilation, and compiles the library of Triton's driver: files that every fork can use."""
    with contextlib.suppress(Exception), compiling_for(target_of(architecture), {}, Doubts()):
        module = run_source("warm.py", KERNEL, "hone_warm")
        for dtype in (torch.float32, torch.float16):
            module.warm.warmup(dtype, dtype, 1000, BLOCK=256, grid=(1,))
    sys.modules.pop("hone_warm", None)
    for library in [path for path in compiled() if "warm" in path]:
        os.remove(library)
    if architecture.startswith("sm_"):
        with contextlib.suppress(Exception):
            importlib.import_module("triton.backends.nvidia.driver").CudaUtils()  # a library; touches no device


def driver_is_started() -> bool:
    """Whether the CUDA driver is initialised in this process. It does not survive a fork."""
    with contextlib.suppress(OSError, AttributeError):
        return bool(ctypes.CDLL("libcuda.so.1").cuDeviceGetCount(ctypes.byref(ctypes.c_int())) != NOT_STARTED)
    return False
