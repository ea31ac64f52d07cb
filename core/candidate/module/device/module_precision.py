"""The error of a reference: the precision that it is timed in, compared with its form in double.

The judge computes a task's tolerance from this report (core/judge/reference_error.hpp has the formula and the units).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

CHUNK = 1 << 24  # elements compared at once: bounds the memory of a comparison
SAMPLE = 1 << 14  # elements that decide whether a tensor has several orders of magnitude
SMALL_SHARE, WIDE_RATIO, WIDE_SCALE = 0.02, 1e-5, 8  # as in core/judge/compare.cpp
FAR, FAR_SHARE = 0.02, 0.001  # with a larger share of far elements, the double form computes something else
BITS = {"tf32": 10, "f16": 10, "bf16": 7}  # explicit bits of the significand

# Operators that tensor cores compute, with the arguments that they take in fewer bits.
CONVOLUTIONS = {
    **dict.fromkeys(("convolution", "_convolution", "cudnn_convolution", "cudnn_convolution_transpose"), (0, 1)),
    "_cudnn_rnn": (0, 1, 3),  # torch switches these together with convolutions
}
PRODUCTS = {
    **dict.fromkeys(("mm", "bmm", "mv", "dot", "matmul", "linear"), (0, 1)),
    **dict.fromkeys(("addmm", "baddbmm", "addbmm", "addmv"), (1, 2)),
    **dict.fromkeys(
        (
            "scaled_dot_product_attention",
            "_scaled_dot_product_flash_attention",
            "_scaled_dot_product_efficient_attention",
            "_scaled_dot_product_cudnn_attention",
            "_scaled_dot_product_attention_math",
        ),
        (0, 1, 2),
    ),
}


def shortened(value: Any, bits: int, cut: bool) -> Any:
    """Floats with a significand of `bits` bits. `cut`: truncated, as hardware does; otherwise rounded."""
    if isinstance(value, (list, tuple)):
        return type(value)(shortened(one, bits, cut) for one in value)
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return value
    drop = 23 - bits
    whole = value.float().view(torch.int32)
    if not cut:
        whole = whole + ((1 << (drop - 1)) - 1) + ((whole >> drop) & 1)
    return ((whole >> drop) << drop).view(torch.float32).to(value.dtype)


def in_fewer_bits(value: Any, compute: str) -> Any:
    """The value rounded to the bits of a type: an answer that was computed or stored in that type."""
    return shortened(value, BITS[compute], cut=False)


def operators_of(precision: dict[str, Any]) -> dict[str, int]:
    """The operators whose operands may have fewer bits than a float32, with that number of bits."""
    compute = precision.get("compute", "f32")
    if compute != "f32":
        return dict.fromkeys(CONVOLUTIONS | PRODUCTS, BITS[compute])
    found = CONVOLUTIONS if precision.get("conv_tf32") else {}
    return dict.fromkeys(found | (PRODUCTS if precision.get("matmul_tf32") else {}), BITS["tf32"])


class Shortened(TorchDispatchMode):
    """Computes matrix products and convolutions with operands of fewer bits, and everything else unchanged.

    `precision`: module.json's; `allowed`: operators within this precision stay unchanged.
    `used`, `left`: whether an operator was changed, and whether one was left unchanged.
    """

    def __init__(self, precision: dict[str, Any], allowed: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.cut = precision.get("compute", "f32") == "f32"  # tensor cores truncate; conversions to a type round
        fewest = operators_of(allowed or {})
        wanted = operators_of(precision)
        self.operators = {name: bits for name, bits in wanted.items() if fewest.get(name, bits + 1) > bits}
        self.allowed = set(wanted) - set(self.operators)
        self.used = self.left = False

    def __torch_dispatch__(
        self, operator: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = operator._schema.name.split("::")[-1]
        if bits := self.operators.get(name):
            self.used = True
            places = (CONVOLUTIONS | PRODUCTS)[name]
            args = tuple(shortened(one, bits, self.cut) if at in places else one for at, one in enumerate(args))
        self.left = self.left or name in self.allowed
        return operator(*args, **(kwargs or {}))


def smallest(dtype: torch.dtype) -> float:
    """The limit below which numbers may become zero."""
    return 2.0**-24 if dtype == torch.float16 else torch.finfo(dtype).tiny


def chunks(*tensors: torch.Tensor) -> Iterator[list[torch.Tensor]]:
    flats = [tensor.reshape(-1) for tensor in tensors]
    for at in range(0, flats[0].numel(), CHUNK):
        yield [flat[at : at + CHUNK] for flat in flats]


def scales_of(exact: torch.Tensor, dtype: torch.dtype) -> tuple[float, float | None]:
    """The scales that are added to an element's size to make its error relative: the root mean square of the finite
    elements; and, if 2 % of them are below 1e-5 of that, a scale of the small elements."""
    most, total, finite = torch.finfo(dtype).max, 0.0, 0
    for (part,) in chunks(exact):
        part = part.double()
        kept = part[part.abs() <= most]
        total += float(kept.square().sum())
        finite += kept.numel()
    rms = math.sqrt(total / max(finite, 1))
    flat = exact.reshape(-1)
    if flat.numel() > SAMPLE:
        generator = torch.Generator(flat.device).manual_seed(1)
        flat = flat[torch.randint(flat.numel(), (SAMPLE,), device=flat.device, generator=generator)]
    sizes = flat.double().abs()
    sizes = sizes[(sizes >= smallest(dtype)) & (sizes <= most)]
    if sizes.numel() == 0:
        return rms, None
    small = float(sizes.kthvalue(max(1, int(SMALL_SHARE * sizes.numel()))).values)
    return rms, WIDE_SCALE * small if small < WIDE_RATIO * rms else None


def error_of(got: torch.Tensor, exact: torch.Tensor) -> list[float]:
    """[largest, root mean square] of the errors over |exact| + scale; the same with the scale of small elements (0
    if there is none); and the share of elements that are finite in only one of the two tensors. For whole numbers the
    last is the share of elements that differ."""
    if not got.is_floating_point():
        return [0.0, 0.0, 0.0, 0.0, float((got != exact).double().mean())]
    tiny, most = smallest(got.dtype), torch.finfo(got.dtype).max
    found = []
    lost = 0.0
    for scale in scales_of(exact, got.dtype):
        if scale is None:
            found += [0.0, 0.0]
            continue
        largest, squares, lost = 0.0, 0.0, 0.0
        for mine, right in chunks(got, exact):
            mine, right = mine.double(), right.double()
            both = mine.isfinite() & (right.abs() <= most)
            lost += float((mine.isfinite() != (right.abs() <= most)).sum())
            mine, right = mine[both], right[both]
            error = ((mine - right).abs() - tiny).clamp(min=0) / (right.abs() + max(scale, tiny))
            if error.numel():
                largest = max(largest, float(error.max()))
                squares += float(error.square().sum())
        found += [largest, math.sqrt(squares / got.numel())]
    return [*found, lost / got.numel()]


def computes_the_same(own: torch.Tensor, exact: torch.Tensor) -> bool:
    """Whether the double form computes the same as the strict one: few elements differ by more than FAR."""
    if not own.is_floating_point() or not own.numel():
        return True
    rms, small = scales_of(exact, own.dtype)
    scale, tiny, far = small or rms, smallest(own.dtype), 0.0
    for mine, right in chunks(own, exact):
        mine, right = mine.double(), right.double()
        near = ((mine - right).abs() - tiny) <= FAR * (scale + right.abs())
        overflowed = ~mine.isfinite() & right.isfinite()  # what double holds and the own type does not
        far += float((~near & ~overflowed & ~(mine.isnan() & right.isnan()) & (mine != right)).sum())
    return bool(far <= FAR_SHARE * own.numel())


def differs_in_kind(own: torch.Tensor, exact: torch.Tensor) -> bool:
    """Whether the reference's own form gives NaN or infinity where the double form gives a number, or the other way
    round."""
    if not own.is_floating_point():
        return False
    return any(bool((mine.isfinite() != right.isfinite()).any()) for mine, right in chunks(own, exact))


def rounded(numbers: list[float]) -> list[float]:
    return [float(f"{number:.3g}") if math.isfinite(number) else 1e30 for number in numbers]
