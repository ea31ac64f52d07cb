"""Tries: calls an operator of a vendor's library that is not on the list.

Stopped by: the recording driver has no private tables for such a library, so that the call fails.
"""

import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = torch.nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.zeros(width))

    def forward(self, x):
        y = self.fc(x) + self.shift
        torch.linalg.cholesky(torch.eye(16, device=x.device))
        return torch.where(y > 0, y, self.slope * y)
