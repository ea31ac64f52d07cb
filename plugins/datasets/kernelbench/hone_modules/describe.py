"""Finds a module's inputs, parameters and outputs, with their shapes, without computing: on fake tensors."""

import hashlib
import inspect
import linecache
import math
import random
import sys
import types
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

# hone's names of torch's types; a bool is handed over as u8.
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
ARGUMENTS_MAX = 16  # of a task, its seed included
ELEMENTS_MAX = 1 << 32  # of one tensor
ALIGNED_ELEMENTS = 16
DEPTH_MAX = 8  # of lists in lists
REAL_BYTES_MAX = 64 << 20  # what may be computed where fake tensors do not suffice
REASON_CHARACTERS_MAX = 300
NAMES_SHOWN = 8  # of modules, where the one that is asked for is not there
NAME_CHARACTERS_MAX = 100


class Unfit(Exception):
    """Why a module cannot be described."""


@dataclass
class Description:
    """What a task of this module consists of."""

    module: str  # its class
    inputs: list[Any]  # as module.json has them
    parameters: list[dict[str, Any]]
    outputs: list[dict[str, Any]]
    answer: str  # "tensor", or "sequence": a tuple or list of them
    tensors: list[dict[str, Any]] = field(default_factory=list)  # as the task has them


@dataclass
class Found:
    """One run of a module."""

    name: str
    inputs: list[Any]
    names: list[str]
    state: list[tuple[str, Any, str]]
    outputs: list[Any]
    answer: str


def said(error: BaseException) -> str:
    """An error in a line."""
    text = " ".join(str(error).split())
    if "data_dependent" in text or "DataDependent" in type(error).__name__ or "DynamicOutput" in type(error).__name__:
        text = "what it does depends on values, not on shapes alone: " + text
    return f"{type(error).__name__}: {text}"[:REASON_CHARACTERS_MAX]


def load(source: str) -> types.ModuleType:
    """Runs the source as a module of its own."""
    name = f"hone_reference_{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    module = types.ModuleType(name)
    module.__file__ = f"<{name}>"
    lines = source.splitlines(keepends=True)
    # So that what asks for its own source, as torch.jit does, finds it.
    linecache.cache[module.__file__] = (len(source), None, lines, module.__file__)
    sys.modules[name] = module
    try:
        exec(compile(source, module.__file__, "exec", dont_inherit=True), module.__dict__)
    except SystemExit as error:
        raise Unfit(f"its source exits: {error}") from None
    except Exception as error:
        raise Unfit(f"its source does not run: {said(error)}") from None
    finally:
        sys.modules.pop(name, None)
    return module


def init_inputs(module: types.ModuleType) -> tuple[list[Any], dict[str, Any]]:
    """What the constructor gets: [a, b] or [[a], {"b": b}]."""
    if not hasattr(module, "get_init_inputs"):
        return [], {}
    try:
        given = module.get_init_inputs()
    except Exception as error:
        raise Unfit(f"get_init_inputs() fails: {said(error)}") from None
    if isinstance(given, dict):
        return [], given
    if not isinstance(given, list | tuple):
        raise Unfit(f"get_init_inputs() gives a {type(given).__name__}, expected a list")
    if len(given) == 2 and isinstance(given[0], list | tuple) and isinstance(given[1], dict):
        return list(given[0]), given[1]
    return list(given), {}


def fits(cls: type, args: list[Any], kwargs: dict[str, Any]) -> bool:
    """Whether the constructor takes these."""
    try:
        inspect.signature(cls).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return False
    return True


def called(module: types.ModuleType, name: str) -> type | None:
    """The module's class of this name."""
    cls = vars(module).get(name)
    return cls if isinstance(cls, type) and issubclass(cls, torch.nn.Module) else None


def find_class(
    module: types.ModuleType, entry: str, exact: bool, args: list[Any], kwargs: dict[str, Any]
) -> tuple[str, type]:
    """`Model`, else what the data calls it, else the last module of its own that takes get_init_inputs(); `exact`:
    what the data calls it and nothing else. With its name."""
    for name in (entry,) if exact else ("Model", entry):
        if cls := called(module, name):
            return name, cls
    own = [(name, cls) for name in vars(module) if (cls := called(module, name)) and cls.__module__ == module.__name__]
    if exact:
        there = ", ".join(name for name, _ in own[:NAMES_SHOWN]) or "none"
        raise Unfit(f"it defines no module called '{entry[:NAME_CHARACTERS_MAX]}', found {there}")
    fitting = [(name, cls) for name, cls in own if fits(cls, args, kwargs)]
    if fitting:
        return fitting[-1]
    raise Unfit("it defines no module" if not own else "none of its modules takes what get_init_inputs() gives")


def flat_outputs(value: Any, depth: int = 0) -> list[Any]:
    """The tensors of an answer, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, list | tuple) and depth < DEPTH_MAX:
        return [tensor for item in value for tensor in flat_outputs(item, depth + 1)]
    raise Unfit(f"forward() answers with a {type(value).__name__}, expected tensors, tuples or lists of them")


def run(source: str, entry: str, exact: bool, seed: int) -> Found:
    """Loads it, makes the module and its inputs, and runs it once."""
    random.seed(seed)
    torch.manual_seed(seed)
    module = load(source)
    args, kwargs = init_inputs(module)
    name, cls = find_class(module, entry, exact, args, kwargs)
    try:
        made = cls(*args, **kwargs)
    except Exception as error:
        raise Unfit(f"{name}(…) fails: {said(error)}") from None
    if not callable(getattr(module, "get_inputs", None)):
        raise Unfit("it has no get_inputs()")
    try:
        inputs = module.get_inputs()
    except Exception as error:
        raise Unfit(f"get_inputs() fails: {said(error)}") from None
    if not isinstance(inputs, list | tuple):
        raise Unfit(f"get_inputs() gives a {type(inputs).__name__}, expected a list")
    parameters = dict(made.named_parameters(remove_duplicate=False))
    state = [(key, value, "parameter" if key in parameters else "buffer") for key, value in made.state_dict().items()]
    before = [*inputs]
    try:
        with torch.no_grad():
            outputs = made(*inputs)
    except Exception as error:
        raise Failed(name, before, state, said(error)) from None
    answer = "tensor" if isinstance(outputs, torch.Tensor) else "sequence"
    return Found(name, before, forward_names(cls), state, flat_outputs(outputs), answer)


class Failed(Unfit):
    """A forward() that does not run, with what it was given."""

    def __init__(self, name: str, inputs: list[Any], state: list[tuple[str, Any, str]], why: str) -> None:
        super().__init__(f"{name}.forward() fails: {why}")
        values = [*leaves(inputs), *(value for _, value, _ in state)]
        self.bytes = sum(v.numel() * v.element_size() for v in values if isinstance(v, torch.Tensor))


def leaves(value: Any, depth: int = 0) -> list[Any]:
    """What lists hold, in order."""
    if isinstance(value, list | tuple) and depth < DEPTH_MAX:
        return [leaf for item in value for leaf in leaves(item, depth + 1)]
    return [value]


def forward_names(cls: type) -> list[str]:
    """What forward() calls its inputs."""
    try:
        parameters = list(inspect.signature(cls.forward).parameters.values())[1:]
    except (TypeError, ValueError):
        return []
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter.name for parameter in parameters if parameter.kind in positional]


def dtype_of(tensor: Any, whose: str) -> str:
    """hone's name of its type; a tensor that hone cannot hand over is unfit."""
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
    """As a task has it: a tensor without axes has one of 1, a bool is a byte."""
    kind = "u8" if dtype == "bool" else dtype
    return {"name": name, "role": role, "dtype": kind, "shape": [str(extent) for extent in shape] or ["1"]}


def usable_name(name: str, taken: set[str]) -> bool:
    """Whether a C identifier that nothing else is called, nor will be."""
    plain = name.isascii() and name.isidentifier() and len(name) <= 64
    reserved = name in ("seed", "out") or name.startswith("parameters") or (name[:3] == "out" and name[3:].isdigit())
    return plain and not reserved and name not in taken


class Inputs:
    """Turns get_inputs() into module.json's form and names its tensors."""

    def __init__(self) -> None:
        self.tensors: list[dict[str, Any]] = []

    def take(self, value: Any, name: str, depth: int = 0) -> dict[str, Any]:
        if isinstance(value, torch.Tensor):
            dtype = dtype_of(value, f"input {name or len(self.tensors)}")
            taken = {tensor["name"] for tensor in self.tensors}
            own = name if usable_name(name, taken) else f"x{len(self.tensors)}"
            while own in taken:
                own += "_"
            shape = [int(extent) for extent in value.shape]
            self.tensors.append(task_tensor(own, "in", dtype, shape))
            return {"tensor": own, "shape": shape, "dtype": dtype}
        if isinstance(value, list | tuple) and depth < DEPTH_MAX:
            return {"list": [self.take(item, f"{name}{i}" if name else "", depth + 1) for i, item in enumerate(value)]}
        if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
            return {"value": value}
        raise Unfit(f"get_inputs() gives a {type(value).__name__}, expected tensors, numbers, texts and lists of them")


def pack(state: list[tuple[str, Any, str]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Parameters and buffers one after another in one tensor for each type, each at a multiple of 16 elements."""
    sizes: dict[str, int] = {}
    entries = []
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
    packed = []
    for stored, size in sizes.items():
        if size > ELEMENTS_MAX:
            raise Unfit(f"its parameters have {size} elements, expected at most 2^32")
        name = "parameters" if stored == "f32" else f"parameters_{stored}"
        packed.append(task_tensor(name, "in", stored, [size]))
    return entries, packed


def described(found: Found) -> Description:
    """A run in hone's words."""
    inputs = Inputs()
    names = found.names
    given = [inputs.take(value, names[i] if i < len(names) else "") for i, value in enumerate(found.inputs)]
    parameters, packed = pack(found.state)
    outputs, written = [], []
    for i, value in enumerate(found.outputs):
        name = "out" if len(found.outputs) == 1 else f"out{i}"
        dtype, shape = dtype_of(value, f"output {i}"), [int(extent) for extent in value.shape]
        outputs.append({"tensor": name, "shape": shape, "dtype": dtype})
        written.append(task_tensor(name, "out", dtype, shape))
    if not outputs:
        raise Unfit("forward() answers with no tensor")
    tensors = [*inputs.tensors, *packed, *written]
    if len(tensors) + 1 > ARGUMENTS_MAX:
        raise Unfit(f"it has {len(tensors)} tensors, and with its seed at most {ARGUMENTS_MAX} arguments are possible")
    return Description(found.name, given, parameters, outputs, found.answer, tensors)


def twice(source: str, entry: str, exact: bool, where: Callable[[], AbstractContextManager[Any]]) -> Description:
    """Run with two seeds: what differs then was drawn at random, and no task has such a shape or value."""
    found = []
    for seed in (1, 2):
        with where():
            found.append(described(run(source, entry, exact, seed)))
    if found[0] != found[1]:
        raise Unfit("its shapes or the numbers that it is given are drawn at random")
    return found[0]


def fake() -> AbstractContextManager[Any]:
    """Tensors of a shape and a type that hold nothing."""
    return FakeTensorMode(allow_non_fake_inputs=True)


known: dict[str, Description | Unfit] = {}  # by hash of source, class and whether that alone will do


def describe(source: str, entry: str = "", exact: bool = False) -> Description:
    """Raises Unfit with the reason. A module whose fake run fails is computed where it is small. `exact`: the class
    `entry` and no other."""
    key = hashlib.sha256(f"{exact}\0{entry}\0{source}".encode()).hexdigest()
    if key not in known:
        try:
            known[key] = described_anew(source, entry, exact)
        except Unfit as unfit:
            known[key] = Unfit(str(unfit))
    answer = known[key]
    if isinstance(answer, Unfit):
        raise Unfit(str(answer))
    return answer


def described_anew(source: str, entry: str, exact: bool) -> Description:
    try:
        return twice(source, entry, exact, fake)
    except Failed as failed:
        if failed.bytes > REAL_BYTES_MAX:
            raise
    return twice(source, entry, exact, nullcontext)
