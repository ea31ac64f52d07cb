"""The mean square of a difference. A sixteenth of the elements has nearly the same mean."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y):
        return torch.mean((x - y) ** 2)


def get_inputs():
    return [torch.rand(65536, 128), torch.rand(65536, 128)]


def get_init_inputs():
    return []
