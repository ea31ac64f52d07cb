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


class Variation:
    """Changes the distribution of tensors by secret amounts, so that no answer follows from the distribution alone.

    Tensors are scaled down, and tensors of one shape are mixed. Some stay as they are, never all. Values keep their
    sign and stay within their bounds.
    """

    def __init__(self, shapes: list[torch.Size]) -> None:
        pairs = [(i, j) for i in range(len(shapes)) for j in range(i) if shapes[i] == shapes[j]]
        draws = iter(torch.rand(2 * (len(pairs) + len(shapes) + 1)).tolist())  # one call: each takes microseconds
        mixed, scaled = some_of(pairs, draws), some_of(range(len(shapes)), draws)
        self.mixes: list[dict[int, float]] = []  # for each tensor: weights of earlier tensors
        self.scales: list[float] = []  # for each tensor; applied after mixing
        for i in range(len(shapes)):
            self.mixes.append({j: 0.5 * next(draws) for j in range(i) if (i, j) in mixed})
            self.scales.append(0.25 + 0.75 * next(draws) if i in scaled else 1.0)

    def take_scales(self) -> list[float]:
        """Returns scales for the caller to apply; apply() then skips them. If tensors are mixed, all are 1."""
        if any(self.mixes):
            return [1.0] * len(self.scales)
        taken, self.scales = self.scales, [1.0] * len(self.scales)
        return taken

    def apply(self, floats: list[torch.Tensor]) -> None:
        """Mixes and scales the tensors in place."""
        for tensor, mixes, scale in zip(floats, self.mixes, self.scales, strict=True):
            for j, weight in mixes.items():
                tensor.lerp_(floats[j].to(tensor.dtype), weight)
            if scale != 1:
                tensor.mul_(scale)


def some_of(things: Sequence[T], draws: Iterator[float]) -> set[T]:
    """About three of four of the things, and at least one."""
    sure = int(next(draws) * len(things))
    return {thing for at, thing in enumerate(things) if next(draws) < 0.75 or at == sure}
