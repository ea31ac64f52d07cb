"""The layout of a module's inputs, parameters and outputs in a task's tensors, and in module.json."""

import math
from typing import Any

import torch

from hone_modules.watched_run import Writes

# hone's names of torch's types. A bool is passed as u8.
DTYPES = {
    torch.float32: "f32",
    torch.float64: "f64",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int8: "i8",
    torch.uint8: "u8",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.bool: "bool",
}
ELEMENTS_MAX = 1 << 32  # of one tensor
ALIGNED_ELEMENTS = 16
DEPTH_MAX = 8  # of lists in lists


class Unfit(Exception):
    """A module cannot be described. The message has the reason."""


def dtype_of(tensor: Any, whose: str) -> str:
    """hone's name of the tensor's type. Raises Unfit for a tensor that hone cannot pass."""
    if tensor.layout != torch.strided or tensor.is_quantized:
        raise Unfit(f"{whose} is no dense tensor")
    if tensor.device.type != "cpu":  # fake tensors are anywhere, real ones where the judge is
        raise Unfit(f"{whose} is made on the device '{tensor.device.type}', expected no device in the source")
    if tensor.dtype not in DTYPES:
        raise Unfit(f"{whose} has the type {str(tensor.dtype).removeprefix('torch.')}, which hone does not know")
    if not 1 <= tensor.numel() <= ELEMENTS_MAX:
        raise Unfit(f"{whose} has {tensor.numel()} elements, expected 1 to 2^32")
    if tensor.dim() > 8:
        raise Unfit(f"{whose} has {tensor.dim()} axes, expected at most 8")
    return DTYPES[tensor.dtype]


def task_tensor(name: str, role: str, dtype: str, shape: list[int]) -> dict[str, Any]:
    """The task's form of a tensor: one without axes gets an axis of 1, and a bool is a byte."""
    kind = "u8" if dtype == "bool" else dtype
    return {"name": name, "role": role, "dtype": kind, "shape": [str(extent) for extent in shape] or ["1"]}


def usable_name(name: str, taken: set[str]) -> bool:
    """Whether this is a C identifier that is neither taken nor reserved."""
    plain = name.isascii() and name.isidentifier() and len(name) <= 64
    reserved = name in ("seed", "out") or name.startswith("parameters") or (name[:3] == "out" and name[3:].isdigit())
    return plain and not reserved and name not in taken


class Inputs:
    """Turns get_inputs() into module.json's form and names its tensors."""

    def __init__(self, names: list[str]) -> None:
        """names: the names of forward()'s parameters."""
        self.names = names
        self.tensors: list[dict[str, Any]] = []  # as the task has them
        self.entries: list[dict[str, Any]] = []  # as module.json has them
        self.found: list[torch.Tensor] = []

    def take_all(self, values: list[Any]) -> list[dict[str, Any]]:
        names = [*self.names, *[""] * len(values)]
        return [self.take(value, name) for value, name in zip(values, names, strict=False)]

    def take(self, value: Any, name: str, depth: int = 0) -> dict[str, Any]:
        if isinstance(value, torch.Tensor):
            dtype = dtype_of(value, f"input {name or len(self.tensors)}")
            taken = {tensor["name"] for tensor in self.tensors}
            own = name if usable_name(name, taken) else f"x{len(self.tensors)}"
            while own in taken:
                own += "_"
            shape = [int(extent) for extent in value.shape]
            self.tensors.append(task_tensor(own, "in", dtype, shape))
            self.entries.append({"tensor": own, "shape": shape, "dtype": dtype})
            self.found.append(value)
            return self.entries[-1]
        if isinstance(value, list | tuple) and depth < DEPTH_MAX:
            return {"list": [self.take(item, f"{name}{i}" if name else "", depth + 1) for i, item in enumerate(value)]}
        if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
            return {"value": value}
        raise Unfit(f"get_inputs() gives a {type(value).__name__}, expected tensors, numbers, texts and lists of them")

    def note_changes(self, writes: Writes) -> None:
        """Marks the tensors that forward() has changed in place."""
        for value, entry, tensor in zip(self.found, self.entries, self.tensors, strict=True):
            if writes.changed(value):
                entry["may_change"] = tensor["may_change"] = True


def pack(state: list[tuple[str, Any, str]], writes: Writes) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Packs parameters and buffers into one tensor for each type, each at a multiple of 16 elements."""
    sizes: dict[str, int] = {}
    entries: list[dict[str, Any]] = []
    for name, value, kind in state:
        if not isinstance(value, torch.Tensor):
            raise Unfit(f"its state {name} is a {type(value).__name__}, expected a tensor")
        dtype = dtype_of(value, f"its {kind} {name}")
        stored = "u8" if dtype == "bool" else dtype
        tensor = "parameters" if stored == "f32" else f"parameters_{stored}"
        at = -(-sizes.get(stored, 0) // ALIGNED_ELEMENTS) * ALIGNED_ELEMENTS
        sizes[stored] = at + value.numel()
        shape = [int(extent) for extent in value.shape]
        entries.append({"name": name, "tensor": tensor, "at": at, "shape": shape, "dtype": dtype, "kind": kind})
        if writes.changed(value):
            entries[-1]["may_change"] = True
    packed = []
    for stored, size in sizes.items():
        if size > ELEMENTS_MAX:
            raise Unfit(f"its parameters have {size} elements, expected at most 2^32")
        name = "parameters" if stored == "f32" else f"parameters_{stored}"
        packed.append(task_tensor(name, "in", stored, [size]))
        if any(entry["tensor"] == name and "may_change" in entry for entry in entries):
            packed[-1]["may_change"] = True
    return entries, packed


def describe_outputs(outputs: list[Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The outputs in module.json's form and in the task's form."""
    entries, tensors = [], []
    for i, value in enumerate(outputs):
        name = "out" if len(outputs) == 1 else f"out{i}"
        dtype, shape = dtype_of(value, f"output {i}"), [int(extent) for extent in value.shape]
        entries.append({"tensor": name, "shape": shape, "dtype": dtype})
        tensors.append(task_tensor(name, "out", dtype, shape))
    if not outputs:
        raise Unfit("forward() answers with no tensor")
    return entries, tensors


def flat_outputs(value: Any, depth: int = 0) -> list[Any]:
    """The tensors in the output of forward(), in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, list | tuple) and depth < DEPTH_MAX:
        return [tensor for item in value for tensor in flat_outputs(item, depth + 1)]
    raise Unfit(f"forward() answers with a {type(value).__name__}, expected tensors, tuples or lists of them")


def leaves(value: Any, depth: int = 0) -> list[Any]:
    """The values in nested lists, in order."""
    if isinstance(value, list | tuple) and depth < DEPTH_MAX:
        return [leaf for item in value for leaf in leaves(item, depth + 1)]
    return [value]
