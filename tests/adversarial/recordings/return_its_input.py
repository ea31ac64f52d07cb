"""Tries: returns a view of its input, so that the output would be the input's memory.

Stopped by: an output that the call did not allocate is copied to the task's tensor.
"""

import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = torch.nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.zeros(width))

    def forward(self, x):
        return x.view(8, 16)
