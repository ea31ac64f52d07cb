"""Stands in for parts of torch.utils.cpp_extension in a submission's process.

Torch writes an extension's sources and computes the flags. In place of ninja, module_compile.py compiles them in the
dry run, and the process with the device finds the result in module_cache.EXTENSIONS.

This replaces private functions of torch. If a version of torch lacks one of them, torch's own way is left alone.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import os
import shutil
import time
import types
from collections.abc import Callable, Iterable
from typing import Any

import torch

import module_compile
from module_cache import EXTENSIONS
from module_compile import ARCHITECTURE, Plan, Refused
from module_toolkits import Cuda, Hindered, Hip, Toolkit, toolkit_for

Wrap = Callable[[Any, bool], Any]

NEEDED = (
    "_get_build_directory",
    "_import_module_from_library",
    "get_cxx_compiler",
)
REPLACED = ("_write_ninja_file", "_run_ninja_build", "verify_ninja_availability")
# For each vendor: the toolkit's home, the function that joins paths to it, and the one that returns architecture flags.
NAMES: dict[Toolkit, tuple[str, ...]] = {
    Cuda: ("CUDA_HOME", "_join_cuda_home", "_get_cuda_arch_flags"),
    Hip: ("ROCM_HOME", "_join_rocm_home", "_get_rocm_arch_flags", "IS_HIP_EXTENSION", "COMMON_HIP_FLAGS"),
}


def is_used(source: str) -> bool:
    return "cpp_extension" in source


def imported() -> Any:
    """torch.utils.cpp_extension. Its import looks for a device, and a started driver does not survive a fork."""
    available = torch.cuda.is_available
    torch.cuda.is_available = lambda: True
    try:
        return importlib.import_module("torch.utils.cpp_extension")
    finally:
        torch.cuda.is_available = available


def refuse() -> None:
    """Makes load and load_inline raise an error with the reason: on the processor there are no extensions."""

    def load(*args: object, **kwargs: object) -> None:
        raise RuntimeError(
            "load_inline needs compilers, which submissions have beside a device: this server judges on the processor"
        )

    extension = imported()
    extension.load = extension.load_inline = load


def fits(extension: Any, toolkit: Toolkit) -> bool:
    """Whether this version of torch has all that is replaced."""
    if not all(hasattr(extension, name) for name in (*NEEDED, *REPLACED, *NAMES[toolkit])):
        return False
    wanted = {"path", "sources", "cflags", "cuda_cflags", "ldflags", "library_target", "with_cuda"}
    return wanted <= set(inspect.signature(extension._write_ninja_file).parameters)


def folder_of(path: str | os.PathLike[str]) -> str:
    return os.path.abspath(os.fspath(path))


def plan_of(extension: Any, folder: str, given: dict[str, Any], toolkit: Toolkit) -> Plan:
    """The plan of an extension, with the flags that torch adds only when it writes for ninja."""
    if toolkit is not Hip:
        return Plan(folder, given)
    from torch.utils.hipify.hipify_python import HIPIFY_FINAL_RESULT

    written = {one.hipified_path: path for path, one in HIPIFY_FINAL_RESULT.items() if one.hipified_path != path}
    post = [*extension.COMMON_HIP_FLAGS, *(given.get("post_cflags") or ())]
    return Plan(folder, {**given, "post_cflags": post}, toolkit, written)


class Extensions:
    """The extensions of one process.

    `seconds`: time spent in compilers. `has_kernels`: whether an extension with kernels was built, or was to be.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.has_kernels = False
        self.plans: dict[str, Plan] = {}  # by folder: the last extension that was to be built there

    def install(self, architecture: str | None = None, wrap: Wrap | None = None) -> None:
        """Makes torch build extensions this way from now on.

        `architecture`: of a device that is absent, "sm_90a" or "gfx942"; None for the device of this process.
        `wrap(module, has_kernels)`: returns what a submission gets in place of an imported extension.
        """
        extension = imported()
        toolkit = toolkit_for(architecture)
        if not fits(extension, toolkit):
            return
        self.use_toolkit(extension, toolkit)
        load = extension._import_module_from_library

        def flags() -> list[str]:
            return toolkit.flags_of_device() if architecture is None else toolkit.flags_for(architecture)

        def write(path: str, **given: Any) -> None:
            folder = os.path.dirname(folder_of(path))
            self.plans[folder] = plan_of(extension, folder, given, toolkit)
            self.has_kernels |= self.plans[folder].with_cuda

        def load_and_wrap(name: str, path: str, *args: object, **kwargs: object) -> Any:
            plan = self.plans.get(folder_of(path))
            loaded = load(name, path, *args, **kwargs)
            return loaded if wrap is None else wrap(loaded, plan is not None and plan.with_cuda)

        def own_folder(name: str, verbose: bool = False) -> str:
            os.makedirs(name, exist_ok=True)  # in this process' own folder, whatever the environment says
            return os.path.abspath(name)

        extension._get_build_directory = own_folder
        extension._write_ninja_file = write
        extension._run_ninja_build = lambda folder, *_, **__: self.build_or_find(extension, folder, flags)
        extension.verify_ninja_availability = lambda: None
        extension.get_compiler_abi_compatibility_and_version = lambda compiler: (True, "")
        if wrap is not None:
            extension._import_module_from_library = load_and_wrap

    def use_toolkit(self, extension: Any, toolkit: Toolkit) -> None:
        """Points torch's functions for this vendor at the toolkit, also where torch was built for another or none."""
        home, join, architecture_flags, *_ = NAMES[toolkit]
        own_join = getattr(extension, join)
        if (found := toolkit.home()) is not None:  # torch may have found none, or an incomplete one
            setattr(extension, home, found)
        if toolkit is Hip:
            extension.IS_HIP_EXTENSION = True  # it then translates CUDA

        def join_home(*paths: str) -> Any:
            self.has_kernels = True
            toolkit.needed()  # raises if there is none
            return own_join(*paths)

        def known_flags(flags: Iterable[str] | None = None) -> list[str]:
            """Torch's rule: a source that names an architecture is compiled for that one alone."""
            return [] if any(map(toolkit.names_architecture, flags or ())) else [ARCHITECTURE]

        setattr(extension, join, join_home)
        setattr(extension, architecture_flags, known_flags)

    def build_or_find(self, extension: Any, path: str, architecture: Callable[[], list[str]]) -> None:
        """Runs in place of ninja: copies the kept library, raises the kept error, or compiles."""
        folder = folder_of(path)
        plan = self.plans[folder]
        target = os.path.join(folder, plan.target)
        kept = os.path.join(EXTENSIONS, plan.key())
        if os.path.exists(f"{kept}.so"):
            shutil.copyfile(f"{kept}.so", target)
            return
        with contextlib.suppress(OSError), open(f"{kept}.txt", encoding="utf-8") as file:
            raise Refused(plan.name, **json.load(file))
        os.makedirs(EXTENSIONS, exist_ok=True)
        begun = time.monotonic()
        try:
            module_compile.build(plan, extension.get_cxx_compiler(), architecture)
        except Refused as error:
            with open(f"{kept}.txt", "w", encoding="utf-8") as file:
                json.dump({"words": error.words, "of_linker": error.of_linker}, file)
            raise
        finally:
            self.seconds += time.monotonic() - begun
        shutil.copyfile(target, f"{kept}.so")

    def kind(self) -> str:
        """The kind of extension that this process builds, as known_extension.py names it: "host" or "device"."""
        return "device" if self.has_kernels else "host"

    def refused(self, error: BaseException | None) -> Refused | None:
        """The compilers' or the linker's errors in the sources, if this exception is or comes from one."""
        while error is not None and not isinstance(error, Refused):
            error = self.link_error(error) or error.__cause__
        return error

    def link_error(self, error: BaseException) -> Refused | None:
        """An import that failed for a symbol that the submission's own sources lack, as Refused."""
        text = str(error)
        if not isinstance(error, ImportError) or "undefined symbol: " not in text:
            return None
        symbol = text.rsplit("undefined symbol: ", 1)[1].split()[0]
        if not symbol.startswith("_Z"):  # a library's symbol, which may exist in the process with the device
            return None
        if os.path.dirname(folder_of(text.split(":")[0])) not in self.plans:  # another package's extension
            return None
        name = os.path.splitext(os.path.basename(text.split(":")[0]))[0]
        wanted = module_compile.undefined(symbol)
        words = f"link error: undefined reference to `{wanted}': it is declared, and no source defines it so"
        return Refused(name, words, of_linker=True)


def stand_in(module: Any, called: Callable[..., Any]) -> Any:
    """A module with the same names, whose functions are all `called`."""
    if not isinstance(module, types.ModuleType):
        return module
    other = types.ModuleType(module.__name__)
    for name in dir(module):
        value = getattr(module, name)
        setattr(other, name, called if callable(value) else value)
    return other


def hindered(error: BaseException | None) -> Hindered | None:
    """A failure that may be the machine's, if this exception is or comes from one."""
    while error is not None and not isinstance(error, Hindered):
        error = error.__cause__ or error.__context__
    return error
