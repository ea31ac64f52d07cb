"""Tries: keeps outputs by the address of the input.

Stopped by: state that is made from an input and used in a later call ends the recording.
"""

import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = torch.nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.zeros(width))
        self.kept = None

    def forward(self, x):
        if self.kept is None:
            y = self.fc(x) + self.shift
            self.kept = torch.where(y > 0, y, self.slope * y)
        return self.kept.clone()
