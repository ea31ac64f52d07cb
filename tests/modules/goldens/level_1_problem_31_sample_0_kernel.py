"""31_ELU: one pass over the elements."""

import torch
import triton
import triton.language as tl


@triton.jit
def elu(x_at, y_at, count, slope, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_at + at, mask=at < count)
    tl.store(y_at + at, tl.where(x > 0, x, slope * (tl.exp(x) - 1)), mask=at < count)


class ModelNew(torch.nn.Module):
    def __init__(self, alpha=1.0):
        super().__init__()
        self.slope = alpha

    def forward(self, x):
        y = torch.empty_like(x)
        block = 1024 if x.is_cuda else 65536  # an interpreter pays for each program
        elu[(triton.cdiv(x.numel(), block),)](x, y, x.numel(), self.slope, block)
        return y
