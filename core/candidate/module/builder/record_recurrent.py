"""Records recurrent layers: calls of lstm, gru and rnn become calls of torch's operator for cuDNN's layers.

Before torch calls that operator, it asks cuDNN how the weights are packed, which needs a device. The replacements
call the operator without packed weights, as torch does if a module's weights are not packed. The operator then packs
them in each call. A module in a process of its own does the same, because hone gives it new weights in each call.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch

from recording_driver import NotWhole

MODES = {"rnn_relu": 0, "rnn_tanh": 1, "lstm": 2, "gru": 3}  # values of cuDNN's cudnnRNNMode_t
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
    batch_sizes: Any,
    _dropout_state: Any,
) -> list[Any]:
    """The results of _cudnn_rnn: outputs, both states, and None for each that torch itself does not use.

    In memory, the time axis is the first one of the outputs, as in cuDNN's layout.
    """
    if batch_sizes:
        raise NotWhole("the input of a recurrent layer is a packed sequence")
    time_first = x.transpose(0, 1) if batch_first else x
    outputs = x.new_empty((*time_first.shape[:2], (proj_size or hidden_size) * (2 if bidirectional else 1)))
    return [
        outputs.transpose(0, 1) if batch_first else outputs,
        torch.empty_like(hx, memory_format=torch.contiguous_format),
        None if cx is None else torch.empty_like(cx, memory_format=torch.contiguous_format),
        None,
        None,
    ]


def layer_of(name: str, mode: int) -> Callable[..., Any]:
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
        if train and dropout > 0 and layers > 1:
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


def packed_layer_of(name: str) -> Callable[..., Any]:
    def layer(*_: Any) -> Any:
        raise NotWhole(f"the input of {name} is a packed sequence")

    return layer


class RecurrentLayers:
    """Replaces the functions that call cuDNN before the operator does."""

    def __init__(self) -> None:
        self.library = torch.library.Library("aten", "IMPL", "CUDA")  # its end removes the replacements

    def install(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns that a kernel is replaced
            for name, mode in MODES.items():
                self.replace(name, "input", layer_of(name, mode))
                self.replace(name, "data", packed_layer_of(name))
            self.library.impl("_cudnn_rnn_flatten_weight", lambda *_: torch.empty(0, device="meta"), "CUDA")

    def replace(self, name: str, overload: str, recorded: Callable[..., Any]) -> None:
        """`recorded` replaces the overload, except if torch does not use cuDNN for the input."""
        itself = getattr(getattr(torch.ops.aten, name), overload)

        def layer(x: Any, *rest: Any) -> Any:
            if torch.cudnn_is_acceptable(x):
                return recorded(x, *rest)
            # decompose() would instead run a version for torch's compiler.
            return itself._op_dk(torch._C.DispatchKey.CompositeImplicitAutograd, x, *rest)

        self.library.impl(f"{name}.{overload}", layer, "CUDA")
