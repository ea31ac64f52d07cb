"""Nothing that the reference's parameters could be bound to."""

import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()

    def forward(self, x):
        return x
