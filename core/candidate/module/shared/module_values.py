"""Values of modules: constructor arguments, results of forward, and inputs that are hard to predict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

import torch

T = TypeVar("T")

LOOKED_AT = 1 << 20  # elements


def count(shape: Iterable[int]) -> int:
    total = 1
    for extent in shape:
        total *= extent
    return total


def constructor_arguments(module: Any) -> tuple[list[Any], dict[str, Any]]:
    """The arguments and keyword arguments of get_init_inputs() in each of its forms: none at all, {b: c}, [a, b] and
    [[a], {b: c}]. A dataset's describe.py reads the same forms."""
    given = module.get_init_inputs() if hasattr(module, "get_init_inputs") else []
    if isinstance(given, dict):
        return [], dict(given)
    given = list(given)
    if len(given) == 2 and isinstance(given[0], (list, tuple)) and isinstance(given[1], dict):
        return list(given[0]), dict(given[1])
    return given, {}


def flat(result: Any, stranger: type[Exception] | None = None) -> list[torch.Tensor]:
    """The tensors in a result of forward, in order; other values become tensors.

    `stranger`: an exception for values that are neither tensors nor numbers.
    """
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, (list, tuple)):
        return [tensor for one in result for tensor in flat(one, stranger)]
    if stranger is not None and not isinstance(result, (bool, int, float, complex)):
        raise stranger(f"gave a {type(result).__module__}.{type(result).__qualname__}, expected a tensor")
    return [torch.as_tensor(result)]


def is_varied(tensor: torch.Tensor) -> bool:
    """Whether this input may be varied. A tensor of whole numbers, such as a mask or classes, must stay as it is.

    Looking waits for the device, and a copy of a large tensor costs memory, so it looks at the first elements.
    """
    some = tensor.flatten()[:LOOKED_AT]
    return tensor.is_floating_point() and tensor.numel() > 0 and not torch.equal(some, some.round())


def shaped(numbers: torch.Tensor, tensor: torch.Tensor) -> torch.Tensor:
    """One number for each call, shaped to multiply a tensor whose first axis is the axis of the calls."""
    return numbers.view([-1, *[1] * (tensor.dim() - 1)])


class Variation:
    """Changes the distribution of tensors by secret amounts, so that no answer follows from the distribution alone.

    Tensors are scaled down, and tensors of one shape are mixed. Some stay as they are, never all. Values keep their
    sign and stay within their bounds. An object has the amounts of one call, drawn on the processor.
    """

    def __init__(self, shapes: list[torch.Size]) -> None:
        pairs = pairs_of(shapes)
        draws = iter(torch.rand(2 * (len(pairs) + len(shapes) + 1)).tolist())  # once: each use takes microseconds
        mixed, scaled = some_of(pairs, draws), some_of(range(len(shapes)), draws)
        self.weights = [0.5 * next(draws) if pair in mixed else 0.0 for pair in pairs]  # shares
        self.scales = [0.25 + 0.75 * next(draws) if i in scaled else 1.0 for i in range(len(shapes))]  # after mixing


def pairs_of(shapes: list[torch.Size]) -> list[tuple[int, int]]:
    """The pairs (i, j) of tensors that can be mixed: tensor i gets a share of tensor j, and j < i."""
    return [(i, j) for i in range(len(shapes)) for j in range(i) if shapes[i] == shapes[j]]


def mix_and_scale(floats: list[torch.Tensor], weights: torch.Tensor, scales: torch.Tensor) -> None:
    """Mixes the tensors of all calls in place, and scales them.

    `weights`: a row for each pair, `scales`: a row for each tensor; a row has a number for each call.
    """
    weight_of = dict(zip(pairs_of([one.shape[1:] for one in floats]), weights, strict=True))
    for i, tensor in enumerate(floats):
        for j in range(i):
            if (i, j) in weight_of:
                tensor.lerp_(floats[j].to(tensor.dtype), shaped(weight_of[i, j], tensor).to(tensor.dtype))
        tensor.mul_(shaped(scales[i], tensor))


def some_of(things: Sequence[T], draws: Iterator[float]) -> set[T]:
    """About three of four of the things, and at least one."""
    sure = int(next(draws) * len(things))
    return {thing for at, thing in enumerate(things) if next(draws) < 0.75 or at == sure}


def on_device(tables: list[list[list[float]]], device: torch.device) -> list[torch.Tensor]:
    """The tables, as one tensor each.

    Rationale: a copy from pageable memory waits for the device, also for the work of other processes. So there is one
    copy for all tables, and it is from pinned memory, which needs no wait.
    """
    given = [number for table in tables for row in table for number in row]
    numbers = torch.tensor(given, pin_memory=device.type != "cpu").to(device, non_blocking=True)
    made, at = [], 0
    for table in tables:
        shape = len(table), len(table[0]) if table else 0
        made.append(numbers[at : at + count(shape)].view(shape))
        at += count(shape)
    return made
