"""A loss: one number of many."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, guess, truth):
        return nn.functional.smooth_l1_loss(guess, truth)


def get_inputs():
    return [torch.randn(256, 512), torch.randn(256, 512)]


def get_init_inputs():
    return []
