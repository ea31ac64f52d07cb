"""An error in a Triton kernel."""

import torch
import triton
import triton.language as tl


@triton.jit
def broken(x, out, COUNT: tl.constexpr):
    at = tl.arange(0, COUNT)
    tl.store(out + at, tl.not_a_function(tl.load(x + at)))


def triton_kernel_wrapper(x, weight, bias, shift, slope):
    out = torch.empty_like(x)
    broken[(1,)](x, out, x.numel())
    return out
