"""Honest: parameters under other names, which are bound by their order and shape."""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.register_buffer("moved", torch.zeros(width))
        self.matrix = nn.Parameter(torch.zeros(width, width))
        self.offset = nn.Parameter(torch.zeros(width))
        self.slope = slope

    def forward(self, x):
        y = torch.addmm(self.offset + self.moved, x, self.matrix.t())
        return torch.maximum(y, self.slope * y)
