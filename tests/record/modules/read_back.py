"""Reads a value back."""

import torch


class ModelNew(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.sum().item() > 0 else x


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(64)]


def get_init_inputs() -> list[int]:
    return []
