"""Records recurrent layers: calls of lstm, gru and rnn become calls of torch's operator for cuDNN's layers.

Before torch calls that operator, it asks cuDNN how the weights are packed, which needs a device. So these functions
call the operator without packed weights, as torch does for weights that are not packed. The operator then packs them in
each call. hone gives a module new weights in each call, so they are never packed in a process either.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch

from recording_driver import NotWhole

MODES = {"rnn_relu": 0, "rnn_tanh": 1, "lstm": 2, "gru": 3}  # cuDNN's numbers
LSTM = MODES["lstm"]


def form_of_recurrent(
    x: Any,
    _weight: Any,
    _weight_stride: Any,
    _packed: Any,
    hx: Any,
    cx: Any,
    _mode: Any,
    hidden_size: int,
    proj_size: int,
    _layers: Any,
    batch_first: bool,
    _dropout: Any,
    _train: Any,
    bidirectional: bool,
    *_rest: Any,
) -> list[Any]:
    """The results of _cudnn_rnn: outputs, both states, and two that nothing reads and that are empty here.

    In memory, the axis of time comes first, as cuDNN has it.
    """
    time_first = x.transpose(0, 1) if batch_first else x
    outputs = x.new_empty((*time_first.shape[:2], (proj_size or hidden_size) * (2 if bidirectional else 1)))
    empty = x.new_empty((0,))
    return [
        outputs.transpose(0, 1) if batch_first else outputs,
        torch.empty_like(hx, memory_format=torch.contiguous_format),
        empty if cx is None else torch.empty_like(cx, memory_format=torch.contiguous_format),
        empty,
        empty,
    ]


class RecurrentLayers:
    """Replaces the functions that call cuDNN before the operator does."""

    def __init__(self) -> None:
        self.library = torch.library.Library("aten", "IMPL", "CUDA")  # lives as long as the replacements

    def install(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns that a kernel is replaced
            for name, mode in MODES.items():
                self.library.impl(f"{name}.input", self.layer_of(name, mode), "CUDA")
            self.library.impl("_cudnn_rnn_flatten_weight", lambda weights, *_: weights[0].new_empty((0,)), "CUDA")

    def layer_of(self, name: str, mode: int) -> Any:
        overload = getattr(torch.ops.aten, name).input

        def layer(
            x: Any,
            hx: Any,
            weights: Any,
            has_biases: bool,
            layers: int,
            dropout: float,
            train: bool,
            bidirectional: bool,
            batch_first: bool,
        ) -> Any:
            if not torch.cudnn_is_acceptable(x):
                return overload.decompose(
                    x, hx, weights, has_biases, layers, dropout, train, bidirectional, batch_first
                )
            if train and dropout > 0:
                raise NotWhole(f"the dropout of {name} draws random numbers")
            hidden, cell = hx if mode == LSTM else (hx, None)
            size, projected = hidden.size(2), 0
            if cell is not None and cell.size(2) != size:
                size, projected = cell.size(2), size
            count = 2 + (2 if has_biases else 0) + (1 if projected else 0)
            y, hy, cy, *_ = torch.ops.aten._cudnn_rnn(
                x, weights, count, None, hidden, cell, mode, size, projected, layers, batch_first, 0.0, train,
                bidirectional, [], None,
            )  # fmt: skip
            return (y, hy, cy) if mode == LSTM else (y, hy)

        return layer
