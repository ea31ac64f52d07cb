"""Tries: replaces the recorder's last function, so that other bytes become the plan.

Stopped by: the host checks the plan's file.
"""

import sys

import torch

sys.modules["recording_driver"].DRIVER.finish = lambda: b"hone-recorded-plan-1\n" + b"\x80"


class ModelNew(torch.nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = torch.nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.zeros(width))

    def forward(self, x):
        y = self.fc(x) + self.shift
        return torch.where(y > 0, y, self.slope * y)
