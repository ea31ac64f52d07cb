"""Tries: begins the recorded call after its work, so that the work belongs to the setup, which is not timed.

Stopped by: no step of the setup may use a tensor of the task.
"""

import sys

import torch

DRIVER = sys.modules["recording_driver"].DRIVER


class ModelNew(torch.nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = torch.nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.zeros(width))

    def forward(self, x):
        y = self.fc(x) + self.shift
        y = torch.where(y > 0, y, self.slope * y)
        DRIVER.run_begin()
        return y.clone()
