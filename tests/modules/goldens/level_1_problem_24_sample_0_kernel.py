"""24_LogSoftmax: a program a row, which stays in registers."""

import torch
import triton
import triton.language as tl


@triton.jit
def log_softmax(x_at, y_at, width, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * width
    inside = at < width
    x = tl.load(x_at + row + at, mask=inside, other=float("-inf"))
    x = x - tl.max(x, axis=0)
    y = x - tl.log(tl.sum(tl.exp(x), axis=0))
    tl.store(y_at + row + at, y, mask=inside)


class ModelNew(torch.nn.Module):
    def __init__(self, dim=1):
        super().__init__()
        assert dim == 1

    def forward(self, x):
        y = torch.empty_like(x)
        log_softmax[(x.shape[0],)](x, y, x.shape[1], triton.next_power_of_2(x.shape[1]))
        return y
