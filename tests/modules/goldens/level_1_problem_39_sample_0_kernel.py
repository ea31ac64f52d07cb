"""39_L2Norm_: a program a row, which stays in registers."""

import torch
import triton
import triton.language as tl


@triton.jit
def l2_norm(x_at, y_at, width, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * width
    inside = at < width
    x = tl.load(x_at + row + at, mask=inside, other=0.0)
    y = x / tl.sqrt(tl.sum(x * x, axis=0))
    tl.store(y_at + row + at, y, mask=inside)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        l2_norm[(x.shape[0],)](x, y, x.shape[1], triton.next_power_of_2(x.shape[1]))
        return y
