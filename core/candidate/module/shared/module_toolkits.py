"""The compilers of device code, one for each vendor: their place, and the flags that they get besides torch's."""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess

import torch

SITE = os.path.dirname(os.path.dirname(torch.__file__))


class Hindered(RuntimeError):
    """Something did not compile for a reason that is not in the source."""


class Cuda:
    """nvcc, which calls the host's compiler."""

    NAME, CODE = "nvcc", "CUDA"
    SUFFIXES = (".cu", ".cuh")
    HOMES = ("/usr/local/cuda", "/usr")

    @classmethod
    def home(cls) -> str | None:
        """The folder of nvcc and its headers, or None."""
        found = shutil.which("nvcc")
        homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), *cls.HOMES]
        if found:
            homes.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(found))))
        for home in filter(None, homes):
            if all(os.path.exists(os.path.join(home, part)) for part in ("bin/nvcc", "include/cuda_runtime.h")):
                return home
        return None

    @classmethod
    def needed(cls) -> str:
        """The home. Raises Hindered if there is none."""
        home = cls.home()
        if home is None:
            raise Hindered(
                "load_inline needs nvcc, found none on PATH or in /usr/local/cuda: install the CUDA toolkit there, of "
                "the version that torch was built with"
            )
        return home

    @classmethod
    def compiler(cls, folder: str, text: str, flags: list[str]) -> list[str]:
        return [os.path.join(cls.needed(), "bin/nvcc")]

    @staticmethod
    def flags_for(architecture: str) -> list[str]:
        """nvcc's flags for an architecture such as "sm_90a"."""
        number = architecture.removeprefix("sm_")
        return [f"-gencode=arch=compute_{number},code=sm_{number}"]

    @classmethod
    def flags_of_device(cls) -> list[str]:
        major, minor = torch.cuda.get_device_capability()
        return cls.flags_for(f"sm_{major}{minor}" + ("a" if major >= 9 else ""))

    @staticmethod
    def names_architecture(flag: str) -> bool:
        return "arch" in flag and "TORCH_EXTENSION_NAME" not in flag

    @staticmethod
    def headers() -> list[str]:
        """Flags for the headers in torch's own packages, for a toolkit without them."""
        found = glob.glob(os.path.join(SITE, "nvidia/cu[0-9]*/include"))
        return [word for folder in found for word in ("-isystem", folder)]


class Hip:
    """hipcc of a ROCm installation; otherwise clang with Debian's headers and device libraries, which lie in /usr."""

    NAME, CODE = "hipcc or clang", "HIP"
    SUFFIXES = (".hip", ".cu", ".cuh")
    HOMES = ("/opt/rocm", "/opt/rocm-*")
    CLANG = "clang++-19"
    # What only a ROCm has. Debian's Thrust would compile, and run on the processor.
    NOT_DEBIANS = re.compile(r"\bthrust(?=::|/)|\b__(syncwarp|activemask|(shfl|ballot|any|all|match|reduce)\w*_sync)\b")
    BITCODE = "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"

    @classmethod
    def home(cls) -> str | None:
        named = [os.environ.get("ROCM_HOME"), os.environ.get("ROCM_PATH")]
        for home in [*filter(None, named), *(home for some in cls.HOMES for home in sorted(glob.glob(some)))]:
            needed = ("bin/hipcc", "include/hip/hip_runtime.h")
            if home != "/usr" and all(os.path.exists(os.path.join(home, part)) for part in needed):
                return home
        clang = os.path.realpath(shutil.which(cls.CLANG) or "/")
        tools = [os.path.join(os.path.dirname(clang), name) for name in ("clang-offload-bundler", "lld")]
        headers = [os.path.join("/usr/include", name) for name in ("hip/hip_runtime.h", "thrust/complex.h")]
        parts = [*tools, *headers, os.path.join(cls.BITCODE, "ocml.bc")]
        return "/usr" if all(map(os.path.exists, parts)) else None

    @classmethod
    def needed(cls) -> str:
        home = cls.home()
        if home is None:
            raise Hindered(
                f"load_inline needs a compiler of HIP, found neither a ROCm in /opt nor {cls.CLANG} with HIP's headers "
                "and device libraries: install ROCm 6, or, of Debian's, what scripts/setup --hip lists"
            )
        return home

    @classmethod
    def compiler(cls, folder: str, text: str, flags: list[str]) -> list[str]:
        home = cls.needed()
        if home != "/usr":
            return [os.path.join(home, "bin/hipcc")]
        if lacks := cls.NOT_DEBIANS.search(text):
            raise Hindered(f"{lacks[0]} needs a ROCm: Debian's HIP has none")
        clang = shutil.which(cls.CLANG) or cls.CLANG
        named = re.findall(r"--offload-arch=gfx([0-9a-f]+)", " ".join(flags))
        return [
            *(clang, "-x", "hip", "-O3", f"--rocm-path={home}"),  # hipcc optimises by default
            f"--rocm-device-lib-path={cls.device_libraries(folder, clang, named)}",
            "-DTHRUST_DEVICE_SYSTEM=THRUST_DEVICE_SYSTEM_CPP",  # torch needs only its complex numbers
        ]

    @classmethod
    def device_libraries(cls, folder: str, clang: str, architectures: list[str]) -> str:
        """Debian's device libraries, plus the one constant that they lack for a newer architecture."""
        made = os.path.join(folder, "hone_bitcode")
        os.makedirs(made, exist_ok=True)
        for path in glob.glob(os.path.join(cls.BITCODE, "*.bc")):
            if not os.path.lexists(at := os.path.join(made, os.path.basename(path))):
                os.symlink(path, at)
        for name in architectures:
            at = os.path.join(made, f"oclc_isa_version_{name}.bc")
            if len(name) < 3 or os.path.exists(at) or not name[:-2].isdecimal():
                continue
            number = 1000 * int(name[:-2]) + 100 * int(name[-2], 16) + int(name[-1], 16)
            flags = ("-x", "cl", "-target", "amdgcn-amd-amdhsa", "-nogpulib", "-c", "-emit-llvm")
            text = f"const __constant unsigned __oclc_ISA_version = {number};\n"
            # If this fails, the compiler reports the missing file.
            subprocess.run([clang, *flags, "-o", at, "-"], input=text, text=True, capture_output=True)
        return made

    @staticmethod
    def flags_for(architecture: str) -> list[str]:
        return [f"--offload-arch={architecture}"]

    @classmethod
    def flags_of_device(cls) -> list[str]:
        return cls.flags_for(torch.cuda.get_device_properties(0).gcnArchName.split(":")[0])

    @staticmethod
    def names_architecture(flag: str) -> bool:
        return "offload-arch" in flag or "amdgpu-target" in flag

    @staticmethod
    def headers() -> list[str]:
        return []


Toolkit = type[Cuda] | type[Hip]


def toolkit_for(architecture: str | None = None) -> Toolkit:
    """The toolkit for an architecture such as "sm_90a" or "gfx942"; for None, the one that torch was built for."""
    is_hip = torch.version.hip if architecture is None else architecture.startswith("gfx")
    return Hip if is_hip else Cuda
