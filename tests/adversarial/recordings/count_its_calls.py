"""Tries: does other work in each call, by a count.

Stopped by: the two recorded calls must do the same work.
"""

import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = torch.nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.zeros(width))
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        y = self.fc(x) + self.shift
        return torch.where(y > 0, y, self.slope * y) * self.calls
