"""Tries: computes on the processor and copies the result to the device.

Stopped by: values of the device are read back, which ends the recording.
"""

import torch


class ModelNew(torch.nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = torch.nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.zeros(width))

    def forward(self, x):
        y = x.cpu() @ self.fc.weight.cpu().t() + (self.fc.bias + self.shift).cpu()
        return torch.where(y > 0, y, self.slope * y).to(x.device)
