"""A layer that takes a device ten milliseconds."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.full((width,), 0.25))

    def forward(self, x):
        y = self.fc(x) + self.shift
        return torch.where(y > 0, y, self.slope * y)


def get_inputs():
    return [torch.randn(16384, 4096)]


def get_init_inputs():
    return [4096]
