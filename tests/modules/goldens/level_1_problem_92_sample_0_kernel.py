"""92_cumsum_exclusive: a program a row, one element to the right; the reference leaves the last row out."""

import torch
import triton
import triton.language as tl


@triton.jit
def sum_before(x_at, y_at, width, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    x = tl.load(x_at + row * width + at - 1, mask=(at > 0) & (at <= width), other=0.0)
    tl.store(y_at + row * (width + 1) + at, tl.cumsum(x, axis=0), mask=at <= width)


class ModelNew(torch.nn.Module):
    def __init__(self, dim=1):
        super().__init__()
        assert dim == 1

    def forward(self, x):
        rows, width = x.shape
        y = torch.empty(rows - 1, width + 1, dtype=x.dtype, device=x.device)
        sum_before[(rows - 1,)](x, y, width, triton.next_power_of_2(width + 1))
        return y
