"""93_masked_cumsum: a program a row, scanned at once."""

import torch
import triton
import triton.language as tl


@triton.jit
def masked_sum(x_at, mask_at, y_at, width, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * width
    inside = at < width
    x = tl.load(x_at + row + at, mask=inside, other=0.0)
    kept = tl.load(mask_at + row + at, mask=inside, other=0)
    tl.store(y_at + row + at, tl.cumsum(tl.where(kept != 0, x, 0.0), axis=0), mask=inside)


class ModelNew(torch.nn.Module):
    def __init__(self, dim=1):
        super().__init__()
        assert dim == 1

    def forward(self, x, mask):
        y = torch.empty_like(x)
        masked_sum[(x.shape[0],)](x, mask.view(torch.uint8), y, x.shape[1], triton.next_power_of_2(x.shape[1]))
        return y
