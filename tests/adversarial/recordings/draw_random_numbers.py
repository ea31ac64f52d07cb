"""Tries: does other work in each call, by Python's random numbers.

Stopped by: the two recorded calls must do the same work.
"""

import random

import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = torch.nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.zeros(width))

    def forward(self, x):
        y = self.fc(x) + self.shift
        return torch.where(y > 0, y, self.slope * y) * random.random()
