"""Records two Triton kernels without torch, and writes the plan: triton_plan.py FILE."""

import ctypes
import sys
from pathlib import Path

import triton
import triton.language as tl
from triton.backends.nvidia.driver import CudaDriver


@triton.jit
def add(x, y, out, count, block: tl.constexpr):
    tl.static_assert(block <= 1024)
    at = tl.program_id(0) * block + tl.arange(0, block)
    inside = at < count
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def matmul(a, b, out, depth, width, block: tl.constexpr):
    rows, columns, steps = tl.arange(0, block), tl.arange(0, block), tl.arange(0, block)
    total = tl.zeros((block, block), tl.float32)
    for first in range(0, depth, block):
        left = tl.load(a + rows[:, None] * depth + (first + steps)[None, :])
        right = tl.load(b + (first + steps)[:, None] * width + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(out + rows[:, None] * width + columns[None, :], total)


class Tensor:
    """A tensor for Triton: an address and a type."""

    def __init__(self, address: int, dtype: str) -> None:
        self.address, self.dtype = address, dtype

    def data_ptr(self) -> int:
        return self.address


def recording_driver(facts: str) -> ctypes.CDLL:
    """hone's recording driver, which records for a device with these facts (JSON). LD_LIBRARY_PATH has its folder."""
    driver = ctypes.CDLL("libcuda.so.1")
    driver.hone_record_task_memory.restype = ctypes.c_uint64
    driver.hone_record_task_memory.argtypes = [ctypes.c_uint32, ctypes.c_uint64]
    driver.hone_record_problem.restype = ctypes.c_char_p
    driver.hone_record_run_digest.restype = ctypes.c_uint64
    driver.hone_record_begin(facts.encode())
    triton.runtime.driver.set_active(CudaDriver())
    return driver


def plan_of(driver: ctypes.CDLL) -> bytes:
    """The bytes of the recorded plan; empty if the recording failed."""
    data, size = ctypes.c_void_p(), ctypes.c_uint64()
    made = driver.hone_record_finish(ctypes.byref(data), ctypes.byref(size))
    return ctypes.string_at(data.value or 0, size.value) if made else b""


def main() -> int:
    driver = recording_driver('{"architecture": "sm_90a", "shared_bytes": 232448}')
    types = ["fp32", "fp32", "fp32", "fp16", "fp16", "fp32"]
    given = [Tensor(driver.hone_record_task_memory(i, 1 << 20), dtype) for i, dtype in enumerate(types)]
    driver.hone_record_run_begin()
    for _ in range(2):
        add[(4,)](*given[:3], 1000, block=256)
    matmul[(1,)](*given[3:], 256, 64, block=64)
    driver.hone_record_run_end()
    plan = plan_of(driver)
    print("problem:", driver.hone_record_problem().decode())
    if plan:
        Path(sys.argv[1]).write_bytes(plan)
    return 0


if __name__ == "__main__":
    sys.exit(main())
