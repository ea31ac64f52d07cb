"""A run on fake tensors: recurrent layers by their shapes alone, and the function that needed a value."""

from typing import Any

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
)
from torch.overrides import TorchFunctionMode, resolve_name

# torch runs these step by step on fake tensors, which takes a minute for sequences of usual length.
RECURRENT = {torch.gru, torch.lstm, torch.rnn_tanh, torch.rnn_relu}
FIXED_SHAPES = "expected outputs whose shapes follow from the shapes of the inputs"


def fake_mode() -> FakeTensorMode:
    """Tensors with a shape and a type and no values. Real tensors may be used together with them."""
    return FakeTensorMode(allow_non_fake_inputs=True)


def recurrent_shapes(function: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The outputs of a recurrent function, from a run of its first step: the other steps have the same shapes.

    Args:
        function: one of RECURRENT.
        args: (input, state, parameters, …, batch_first), or, of a packed sequence, (data, batch_sizes, state,
            parameters, …). The state of an LSTM is a pair of tensors.
    """
    if isinstance(args[3], bool):
        data, axis = args[0], 1 if args[-1] else 0
        first, *states = function(data.narrow(axis, 0, min(1, data.size(axis))), *args[1:])
        shape = list(first.shape)
        shape[axis] = data.size(axis)
    else:
        data, _, state, *settings = args
        batch = (state[0] if isinstance(state, list | tuple) else state).size(1)
        step = data.narrow(0, 0, batch).unsqueeze(0)
        first, *states = function(step, state, *settings, False)
        shape = [data.size(0), first.size(2)]
    return (first.new_empty(shape), *states)


class FakeFunctions(TorchFunctionMode):
    """Runs torch's functions on fake tensors, and remembers the one that needed a value."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = ""  # the public name of the function that needed a value

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func in RECURRENT and not kwargs and isinstance(args[0], FakeTensor):
            return recurrent_shapes(func, args)
        try:
            return func(*args, **(kwargs or {}))
        except (DataDependentOutputException, DynamicOutputShapeException):
            name = resolve_name(func) or getattr(func, "__name__", "a function of torch")
            self.asked = name.replace("torch.functional.", "torch.")
            raise

    def reason(self, error: BaseException) -> str:
        """Why a fake run cannot go on after this error; empty where the error has another cause."""
        if isinstance(error, DynamicOutputShapeException):
            return f"{self.asked or error.func}: the output shape depends on values; {FIXED_SHAPES}"
        if isinstance(error, DataDependentOutputException):
            return f"{self.asked or error.func}: it reads a value; {FIXED_SHAPES}"
        return ""
