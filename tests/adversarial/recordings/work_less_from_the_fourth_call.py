"""Tries: computes in the calls of its recording and nothing later.

Stopped by: no Python runs later: the plan does in each call what the recorded one did.
"""

import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = torch.nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.zeros(width))
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        if self.calls > 3:
            return self.kept
        y = self.fc(x) + self.shift
        self.kept = torch.where(y > 0, y, self.slope * y)
        return self.kept
