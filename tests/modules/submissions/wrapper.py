"""Honest: a Triton kernel in a function that is given inputs, weights by name and the constructor's values."""

import torch
import triton
import triton.language as tl


@triton.jit
def layer(x, weight, bias, shift, out, slope, WIDTH: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, WIDTH)
    given = tl.load(x + row * WIDTH + columns)
    matrix = tl.load(weight + columns[:, None] * WIDTH + columns[None, :])
    y = tl.sum(matrix * given[None, :], axis=1) + tl.load(bias + columns) + tl.load(shift + columns)
    tl.store(out + row * WIDTH + columns, tl.where(y > 0, y, slope * y))


def triton_kernel_wrapper(x, weight, bias, shift, slope):
    out = torch.empty_like(x)
    layer[(x.shape[0],)](x, weight, bias, shift, out, slope, x.shape[1])
    return out
