"""What torch.utils.cpp_extension does for a submission: torch writes the sources, and the flags; what ninja would then
have done is done by module_compile.py, in the rehearsal, and what came of it is found by the process with the device.

It reaches for what torch keeps to itself; where a version has that otherwise, torch's own way is left alone.
"""

import contextlib
import importlib
import inspect
import json
import os
import shutil
import time
import types

import torch

import module_compile
from module_compile import ARCHITECTURE, Plan, Refused
from module_toolkits import Cuda, Hindered, Hip, toolkit_for

KEPT = ".extensions"  # what is built, by its key: KEY.so; what was refused: KEY.txt
NEEDED = (
    "_get_build_directory",
    "_import_module_from_library",
    "get_cxx_compiler",
)
REPLACED = ("_write_ninja_file", "_run_ninja_build", "verify_ninja_availability")
# Of each vendor's: where its toolkit is, what joins paths to that, and what says for which architecture to compile.
NAMES = {
    Cuda: ("CUDA_HOME", "_join_cuda_home", "_get_cuda_arch_flags"),
    Hip: ("ROCM_HOME", "_join_rocm_home", "_get_rocm_arch_flags", "IS_HIP_EXTENSION", "COMMON_HIP_FLAGS"),
}
SPENT = {"seconds": 0.0}  # by compilers: not by what is bounded otherwise
PLANS = {}  # by folder: what was last to be built there
HAS_KERNELS = {"any": False}  # whether what has been built, or was to be, has kernels


def is_used(source):
    return "cpp_extension" in source


def imported():
    """torch.utils.cpp_extension, which would look for a device as it is imported; a driver does not survive copying."""
    available = torch.cuda.is_available
    torch.cuda.is_available = lambda: True
    try:
        return importlib.import_module("torch.utils.cpp_extension")
    finally:
        torch.cuda.is_available = available


def refuse():
    """On the processor: says why there is none."""

    def load(*args, **kwargs):
        raise RuntimeError(
            "load_inline needs compilers, which submissions have beside a device: this server judges on the processor"
        )

    extension = imported()
    extension.load = extension.load_inline = load


def fits(extension, toolkit):
    """Whether this version of torch has what is replaced."""
    if not all(hasattr(extension, name) for name in (*NEEDED, *REPLACED, *NAMES[toolkit])):
        return False
    wanted = {"path", "sources", "cflags", "cuda_cflags", "ldflags", "library_target", "with_cuda"}
    return wanted <= set(inspect.signature(extension._write_ninja_file).parameters)


def folder_of(path):
    return os.path.abspath(os.fspath(path))


def build_or_find(extension, folder, architecture):
    """In place of ninja."""
    folder = folder_of(folder)
    plan = PLANS[folder]
    target = os.path.join(folder, plan.target)
    kept = os.path.join(KEPT, plan.key())
    if os.path.exists(f"{kept}.so"):
        shutil.copyfile(f"{kept}.so", target)
        return
    with contextlib.suppress(OSError), open(f"{kept}.txt", encoding="utf-8") as file:
        raise Refused(plan.name, **json.load(file))
    os.makedirs(KEPT, exist_ok=True)
    begun = time.monotonic()
    try:
        module_compile.build(plan, extension.get_cxx_compiler(), architecture)
    except Refused as error:
        with open(f"{kept}.txt", "w", encoding="utf-8") as file:
            json.dump({"words": error.words, "of_linker": error.of_linker}, file)
        raise
    finally:
        SPENT["seconds"] += time.monotonic() - begun
    shutil.copyfile(target, f"{kept}.so")


def use_toolkit(extension, toolkit):
    """Torch asks for it in the words of its vendor, also where it was built for another one, or none."""
    home, join, architecture_flags, *_ = NAMES[toolkit]
    own_join = getattr(extension, join)
    if (found := toolkit.home()) is not None:  # torch found none perhaps, or no whole one
        setattr(extension, home, found)
    if toolkit is Hip:
        extension.IS_HIP_EXTENSION = True  # it translates CUDA, then

    def join_home(*paths):
        HAS_KERNELS["any"] = True
        toolkit.needed()  # or says that there is none
        return own_join(*paths)

    def known_flags(flags=None):
        """Torch's rule: who names an architecture gets that alone."""
        return [] if any(map(toolkit.names_architecture, flags or ())) else [ARCHITECTURE]

    setattr(extension, join, join_home)
    setattr(extension, architecture_flags, known_flags)


def plan_of(extension, folder, given, toolkit):
    """With what torch adds only as it writes for ninja."""
    if toolkit is not Hip:
        return Plan(folder, given)
    from torch.utils.hipify.hipify_python import HIPIFY_FINAL_RESULT

    written = {one.hipified_path: path for path, one in HIPIFY_FINAL_RESULT.items() if one.hipified_path != path}
    post = [*extension.COMMON_HIP_FLAGS, *(given.get("post_cflags") or ())]
    return Plan(folder, {**given, "post_cflags": post}, toolkit, written)


def install(architecture=None, wrap=None):
    """From now on torch builds extensions so. `architecture`: of a device that is not there, "sm_90a" or "gfx942";
    `wrap(module, has_kernels)`: what a submission gets in the place of one that was imported."""
    extension = imported()
    toolkit = toolkit_for(architecture)
    if not fits(extension, toolkit):
        return
    use_toolkit(extension, toolkit)
    flags = toolkit.flags_of_device if architecture is None else lambda: toolkit.flags_for(architecture)
    load = extension._import_module_from_library

    def write(path, **given):
        folder = os.path.dirname(folder_of(path))
        PLANS[folder] = plan_of(extension, folder, given, toolkit)
        HAS_KERNELS["any"] |= PLANS[folder].with_cuda

    def load_and_wrap(name, path, *args, **kwargs):
        plan = PLANS.get(folder_of(path))
        return wrap(load(name, path, *args, **kwargs), plan is not None and plan.with_cuda)

    def own_folder(name, verbose=False):
        os.makedirs(name, exist_ok=True)  # in this process' own, whatever the environment says
        return os.path.abspath(name)

    extension._get_build_directory = own_folder
    extension._write_ninja_file = write
    extension._run_ninja_build = lambda folder, *_, **__: build_or_find(extension, folder, flags)
    extension.verify_ninja_availability = lambda: None
    extension.get_compiler_abi_compatibility_and_version = lambda compiler: (True, "")
    if wrap is not None:
        extension._import_module_from_library = load_and_wrap


def stand_in(module, called):
    """A module with the same names, whose functions are not called: `called()` is."""
    if not isinstance(module, types.ModuleType):
        return module
    other = types.ModuleType(module.__name__)
    for name in dir(module):
        value = getattr(module, name)
        setattr(other, name, called if callable(value) else value)
    return other


def refused(error):
    """What the compilers or the linker have against the sources, if that is what this error says or comes of."""
    while error is not None and not isinstance(error, Refused):
        error = link_error(error) or error.__cause__
    return error


def hindered(error):
    """What may be the machine's doing, if that is what this error says or comes of."""
    while error is not None and not isinstance(error, Hindered):
        error = error.__cause__ or error.__context__
    return error


def kind():
    """Of the extensions here, in the words of known_extension.py."""
    return "device" if HAS_KERNELS["any"] else "host"


def link_error(error):
    """An import that failed for a symbol that the submission's own sources lack, as Refused; else None."""
    text = str(error)
    if not isinstance(error, ImportError) or "undefined symbol: " not in text:
        return None
    symbol = text.rsplit("undefined symbol: ", 1)[1].split()[0]
    if not symbol.startswith("_Z"):  # a library's, which may be there beside a device
        return None
    if os.path.dirname(folder_of(text.split(":")[0])) not in PLANS:  # another package's
        return None
    name = os.path.splitext(os.path.basename(text.split(":")[0]))[0]
    wanted = module_compile.undefined(symbol)
    words = f"link error: undefined reference to `{wanted}': it is declared, and no source defines it so"
    return Refused(name, words, of_linker=True)
