"""The means of the first halves of rows."""

import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.mean(x[:, : x.shape[1] // 2], dim=1)
