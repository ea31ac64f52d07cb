"""88_MinGPTNewGelu: one pass over the elements."""

import torch
import triton
import triton.language as tl


@triton.jit
def new_gelu(x_at, y_at, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_at + at, mask=at < count)
    inner = 0.7978845608028654 * (x + 0.044715 * x * x * x)
    y = x / (1 + tl.exp(-2 * inner))
    tl.store(y_at + at, y, mask=at < count)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        block = 1024 if x.is_cuda else 65536  # an interpreter pays for each program
        new_gelu[(triton.cdiv(x.numel(), block),)](x, y, x.numel(), block)
        return y
