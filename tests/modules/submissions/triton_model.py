"""Honest: a module whose forward starts a Triton kernel."""

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def leaky(y, out, slope, COUNT: tl.constexpr):
    at = tl.arange(0, COUNT)
    value = tl.load(y + at)
    tl.store(out + at, tl.where(value > 0, value, slope * value))


class ModelNew(nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.zeros(width))

    def forward(self, x):
        y = self.fc(x) + self.shift
        out = torch.empty_like(y)
        leaky[(1,)](y, out, self.slope, y.numel())
        return out
