"""Tries: makes the recorder forget why it has no plan, and reads a value back.

Stopped by: the driver keeps the first problem and drops all later steps; it makes no plan.
"""

import sys

import torch

DRIVER = sys.modules["recording_driver"].DRIVER
DRIVER.problem = lambda: ""


class ModelNew(torch.nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = torch.nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.zeros(width))

    def forward(self, x):
        if x.sum().item() > 0:
            return x
        y = self.fc(x) + self.shift
        return torch.where(y > 0, y, self.slope * y)
