"""Whole numbers: places of the least of products of matrices."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        return torch.argmin(self.linear(x), 1)


def get_inputs():
    return [torch.rand(512, 64)]


def get_init_inputs():
    return [64]
