"""Right, and changes torch for all that come after it."""

import torch

torch.backends.cudnn.benchmark = True


class ModelNew(torch.nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = torch.nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.zeros(width))

    def forward(self, x):
        y = self.fc(x) + self.shift
        return torch.where(y > 0, y, self.slope * y)
