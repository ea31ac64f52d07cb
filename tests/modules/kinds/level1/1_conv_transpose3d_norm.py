"""A transposed convolution over volumes, normalised by batch, then averaged."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.up = nn.ConvTranspose3d(channels, 2 * channels, 3, stride=2, padding=1)
        self.norm = nn.BatchNorm3d(2 * channels)
        self.pool = nn.AvgPool3d(2)

    def forward(self, x):
        return self.pool(self.norm(self.up(x)))


def get_inputs():
    return [torch.rand(4, 3, 6, 8, 8)]


def get_init_inputs():
    return [3]
