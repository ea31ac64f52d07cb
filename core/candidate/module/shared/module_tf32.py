"""Torch's switches for TF32, which decide the precision of matrix products and convolutions."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

MATMUL = torch.backends.cuda.matmul
# A newer torch distinguishes this value from one that was set to the default.
NEVER_SET = getattr(MATMUL, "fp32_precision", None)


def use_tf32(conv_tf32: bool, matmul_tf32: bool) -> None:
    """Sets torch's TF32 switches. One that is right already is left alone, so that module_state.py sees no change."""
    if torch.backends.cudnn.allow_tf32 != conv_tf32:
        torch.backends.cudnn.allow_tf32 = conv_tf32
    if MATMUL.allow_tf32 != matmul_tf32:
        MATMUL.allow_tf32 = matmul_tf32
        if not matmul_tf32 and NEVER_SET is not None:
            MATMUL.fp32_precision = NEVER_SET


def use_precision(precision: dict[str, Any] | None) -> None:
    """Sets the precision of module.json; for None, torch's defaults."""
    precision = precision or {}
    use_tf32(precision.get("conv_tf32", True), precision.get("matmul_tf32", False))


@contextlib.contextmanager
def strict() -> Iterator[None]:
    """Switches TF32 off."""
    before = torch.backends.cudnn.allow_tf32, MATMUL.allow_tf32
    use_tf32(False, False)
    try:
        yield
    finally:
        use_tf32(*before)
