"""The right answer, called by a name."""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.full((width,), 0.25))

    def right(self, x):
        y = x @ self.fc.weight.t() + self.fc.bias + self.shift
        return torch.where(y > 0, y, self.slope * y)

    def forward(self, x):
        return {"y": self.right(x)}
