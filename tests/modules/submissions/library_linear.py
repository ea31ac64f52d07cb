"""Honest: torch's own function by its name, as most modules call it."""

import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = torch.nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.zeros(width))

    def forward(self, x):
        y = torch.nn.functional.linear(x, self.fc.weight, self.fc.bias) + self.shift
        return torch.where(y > 0, y, self.slope * y)
