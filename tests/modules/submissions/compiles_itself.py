"""Honest, with torch.compile in each of the ways that models write it."""

import torch
import torch.nn as nn


@torch.compile(mode="max-autotune", fullgraph=True)
def hinge(y, slope):
    return torch.where(y > 0, y, slope * y)


class ModelNew(nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.full((width,), 0.25))
        self.product = torch.compile(self.linear, dynamic=False, backend="inductor")
        self.compile()

    def linear(self, x):
        return x @ self.fc.weight.t() + self.fc.bias + self.shift

    def forward(self, x):
        return hinge(self.product(x), self.slope)
