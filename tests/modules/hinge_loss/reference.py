"""A hinge loss minus one, for predictions that never reach the hinge. Without the constant 1, missing rows show."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, target):
        return torch.mean(torch.clamp(1 - x * target, min=0)) - 1


def get_inputs():
    return [torch.rand(65536, 16), (torch.rand(16) < 0.9).float() * 2 - 1]


def get_init_inputs():
    return []
