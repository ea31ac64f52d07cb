"""References for a gateway: checks, and a module around a function and its inputs' shapes."""

from __future__ import annotations

import keyword
import operator
from typing import Any

from .errors import InvalidArgument

REFERENCE_BYTES_MAX = 256 << 10  # as the gateway has it
DTYPES = ("float32", "float16", "bfloat16", "int32", "int64")


def check_reference(reference: str) -> None:
    """Refuses a bad reference here: the gateway's refusal would count as the kernel's failure."""
    if not isinstance(reference, str):
        found = type(reference).__name__
        raise InvalidArgument(f"the reference: found {found}, expected its source")
    try:
        size = len(reference.encode())
    except UnicodeEncodeError as error:
        raise InvalidArgument(
            f"the reference: expected text that UTF-8 can encode: {error}"
        ) from None
    if size > REFERENCE_BYTES_MAX:
        raise InvalidArgument(
            f"the reference has {size} bytes, expected at most {REFERENCE_BYTES_MAX >> 10} KB"
        )


def _drawn(name: str, about: object) -> str:
    """The expression that draws one input."""
    place = f"input_shapes: {name}"
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise InvalidArgument(f"input_shapes: found the name {name!r}, expected an identifier")
    if name in ("self", "reference_impl"):
        raise InvalidArgument(f"{place}: this name is reserved; rename the input")
    described = about if isinstance(about, dict) else {}
    shape = described.get("shape")
    if not isinstance(shape, list | tuple):
        raise InvalidArgument(f'{place}: found {about!r:.100}, expected {{"shape": [8, 4]}}')
    try:
        extents = [operator.index(extent) for extent in shape]
    except TypeError:
        extents = [-1]
    if any(extent < 1 for extent in extents):
        raise InvalidArgument(f"{place}: shape: found {shape!r:.100}, expected positive integers")
    dtype = described.get("dtype", "float32")
    dtype = dtype if dtype in DTYPES else "float32"
    if dtype.startswith("int"):
        return f"torch.randint(0, 100, {extents}, dtype=torch.{dtype})"
    return f"torch.randn({extents}, dtype=torch.{dtype})"


def module_of(reference_torch_code: str, input_shapes: dict[str, Any]) -> str:
    """A module around reference_impl, whose inputs are drawn as the pipeline draws them."""
    if not isinstance(input_shapes, dict) or not input_shapes:
        raise InvalidArgument(
            f'input_shapes: found {input_shapes!r:.100}, expected {{"x": {{"shape": [8, 4]}}}}'
        )
    drawn = [_drawn(name, about) for name, about in input_shapes.items()]
    names = ", ".join(input_shapes)
    passed = ", ".join(f"{name}={name}" for name in input_shapes)
    return (
        f"{reference_torch_code}\n\nimport torch\n\n\n"
        "class HoneReference(torch.nn.Module):\n"
        f"    def forward(self, {names}):\n        return reference_impl({passed})\n\n\n"
        f"def get_inputs():\n    return [{', '.join(drawn)}]\n\n\n"
        "def get_init_inputs():\n    return []\n"
    )
