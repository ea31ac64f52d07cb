"""Draws numbers in forward, and others in double: the answers are those of its own precision."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return self.fc(x) + torch.randn_like(x)


def get_inputs():
    return [torch.randn(8, 16)]


def get_init_inputs():
    return [[16], {}]
