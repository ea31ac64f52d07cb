"""Comes after go_on_between, and says whether that did."""

import sys
import time

import torch

LEFT = sys.modules.get("left_behind")
if LEFT is not None:
    passed_ms = 1e3 * (time.monotonic() - LEFT.last_call)
    if LEFT.turns > passed_ms / 2:
        raise RuntimeError("it went on between two submissions")


class ModelNew(torch.nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = torch.nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.zeros(width))

    def forward(self, x):
        y = self.fc(x) + self.shift
        return torch.where(y > 0, y, self.slope * y)
