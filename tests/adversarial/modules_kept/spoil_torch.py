"""Correct itself, but makes the next submission of its process wrong, and hides the change."""

import sys

import torch

sys.modules["module_state"].State.difference = lambda self: ""
linear = torch.nn.functional.linear
torch.nn.functional.linear = lambda x, *others: linear(x, *others) * 1.5


class ModelNew(torch.nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = torch.nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.zeros(width))

    def forward(self, x):
        y = linear(x, self.fc.weight, self.fc.bias) + self.shift
        return torch.where(y > 0, y, self.slope * y)
