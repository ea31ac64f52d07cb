"""Tries: takes another path for some values of its inputs.

Stopped by: a value that is read back ends the recording, because a plan has one path.
"""

import torch


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
