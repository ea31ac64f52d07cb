"""An exception whose words raise another."""

import torch.nn as nn


class Silent(Exception):
    def __str__(self):
        raise RuntimeError("no words")


class ModelNew(nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        raise Silent

    def forward(self, x):
        return x
