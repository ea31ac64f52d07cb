"""25_Swish: one pass over the elements."""

import torch
import triton
import triton.language as tl


@triton.jit
def swish(x_at, y_at, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_at + at, mask=at < count)
    y = x / (1 + tl.exp(-x))
    tl.store(y_at + at, y, mask=at < count)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        block = 1024 if x.is_cuda else 65536  # an interpreter pays for each program
        swish[(triton.cdiv(x.numel(), block),)](x, y, x.numel(), block)
        return y
