"""Records one Triton kernel without torch, with or without an autotuner. Prints the driver's problem and the plan.

python triton_kernel.py plain|large|tuned|reading|leaking
"""

import ctypes
import json
import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.nvidia.driver import CudaDriver

MODULE = Path(__file__).resolve().parents[2] / "core/candidate/module"
sys.path[:0] = [str(MODULE / "builder"), str(MODULE / "shared")]
from messagepack import Decoder  # noqa: E402
from record_tuned import TunedKernels  # noqa: E402

TOO_LARGE = 1 << 21  # elements of a block, more than Triton allows


@triton.jit
def add(x, y, out, count, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    inside = at < count
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def product(x, y, out, count, block: tl.constexpr):
    """Keeps several pairs of tiles in shared memory, more than a kernel gets without asking for it."""
    at = tl.arange(0, block)
    places = at[:, None] * block + at[None, :]
    total = tl.zeros((block, block), tl.float32)
    for i in range(0, count):
        total = tl.dot(tl.load(x + places + i), tl.load(y + places + i), total)
    tl.store(out + places, total)


class Tensor:
    """What Triton needs of a tensor: an address and a type."""

    def __init__(self, address: int) -> None:
        self.address = address
        self.dtype = "fp32"

    def data_ptr(self) -> int:
        return self.address


class Driver:
    """The part of hone's recording driver that TunedKernels uses."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library

    def configuration(self, tuned: int, number: int) -> None:
        self.library.hone_record_configuration(tuned, number)

    def fail(self, reason: str) -> None:
        self.library.hone_record_fail(reason.encode())


def kernel_of(kind: str) -> object:
    if kind == "plain":
        return add
    if kind == "large":
        return product
    configurations = [triton.Config({"block": size}, num_warps=4) for size in (256, TOO_LARGE, 128, 512)]
    return triton.autotune(configurations, key=["count"])(add)


def shown(step: dict[str, object]) -> list[object]:
    """The step's autotuned kernel and configuration, both from 0, and the number of blocks of its grid."""
    return [step.get("tuned"), step.get("configuration"), step["grid"][0]]  # type: ignore[index]


def main() -> int:
    kind = sys.argv[1]
    driver = ctypes.CDLL("libcuda.so.1")
    driver.hone_record_task_memory.restype = ctypes.c_uint64
    driver.hone_record_task_memory.argtypes = [ctypes.c_uint32, ctypes.c_uint64]
    driver.hone_record_problem.restype = ctypes.c_char_p
    driver.hone_record_run_digest.restype = ctypes.c_uint64
    driver.hone_record_begin(b'{"architecture": "sm_90"}')
    triton.runtime.driver.set_active(CudaDriver())
    tuned = TunedKernels(Driver(driver))
    tuned.install()
    kernel = kernel_of(kind)
    assert not hasattr(kernel, "best_config")
    fixed = {"plain": {"block": 256}, "large": {"block": 64, "num_stages": 3}}.get(kind, {})
    digests, left = [], []

    def grid(meta: dict[str, int]) -> tuple[int]:
        left[:] = [meta["block"]]
        return (triton.cdiv(1000, meta["block"]),)

    for run in range(3):
        tensors = [Tensor(driver.hone_record_task_memory(number, 4096)) for number in range(3)]
        if run == 0:  # the setup
            kernel[grid](*tensors, 1000, **fixed)
            if kind == "reading":
                kernel.best_config  # noqa: B018
            continue
        driver.hone_record_run_begin()
        with tuned.run(is_backwards=run == 1):
            kernel[grid](*tensors, 1000, **fixed)
            if kind == "leaking":
                add[(left[0],)](*tensors, 1000, block=256)
        driver.hone_record_run_end()
        digests.append(driver.hone_record_run_digest())
    data, size = ctypes.c_void_p(), ctypes.c_uint64()
    made = driver.hone_record_finish(ctypes.byref(data), ctypes.byref(size))
    plan = Decoder(ctypes.string_at(data, size.value).split(b"\n", 1)[1]).whole() if made else {}
    result = {"problem": driver.hone_record_problem().decode(), "same": digests[0] == digests[1]}
    if made:
        result |= {
            "kernels": sorted({kernel["name"] for kernel in plan["kernels"]}),
            "tuned": plan["tuned"],
            "setup": len(plan["setup"]),
            "shared": [step["shared_bytes"] for step in plan["run"]],
            "run": [shown(step) for step in plan["run"]],
        }
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
