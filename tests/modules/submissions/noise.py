"""Honest: draws what the reference draws, from the same seed. For the task noisy."""

import torch
import torch.nn as nn

if hasattr(torch, "randn_like"):

    class ModelNew(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.fc = nn.Linear(width, width)

        def forward(self, x):
            return torch.randn_like(x) + x @ self.fc.weight.t() + self.fc.bias
