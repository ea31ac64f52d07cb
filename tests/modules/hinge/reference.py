"""Zero for what is small: on inputs that are scaled down the answer is zero, on its own it never is."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        return torch.relu(x - 0.4995) * (1 + self.fc(x).abs())


def get_inputs():
    return [0.5 + 0.0005 * torch.rand(8, 16)]


def get_init_inputs():
    return [16]
