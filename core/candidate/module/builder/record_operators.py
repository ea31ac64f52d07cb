"""Records calls of torch's operators that use a vendor's library (vendor_operators.py), instead of their kernels."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch

from record_recurrent import form_of_recurrent
from recording_driver import NotWhole, RecordingDriver
from vendor_operators import OPERATORS, settings_now

Shaped = Callable[..., Any]


class Described:
    """The arguments of one call as JSON values. They refer to tensors by an index in `tensors`."""

    def __init__(self) -> None:
        self.tensors: list[dict[str, Any]] = []

    def tensor(self, tensor: torch.Tensor) -> int:
        if tensor.is_conj() or tensor.is_neg():
            raise NotWhole("an argument of an operator is a lazily conjugated or negated tensor")
        self.tensors.append(
            {
                "address": tensor.data_ptr(),
                "dtype": str(tensor.dtype).removeprefix("torch."),
                "sizes": list(tensor.shape),
                "strides": list(tensor.stride()),
            }
        )
        return len(self.tensors) - 1

    def value(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if value.device.type != "cuda":
                raise NotWhole("an argument of an operator is a tensor in CPU memory")
            return {"tensor": self.tensor(value)}
        if isinstance(value, (list, tuple)):
            return [self.value(one) for one in value]
        if isinstance(value, torch.dtype):
            return {"dtype": str(value).removeprefix("torch.")}
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, (torch.device, torch.layout, torch.memory_format)):
            return None
        raise NotWhole(f"an argument of an operator has the unsupported type {type(value).__name__}")


def without_memory(value: Any) -> Any:
    """The value with its tensors on torch's meta device: the same shapes and strides, without memory."""
    if isinstance(value, torch.Tensor):
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")
    return [without_memory(one) for one in value] if isinstance(value, (list, tuple)) else value


def form_of_convolution(
    x: Any, weight: Any, padding: Any, stride: Any, dilation: Any, groups: Any, *_: Any, **__: Any
) -> Any:
    return torch.ops.aten.convolution(x, weight, None, stride, padding, dilation, False, [0] * len(padding), groups)


def form_of_transposed(
    x: Any, weight: Any, padding: Any, output_padding: Any, stride: Any, dilation: Any, groups: Any, *_: Any, **__: Any
) -> Any:
    return torch.ops.aten.convolution(x, weight, None, stride, padding, dilation, True, output_padding, groups)


def form_of_fused(x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: Any) -> Any:
    return torch.ops.aten.convolution(x, weight, bias, stride, padding, dilation, False, [0] * len(padding), groups)


def form_of_fused_sum(x: Any, weight: Any, _: Any, __: Any, bias: Any, *rest: Any) -> Any:
    return form_of_fused(x, weight, bias, *rest)


# Functions that compute the shapes of results of operators that torch cannot run on the meta device.
FORMS: dict[str, Shaped] = {
    "cudnn_convolution": form_of_convolution,
    "cudnn_convolution_transpose": form_of_transposed,
    "cudnn_convolution_relu": form_of_fused,
    "cudnn_convolution_add_relu": form_of_fused_sum,
    "_cudnn_rnn": form_of_recurrent,
}


class OperatorRecorder:
    """Replaces the operators' kernels for CUDA devices."""

    def __init__(self, driver: RecordingDriver) -> None:
        self.driver = driver
        self.library = torch.library.Library("aten", "IMPL", "CUDA")  # lives as long as the replacements

    def install(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns that a kernel is replaced
            for name in OPERATORS:
                self.replace(name, name)
                self.replace(name, f"{name}.out")
                self.replace(name, f"{name}_")  # the in-place form, if there is one

    def replace(self, name: str, full: str) -> None:
        """Replaces the kernel of the overload `full` ("mm.out") of the operator `name`, if there is one."""
        if not hasattr(torch.ops.aten, full.split(".")[0]):
            return
        if not torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{full}", "CUDA"):
            return
        form = FORMS.get(name, getattr(torch.ops.aten, name).default)

        def call(*args: Any, **kwargs: Any) -> Any:
            results = [kwargs.pop(key) for key in list(kwargs) if key.startswith("out")]
            if full.endswith("_"):
                results = [args[0]]
            if not results:
                results = self.allocate(form(*map(without_memory, args), **kwargs))
            elif len(results) == 1 and results[0].numel() == 0:
                results[0].resize_(form(*map(without_memory, args), **kwargs).shape)
            self.record(name, args, kwargs, results)
            return results[0] if len(results) == 1 else tuple(results)

        self.library.impl(full, call, "CUDA")

    def allocate(self, form: Any) -> list[torch.Tensor]:
        forms = form if isinstance(form, (list, tuple)) else [form]
        return [
            torch.empty(0, device="meta")  # a result that must not be used: torch does not copy it to a device
            if one is None
            else torch.empty_strided(one.shape, one.stride(), dtype=one.dtype, device="cuda")
            for one in forms
        ]

    def record(self, name: str, args: Any, kwargs: dict[str, Any], results: list[torch.Tensor]) -> None:
        described = Described()
        call = {
            "name": name,
            "arguments": [described.value(one) for one in args],
            "keywords": {key: described.value(value) for key, value in kwargs.items()},
            "settings": settings_now(),
            "stream": torch.cuda.current_stream().cuda_stream,
            "results": [described.tensor(one) for one in results],
        }
        self.driver.operator({**call, "tensors": described.tensors})
