"""Answers that take less work than the reference's, with the error of each, for the admission of a task.

This is trusted code in the reference's process. It computes such answers with the reference itself, from inputs and
parameters of which a part was replaced or left out.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from module_artifact import DTYPES, Places, Spec
from module_phrases import may_lack_memory
from module_place import PLACE
from module_precision import Shortened, error_of, in_fewer_bits, rounded
from module_values import count

if TYPE_CHECKING:
    from module_reference import Reference

Answers = list[torch.Tensor]

SAMPLE_STEP = 16  # a sample is every 16th slice of an axis
CHOICES_MAX = 8  # combinations of axes with the same extent, one axis of each input
CUTS_MAX = 96  # sampled and truncated answers per task
UNUSED_TIMES, UNUSED_ERROR = 4, 1e-7  # parameters matter if the error exceeds 4 times the reference's plus 1e-7
LIMITS = {"clamp", "clamp_min", "clamp_max", "hardtanh", "relu", "threshold"}
REDUCTIONS = {"sum", "mean", "amax", "amin", "prod", "logsumexp"}


def mean_of(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor whose elements are all the mean of the finite ones."""
    wide = tensor.double()
    finite = wide[wide.isfinite()]
    return torch.full_like(wide, float(finite.mean()) if finite.numel() else 0.0)


class Skipped(TorchDispatchMode):
    """Leaves out operators with these names. `used`: whether there was one."""

    def __init__(self, names: set[str]) -> None:
        super().__init__()
        self.names, self.used = names, False

    def __torch_dispatch__(
        self, operator: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = dict(kwargs or {})
        name = operator._schema.name.split("::")[-1].removesuffix("_")
        if name in self.names & LIMITS and args[0].is_floating_point():
            self.used = True
            return args[0]  # without a call: the operator may work in place
        result = operator(*args, **given)
        if name not in self.names or not isinstance(result, torch.Tensor) or not result.is_floating_point():
            return result
        self.used = True
        # A reduction: replace it by its first element; a sum by that times the number of elements.
        first = args[0]
        named = [argument.name for argument in operator._schema.arguments]
        given.update(zip(named, args, strict=False))
        axes = given.get("dim")
        axes = [axes] if isinstance(axes, int) else list(axes or range(first.dim()))
        times = 1
        for axis in axes:
            times *= first.shape[axis]
            first = first.narrow(axis, 0, 1)
        return (first * times if name == "sum" else first).reshape(result.shape).to(result.dtype)


def sampled(tensor: torch.Tensor, axis: int) -> torch.Tensor:
    """Repeats every 16th slice in place of those that follow it."""
    step = min(SAMPLE_STEP, tensor.shape[axis] // 2)
    places = torch.arange(tensor.shape[axis], device=tensor.device) // step * step
    return tensor.index_select(axis, places)


def truncated(tensor: torch.Tensor, axis: int, parts: int) -> torch.Tensor:
    """Repeats the first half or quarter of an axis."""
    places = torch.arange(tensor.shape[axis], device=tensor.device) % (tensor.shape[axis] // parts)
    return tensor.index_select(axis, places)


def without_the_rest(tensor: torch.Tensor, axis: int) -> torch.Tensor:
    """Zeros after the first half of an axis."""
    half = tensor.shape[axis] // 2
    cut = tensor.clone()
    cut.narrow(axis, half, tensor.shape[axis] - half).zero_()
    return cut


CUTS: dict[str, Callable[[torch.Tensor, int], torch.Tensor]] = {
    "every 16th slice": sampled,
    "the first half": lambda tensor, axis: truncated(tensor, axis, 2),
    "the first quarter": lambda tensor, axis: truncated(tensor, axis, 4),
    "zeros after the first half": without_the_rest,
}


def axes_to_cut(tensors: list[torch.Tensor]) -> Iterator[dict[int, int]]:
    """Each axis of each input, and axes of the same extent in several inputs together, as {input: axis}."""
    by_extent: dict[int, dict[int, list[int]]] = {}
    for number, tensor in enumerate(tensors):
        for axis, extent in enumerate(tensor.shape):
            if extent >= 4:
                by_extent.setdefault(extent, {}).setdefault(number, []).append(axis)
    for inputs in by_extent.values():
        for number, axes in inputs.items():
            yield from ({number: axis} for axis in axes if tensors[number].is_floating_point())
        if len(inputs) > 1:
            choices = itertools.product(*inputs.values())
            yield from (dict(zip(inputs, axes, strict=True)) for axes in itertools.islice(choices, CHOICES_MAX))


def all_shortcuts(reference: Reference, places: Places, seed: int) -> Iterator[dict[str, Any]]:
    """A report on each shortcut: its name, whether its answer counts as right, and the error of each output."""
    exact = reference.exact_answers(places, seed)
    dtypes = [DTYPES[spec["dtype"]] for spec in reference.meta["outputs"]]

    def report(name: str, answers: Answers, right: bool = False) -> dict[str, Any]:
        errors = [
            rounded(error_of(mine.to(dtype).reshape(truth.shape), truth))
            for mine, truth, dtype in zip(answers, exact, dtypes, strict=True)
        ]
        return {"answer": name, "right": right, "outputs": errors}

    yield report("zeros", [torch.zeros_like(right) for right in exact])
    yield report("ones", [torch.ones_like(right) for right in exact])
    others = reference.answers_to_others(places, seed)
    yield report("a constant", [mean_of(other) for other in others])
    yield report("yesterday's answer", others)
    del others
    tensors = tensors_of(reference, places)
    for number, given in enumerate(tensors):
        if all(given.numel() >= right.numel() for right in exact):
            copies = [given.reshape(-1)[: right.numel()].clone() for right in exact]
            yield report(f"a copy of input {number}", copies)
    for name, answers in cut_answers(reference, places, seed, tensors):
        yield report(name, answers)
    own = report("own", reference.in_own_precision(places, seed))
    for name, answers in answers_without_parameters(reference, places, seed):
        found = report(name, answers)
        if not is_as_exact(found, own):
            yield found
    for name, answers in answers_without_operators(reference, places, seed):
        yield report(name, answers)
    if torch.float32 in dtypes:
        for name, answers in less_precise(reference, places, seed):
            yield report(name, answers)
    if PLACE.device.type == "cpu":
        return  # torch.compile is off there
    try:
        answers = reference.in_own_precision(places, seed, torch.compile(reference.bound()[0]))
    except Exception as error:
        yield {"answer": "compiled", "right": True, "note": f"{type(error).__name__}: {error}"[:200]}
    else:
        yield report("compiled", answers, right=True)


def is_as_exact(found: dict[str, Any], own: dict[str, Any]) -> bool:
    """Whether a report is about as exact as the reference's own: the parameters that were left out change no answer.
    An example is a bias before a normalisation."""
    pairs = zip(found["outputs"], own["outputs"], strict=True)
    return all(mine <= UNUSED_TIMES * right + UNUSED_ERROR for one in pairs for mine, right in zip(*one, strict=True))


def tensors_of(reference: Reference, places: Places) -> list[torch.Tensor]:
    """The input tensors of a call."""
    tensors = []

    def note(tensor: torch.Tensor) -> torch.Tensor:
        tensors.append(tensor)
        return tensor

    reference.inputs(places, note)
    return tensors


def answers_or_none(compute: Callable[[], Answers]) -> Answers | None:
    """The answers, or None if the reference does not accept such inputs."""
    try:
        return compute()
    except (RuntimeError, ValueError, IndexError, torch.linalg.LinAlgError) as error:
        if may_lack_memory(error):
            raise
        return None


def cut_answers(
    reference: Reference, places: Places, seed: int, tensors: list[torch.Tensor]
) -> Iterator[tuple[str, Answers]]:
    """Answers from a part of an axis."""
    ways = itertools.islice(((axes, cut) for axes in axes_to_cut(tensors) for cut in CUTS), CUTS_MAX)
    for axes, cut in ways:
        kept = {number: tensors[number].clone() for number in axes}

        def compute(axes: dict[int, int] = axes, cut: str = cut, kept: dict[int, torch.Tensor] = kept) -> Answers:
            for number, axis in axes.items():
                tensors[number].copy_(CUTS[cut](kept[number], axis))
            return reference.in_own_precision(places, seed)

        try:
            answers = answers_or_none(compute)
        finally:
            for number, tensor in kept.items():
                tensors[number].copy_(tensor)
        if answers is not None:
            where = " and ".join(f"axis {axis} of input {number}" for number, axis in axes.items())
            yield f"{cut} of {where}", answers


def answers_without_parameters(reference: Reference, places: Places, seed: int) -> Iterator[tuple[str, Answers]]:
    """Answers without biases, running means and the like: zeros, or the constructor's value if that is one number."""
    groups: dict[str, list[tuple[Spec, torch.Tensor]]] = {}
    assert reference.base is not None
    made_by_constructor, _ = reference.base
    for parameter in reference.meta["parameters"]:
        size = count(parameter["shape"])
        if not size or not DTYPES[parameter["dtype"]].is_floating_point:
            continue
        base, _ = made_by_constructor[parameter["tensor"]]
        made = base[parameter["at"] : parameter["at"] + size].view(parameter["shape"])
        constant = bool((made == made.reshape(-1)[0]).all())
        if constant or made.dim() < 2:
            value = made if constant else torch.zeros_like(made)
            groups.setdefault(parameter["name"].split(".")[-1], []).append((parameter, value))
    for name, parts in groups.items():
        kept = [(reference.tensor(places, parameter), value) for parameter, value in parts]
        before = [tensor.clone() for tensor, _ in kept]
        try:
            for tensor, value in kept:
                tensor.copy_(value)
            answers = answers_or_none(lambda: reference.in_own_precision(places, seed))
        finally:
            for (tensor, _), value in zip(kept, before, strict=True):
                tensor.copy_(value)
        if answers is not None:
            yield f"without {name}", answers


def answers_without_operators(reference: Reference, places: Places, seed: int) -> Iterator[tuple[str, Answers]]:
    for words, names in (("limits such as clamp and relu", LIMITS), ("sums and other reductions", REDUCTIONS)):
        with Skipped(names) as skipped:
            answers = answers_or_none(lambda: reference.in_own_precision(places, seed))
        if skipped.used and answers is not None:
            yield f"without {words}", answers


def less_precise(reference: Reference, places: Places, seed: int) -> Iterator[tuple[str, Answers]]:
    """Answers of a float32 reference with products in a shorter type; without products, rounded to that type."""
    for name, compute in (("float16", "f16"), ("bfloat16", "bf16")):
        with Shortened({"compute": compute}, allowed=reference.precision()) as lower:
            answers = reference.in_own_precision(places, seed)
        if lower.used:
            yield f"products in {name}", answers
        elif not lower.left:
            own = reference.in_own_precision(places, seed)
            yield f"rounded to {name}", [in_fewer_bits(one, compute) for one in own]
