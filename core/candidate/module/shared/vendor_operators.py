"""The torch operators that call a vendor's library (cuBLAS, cuDNN, cuFFT).

A recorded plan has no kernels of these libraries. It has the operator with its tensors instead (record_operators.py),
and a trusted process calls the operator when the plan is replayed (replay_operators.py). That process refuses operators
that are not in this table.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch


class VendorOperator(NamedTuple):
    """How an operator is called when a plan is replayed.

    `overload`: the name of the overload to call. `writes_to`: the names of its arguments for the tensors that get the
    results; empty if it has none, in which case its results are copied to these tensors.
    """

    overload: str = "out"
    writes_to: tuple[str, ...] = ("out",)


# For operators without an overload that writes to given tensors. One that torch generates would copy as well.
COPIED = VendorOperator("default", ())

OPERATORS: dict[str, VendorOperator] = {
    **dict.fromkeys(("mm", "addmm", "bmm", "baddbmm", "addbmm", "_addmm_activation", "addmv"), VendorOperator()),
    **dict.fromkeys(("_scaled_mm", "_int_mm", "cudnn_convolution"), VendorOperator()),
    **dict.fromkeys(("_fft_r2c", "_fft_c2c", "_fft_c2r"), VendorOperator()),
    **dict.fromkeys(("dot", "vdot", "cudnn_convolution_transpose", "cudnn_convolution_relu"), COPIED),
    **dict.fromkeys(
        ("cudnn_convolution_add_relu", "_cudnn_rnn", "linalg_solve_triangular", "cudnn_batch_norm"), COPIED
    ),
}

# Settings of torch that change the results or the algorithms of these operators, by their names in a plan.
SETTINGS = {
    "matmul_tf32": ("torch.backends.cuda.matmul", "allow_tf32"),
    "reduced_f16": ("torch.backends.cuda.matmul", "allow_fp16_reduced_precision_reduction"),
    "reduced_bf16": ("torch.backends.cuda.matmul", "allow_bf16_reduced_precision_reduction"),
    "cudnn_tf32": ("torch.backends.cudnn", "allow_tf32"),
    "cudnn_benchmark": ("torch.backends.cudnn", "benchmark"),
    "cudnn_deterministic": ("torch.backends.cudnn", "deterministic"),
}


def settings_now() -> dict[str, bool]:
    return {name: bool(getattr(_holder(path), attribute)) for name, (path, attribute) in SETTINGS.items()}


def use_settings(settings: dict[str, bool]) -> None:
    for name, value in settings.items():
        path, attribute = SETTINGS[name]
        setattr(_holder(path), attribute, value)


def _holder(path: str) -> Any:
    holder: Any = torch
    for name in path.split(".")[1:]:
        holder = getattr(holder, name)
    return holder
