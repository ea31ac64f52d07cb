"""After linear/reference.py: its layer, so large that it takes a device ten milliseconds."""

import torch


def get_inputs():
    return [torch.randn(16384, 4096)]


def get_init_inputs():
    return [4096]
