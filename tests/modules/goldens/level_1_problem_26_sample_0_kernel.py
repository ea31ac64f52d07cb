"""26_GELU: one pass over the elements."""

import torch
import triton
import triton.language as tl


@triton.jit
def gelu(x_at, y_at, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_at + at, mask=at < count)
    y = 0.5 * x * (1 + tl.erf(x * 0.7071067811865476))
    tl.store(y_at + at, y, mask=at < count)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        block = 1024 if x.is_cuda else 65536  # an interpreter pays for each program
        gelu[(triton.cdiv(x.numel(), block),)](x, y, x.numel(), block)
        return y
