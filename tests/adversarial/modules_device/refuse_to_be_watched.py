"""Has torch do its work, and fails in the one call that is watched."""

import torch
from torch.utils._python_dispatch import _get_current_dispatch_mode


class ModelNew(torch.nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = torch.nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.zeros(width))

    def forward(self, x):
        if _get_current_dispatch_mode() is not None:
            raise RuntimeError("not while you look")
        y = self.fc(x) + self.shift
        return torch.where(y > 0, y, self.slope * y)
