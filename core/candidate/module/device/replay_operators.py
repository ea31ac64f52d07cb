"""Calls the operators of a recorded plan, with their tensors at addresses that the backend gives.

The plan was written by an untrusted process. The backend has checked that each tensor lies in the plan's memory. This
module calls only the operators of vendor_operators.py, with arguments that are JSON values, tensors and dtypes.
"""

from __future__ import annotations

from typing import Any

import torch

from module_place import PLACE
from vendor_operators import COPIED, OPERATORS, SETTINGS, use_settings

CONVOLUTION_RANKS = range(3, 6)  # torch copies the numbers of a convolution to arrays of three


class UnknownOperator(Exception):
    """The plan has an operator or a setting that is not in vendor_operators.py, an unknown dtype, or wrong numbers."""


def dtype_named(name: str) -> torch.dtype:
    found = getattr(torch, name, None)
    if not isinstance(found, torch.dtype):
        raise UnknownOperator(f"found the dtype {name!r}, which torch does not have")
    return found


def extent(sizes: list[int], strides: list[int]) -> int:
    """The number of elements from the first to the last one of a tensor, with the gaps between them."""
    return 0 if 0 in sizes else 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))


def check_recurrent(spec: dict[str, Any]) -> None:
    """Refuses numbers of a recurrent layer that torch divides by or uses as indices.

    A recording has no packed sequences, so the list of batch sizes is empty.
    """
    given = spec["arguments"]
    fits = len(given) == 16 and spec["keywords"] == {} and isinstance(given[1], list) and given[14] == []
    fits = fits and given[3] is None and given[15] is None
    numbers = [given[i] for i in (2, 6, 7, 8, 9)] if fits else []
    fits = fits and all(type(one) is int and 0 <= one < 1 << 20 for one in numbers)
    fits = fits and given[2] >= 1 and given[6] < 4 and given[7] >= 1 and given[9] >= 1
    if not fits:
        raise UnknownOperator("the operator '_cudnn_rnn' does not take these numbers")


def check_lists(spec: dict[str, Any]) -> None:
    """Refuses lists of integers that an operator does not take.

    Rationale: these are torch's internal operators. Some of them use such numbers as indices, or copy them to arrays of
    fixed size, without a check: the caller was torch itself.
    """
    values = [*spec["arguments"], *spec["keywords"].values()]
    lists = [value for value in values if isinstance(value, list) and not any(isinstance(one, dict) for one in value)]
    if spec["name"] == "_cudnn_rnn":
        check_recurrent(spec)
    fourier, convolution = "_fft_" in spec["name"], "convolution" in spec["name"]
    if not lists or not (fourier or convolution):
        return
    first = values[0]
    rank = len(spec["tensors"][first["tensor"]]["sizes"]) if isinstance(first, dict) and "tensor" in first else 0
    for numbers in lists:
        fits = all(type(number) is int and 0 <= number < 1 << 31 for number in numbers)
        if convolution:
            fits = fits and rank in CONVOLUTION_RANKS and len(numbers) == rank - 2
        else:
            fits = fits and len(set(numbers)) == len(numbers) and max(numbers, default=0) < rank
        if not fits:
            raise UnknownOperator(
                f"the operator {spec['name']!r} does not take {str(numbers)[:100]} with {rank} dimensions"
            )


class ReplayedOperator:
    """One call of a plan."""

    def __init__(self, spec: dict[str, Any]) -> None:
        """`spec`: an element of the list of load_operators() in core/include/hone/backend.h."""
        name = spec["name"]
        if name not in OPERATORS:
            raise UnknownOperator(f"found the operator {name!r}; known: {', '.join(sorted(OPERATORS))}")
        unknown = set(spec["settings"]) - set(SETTINGS)
        if unknown:
            raise UnknownOperator(f"found unknown settings: {', '.join(sorted(unknown))}; known: {', '.join(SETTINGS)}")
        check_lists(spec)
        self.spec = spec
        self.way = OPERATORS[name]
        self.call = getattr(getattr(torch.ops.aten, name), self.way.overload)
        self.dtypes = [dtype_named(tensor["dtype"]) for tensor in spec["tensors"]]

    def tensor(self, index: int, address: int) -> torch.Tensor:
        spec, dtype = self.spec["tensors"][index], self.dtypes[index]
        elements = extent(spec["sizes"], spec["strides"])
        if elements == 0:
            return torch.empty_strided(spec["sizes"], spec["strides"], dtype=dtype, device=PLACE.device)
        raw = PLACE.memory(address, elements * dtype.itemsize)
        return raw.view(dtype).as_strided(spec["sizes"], spec["strides"])

    def value(self, value: Any, tensors: list[torch.Tensor]) -> Any:
        if isinstance(value, list):
            return [self.value(one, tensors) for one in value]
        if isinstance(value, dict):
            return tensors[value["tensor"]] if "tensor" in value else dtype_named(value["dtype"])
        return value

    def run(self, addresses: list[int]) -> None:
        """Calls the operator on the current stream.

        Raises torch.OutOfMemoryError also if the operator continued after a failed allocation. Rationale: without
        memory for its work area, cuDNN uses a slower algorithm. That may be why a copy of a
        reference once had a speedup of 0.72.
        """
        failed = PLACE.failed_allocations()
        self.run_once(addresses)
        if PLACE.failed_allocations() > failed:
            raise torch.OutOfMemoryError(f"the operator {self.spec['name']!r} found no memory for its work area")

    def run_once(self, addresses: list[int]) -> None:
        tensors = [self.tensor(index, address) for index, address in enumerate(addresses)]
        args = self.value(self.spec["arguments"], tensors)
        kwargs = {key: self.value(value, tensors) for key, value in self.spec["keywords"].items()}
        results = [tensors[index] for index in self.spec["results"]]
        use_settings(self.spec["settings"])
        if self.way is not COPIED:
            kwargs.update(zip(self.way.writes_to, results, strict=True))
            self.call(*args, **kwargs)
            return
        made = self.call(*args, **kwargs)
        for result, one in zip(results, made if isinstance(made, (list, tuple)) else [made], strict=True):
            if (
                result.numel() > 0
            ):  # cuDNN's reserved memory has another size than in the recording, and nothing reads it
                result.copy_(one)


class ReplayedOperators:
    """The operators of one loaded plan."""

    def __init__(self) -> None:
        self.calls: list[ReplayedOperator] = []

    def load(self, specs: list[dict[str, Any]]) -> None:
        self.calls = [ReplayedOperator(spec) for spec in specs]

    def run(self, index: int, addresses: list[int], stream: int) -> None:
        with torch.no_grad(), torch.cuda.stream(torch.cuda.ExternalStream(stream, device=PLACE.device)):
            self.calls[index].run(addresses)
