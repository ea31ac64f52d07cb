"""torch extensions for AMD devices, compiled without a device: target, and blame for failures."""

import base64
import struct
from pathlib import Path

import pytest
from known_extension import known_extension

from conftest import linear_row

RELU = (Path(__file__).parent / "extensions/level_1_problem_19_sample_0_kernel.py").read_text()
MACHINES = {"gfx942": 0x4C, "gfx90a": 0x3F}  # as an ELF's flags have them
BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"
IN_HIP = '''
import torch
from torch.utils.cpp_extension import load_inline

KERNELS = """
#include <hip/hip_runtime.h>

__global__ void reversed(float* x) {
    __shared__ float part[64];
    part[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = __shfl_xor(sqrtf(part[63 - threadIdx.x]), 1);
}
void start(float* x) { hipLaunchKernelGGL(reversed, dim3(1), dim3(64), 0, 0, x); }
"""
BINDS = """
#include <torch/extension.h>
void start(float*);
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("where", [] { return (int64_t)&start != 0; }); }
"""
load_inline(name="in_hip", cpp_sources=BINDS, cuda_sources=KERNELS, no_implicit_headers=True)
'''


@pytest.fixture(scope="module", autouse=True)
def home(run_beside_modules):
    """Where HIP's compiler is."""
    code = "from module_toolkits import Hip; print(Hip.home() or '')"
    found = run_beside_modules(code).strip()
    if not found:
        pytest.skip("no ROCm, nor clang-19 with HIP's headers and device libraries: scripts/setup --hip")
    return found


def code_objects(answer):
    """Of the one library that was built, by what the bundle in it says they are for: (machine, bytes)."""
    (library,) = [content for name, content in answer["compiled"].items() if name.endswith(".so")]
    image = base64.b64decode(library)
    start = image.index(BUNDLE)
    at = start + len(BUNDLE) + 8
    found = {}
    for _ in range(struct.unpack_from("<Q", image, at - 8)[0]):
        offset, size, length = struct.unpack_from("<QQQ", image, at)
        name = image[at + 24 : at + 24 + length].decode()
        code = image[start + offset : start + offset + size]
        at += 24 + length
        if size:
            found[name.split("--")[-1]] = (struct.unpack_from("<I", code, 48)[0] & 0xFF, code)
    return found


@pytest.mark.parametrize("architecture", MACHINES)
def test_cuda_is_translated_and_compiled(dry_run, architecture):
    (answer,) = dry_run([linear_row(RELU)], architecture)
    assert answer["words"] == ""
    ((name, (machine, code)),) = code_objects(answer).items()
    assert (name, machine) == (architecture, MACHINES[architecture])
    assert b"relu_kernel" in code
    (again,) = dry_run([linear_row(RELU, answer["compiled"])], architecture)
    assert again == {"words": "", "work": None, "compiled": {}}


def test_hip_source_is_compiled(dry_run):
    (answer,) = dry_run([linear_row(IN_HIP)], "gfx942")
    assert answer["words"] == ""
    assert b"reversed" in code_objects(answer)["gfx942"][1]


def test_compiler_error_has_the_line_of_the_source(dry_run):
    """Also of lines that the translation has changed."""
    source = RELU.replace("fmaxf(x[i]", "fmaxf(y[i]").replace("/ block, block>>>", "/ block, blocks>>>")
    lines = [i for i, line in enumerate(source.split("\n"), 1) if "y[i]" in line or "blocks>>>" in line]
    (answer,) = dry_run([linear_row(source)], "gfx942")
    errors = [line for line in answer["words"].split("\n") if "error" in line]
    assert answer["words"].startswith("build device ")
    assert len(errors) == 2, answer["words"]
    assert errors[0].endswith(f"error: use of undeclared identifier 'y' (submission.py:{lines[0]})")
    assert errors[1].endswith(f"(submission.py:{lines[1]})")
    assert "undeclared identifier 'blocks'" in errors[1]
    assert answer["compiled"].keys() == {path for path in answer["compiled"] if path.endswith(".txt")}


def test_a_device_function_that_is_nowhere_is_refused(dry_run):
    source = RELU.replace("__global__", "__device__ float helper(float);\n__global__", 1)
    source = source.replace("fmaxf(x[i], 0.0f)", "helper(x[i])")
    (answer,) = dry_run([linear_row(source)], "gfx942")
    assert answer["words"].startswith("build device lld: error: undefined hidden symbol: helper(float)")


@pytest.mark.parametrize(
    ("source", "architecture", "words"),
    [
        (RELU, "gfx999", "invalid target ID 'gfx999'"),
        ("#include <thrust/sort.h>", "gfx942", "thrust needs a ROCm"),
        ("#define DOWN __shfl_down_sync", "gfx942", "__shfl_down_sync needs a ROCm"),
        ("#include <ATen/cuda/CUDAContext.h>", "gfx942", "'ATen/hip/HIPContext.h' file not found"),
    ],
)
def test_missing_tool_is_not_the_sources_fault(dry_run, home, source, architecture, words):
    if source is not RELU:
        if home != "/usr":
            pytest.skip("a ROCm has it")
        source = RELU.replace("#include <cuda_runtime.h>", source)
    (answer,) = dry_run([linear_row(source)], architecture)
    assert answer["words"].startswith("hindered device ")
    assert words in answer["words"]
    assert answer["compiled"] == {}


@pytest.mark.parametrize("kind", ["host", "device"])
def test_the_known_extension_builds_here(dry_run, kind):
    (answer,) = dry_run([{"content": known_extension(kind)}], "gfx942")
    assert answer["words"] == ""
    assert [Path(path).suffix for path in answer["compiled"]] == [".so"]
