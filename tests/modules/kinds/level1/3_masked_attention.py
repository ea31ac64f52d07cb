"""Causal attention scores, masked with -1e9, and their softmax."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, q, k):
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(later, -1e9)
        return scores, scores.softmax(-1)


def get_inputs():
    return [torch.randn(2, 2, 48, 16), torch.randn(2, 2, 48, 16)]


def get_init_inputs():
    return []
