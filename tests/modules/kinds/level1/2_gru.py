"""Two recurrent layers; both results are given."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.gru = nn.GRU(features, hidden, num_layers=2)

    def forward(self, x, h):
        return self.gru(x, h)


def get_inputs():
    return [torch.rand(12, 3, 16), torch.randn(2, 3, 24)]


def get_init_inputs():
    return [16, 24]
