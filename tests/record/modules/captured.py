"""Captures a graph."""

import torch


class ModelNew(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = x + 1
        graph.replay()
        return y


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(64)]


def get_init_inputs() -> list[int]:
    return []
