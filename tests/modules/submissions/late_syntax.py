"""Parses, and does not compile: at line 8."""

import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        break
