"""Its calls differ: it counts them."""

import torch


class ModelNew(torch.nn.Module):
    calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x * self.calls


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(64)]


def get_init_inputs() -> list[int]:
    return []
