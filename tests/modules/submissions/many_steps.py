"""The module itself, as it is: right, and slower than its baseline, which is compiled."""

import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)

    def forward(self, x):
        y = self.fc(x)
        for step in range(60):
            y = (y * 1.01 + step / 1000).clamp(-2, 2)
        return y
