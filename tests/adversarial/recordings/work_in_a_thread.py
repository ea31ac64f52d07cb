"""Tries: lets a thread do the work after the call.

Stopped by: the thread's steps belong to the recording while it lasts. What comes later is not in the plan.
"""

import threading
import time

import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = torch.nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.zeros(width))

    def forward(self, x):
        out = torch.zeros_like(x)

        def work():
            time.sleep(0.5)
            y = self.fc(x) + self.shift
            out.copy_(torch.where(y > 0, y, self.slope * y))

        threading.Thread(target=work, daemon=True).start()
        return out
