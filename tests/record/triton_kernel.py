"""Records one Triton kernel without torch: prints the driver's problem and the size of the plan."""

import ctypes
import sys

import triton
import triton.language as tl
from triton.backends.nvidia.driver import CudaDriver


@triton.jit
def add(x, y, out, count, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    inside = at < count
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


class Tensor:
    """What Triton needs of a tensor: an address and a type."""

    def __init__(self, address: int) -> None:
        self.address = address
        self.dtype = "fp32"

    def data_ptr(self) -> int:
        return self.address


def main() -> int:
    driver = ctypes.CDLL("libcuda.so.1")
    driver.hone_record_task_memory.restype = ctypes.c_uint64
    driver.hone_record_task_memory.argtypes = [ctypes.c_uint32, ctypes.c_uint64]
    driver.hone_record_problem.restype = ctypes.c_char_p
    driver.hone_record_begin(b'{"architecture": "sm_90"}')
    triton.runtime.driver.set_active(CudaDriver())
    tensors = [Tensor(driver.hone_record_task_memory(number, 4096)) for number in range(3)]
    driver.hone_record_run_begin()
    add[(4,)](*tensors, 1000, block=256)
    driver.hone_record_run_end()
    data, size = ctypes.POINTER(ctypes.c_char)(), ctypes.c_uint64()
    made = driver.hone_record_finish(ctypes.byref(data), ctypes.byref(size))
    print("problem:", driver.hone_record_problem().decode())
    print("kernel in plan:", bool(made) and b"\xa3add" in ctypes.string_at(data, size.value))
    return 0


if __name__ == "__main__":
    sys.exit(main())
