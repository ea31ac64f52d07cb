"""A loaded module in its process: its tensors in the arena, its parameters and its calls.

This code shares its process with the submission's, so nothing here is trusted: the judge makes the inputs, reads the
outputs' bytes in the arena and holds the clock. An artifact is the JSON that build_module.py writes. Its module.json
maps a module's values to a task's tensors (docs/modules-reference.md).
"""

from __future__ import annotations

import json
import linecache
import sys
import types
from collections.abc import Callable
from typing import Any

import torch

from module_place import ARENA, PLACE
from module_values import constructor_arguments, count, flat
from module_work import WATCH
from module_wrapper import Refused, bind_wrapper, constructor_settings

Places = dict[str, int]  # tensor → its offset in the arena (bytes)
Spec = dict[str, Any]  # one value of module.json

DTYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i64": torch.int64,
    "i32": torch.int32,
    "i8": torch.int8,
    "u8": torch.uint8,
    "u32": torch.uint32,
    "bool": torch.bool,
}
LARGE_BYTES = 32 << 20  # of one call, beyond which torch may keep much device memory that others need


class Mismatch(Exception):
    """An output has another form than the task's."""


def as_it_is(tensor: torch.Tensor) -> torch.Tensor:
    return tensor


def code_of(source: str, name: str) -> types.CodeType:
    return compile(source, name, "exec", dont_inherit=True)  # without this file's __future__ imports


def run_source(
    name: str,
    source: str,
    module_name: str,
    code_of: Callable[[str, str], types.CodeType] = code_of,
    **names: object,
) -> types.ModuleType:
    """Runs this source as a module. Tracebacks and Triton find its lines, although there is no file.

    `names`: globals that the module has besides.
    """
    module = types.ModuleType(module_name)
    module.__file__ = name
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    module.__dict__.update(names)
    sys.modules[module_name] = module
    exec(code_of(source, name), module.__dict__)
    return module


class Binding:
    """The parameters and buffers of the reference, bound to those of another module."""

    def __init__(self, state: dict[str, torch.Tensor], parameters: list[Spec], words: str) -> None:
        """state: name → tensor of the module; parameters: those of module.json; words: the module in messages."""
        self.pairs: list[tuple[torch.Tensor, Spec]] = []  # (the module's tensor, the task's parameter)
        left = dict(state)
        rest = []
        for parameter in parameters:
            mine = left.get(parameter["name"])
            if mine is not None and list(mine.shape) == parameter["shape"]:
                self.pairs.append((left.pop(parameter["name"]), parameter))
            else:
                rest.append(parameter)
        for parameter in rest:  # by order and shape, for a module with other names
            match = next((n for n, t in left.items() if list(t.shape) == parameter["shape"]), None)
            if match is None:
                if parameter["kind"] == "buffer":
                    continue  # a module may leave out buffers that its forward does not need
                raise Refused(
                    f"{words} has no parameter for {parameter['name']} {parameter['shape']}; it has "
                    + (", ".join(f"{n} {list(t.shape)}" for n, t in state.items()) or "none")
                )
            self.pairs.append((left.pop(match), parameter))


class Artifact:
    """One loaded module: a submission. Baseline and Reference, in device/, are the trusted ones."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.name, self.source = content["name"], content["source"]
        support = content["support"]
        self.meta = json.loads(support["module.json"])
        self.tensors = self.order_of_tensors()
        self.given: tuple[list[Any], dict[str, Any]] = ([], {})  # of the constructor
        self.note, self.note_warns = "", False  # for the log
        self.model: tuple[Any, Binding] | None = None
        self.wrapper: Callable[..., Any] | None = None
        self.is_large = self.bytes_of_call() > LARGE_BYTES
        PLACE.seed(0)
        self.load(support)

    def load(self, support: dict[str, str]) -> None:
        trusted = self.run_source("reference.py", support["reference.py"], "reference")
        self.given = constructor_arguments(trusted)
        self.settings = constructor_settings(getattr(trusted, self.meta["module"]), *self.given)
        del sys.modules["reference"], trusted  # a submission must not call the reference
        self.module = self.run_source(self.name, self.source, self.name.removesuffix(".py"))

    def run_source(self, name: str, source: str, module_name: str) -> types.ModuleType:
        return run_source(name, source, module_name)

    def bytes_of_call(self) -> int:
        def of(values: list[Spec]) -> int:
            return sum(
                of(value["list"]) if "list" in value else count(value["shape"]) * DTYPES[value["dtype"]].itemsize
                for value in values
                if "list" in value or "tensor" in value
            )

        return of(self.meta["inputs"]) + of(self.meta["parameters"]) + of(self.meta["outputs"])

    def give_back(self) -> None:
        """Frees device memory after a large call. Asking what torch holds takes longer than most calls."""
        if self.is_large:
            PLACE.give_back()

    def order_of_tensors(self) -> list[str]:
        """The task's tensors in the order of its arguments: inputs, parameters, outputs."""
        names: list[str] = []

        def add(name: str) -> None:
            if name not in names:
                names.append(name)

        def walk(values: list[Spec]) -> None:
            for value in values:
                if "tensor" in value:
                    add(value["tensor"])
                elif "list" in value:
                    walk(value["list"])

        walk(self.meta["inputs"])
        for parameter in self.meta["parameters"]:
            add(parameter["tensor"])
        for output in self.meta["outputs"]:
            add(output["tensor"])
        return names

    def construct(self, factory: Callable[..., Any]) -> Any:
        args, kwargs = self.given
        PLACE.seed(0)
        with PLACE.device:
            made = factory(*args, **kwargs)
        return made.to(PLACE.device) if isinstance(made, torch.nn.Module) else made

    def bind_model(self, factory: Callable[..., Any], words: str) -> tuple[Any, Binding]:
        model = self.construct(factory)
        if not callable(model):
            raise Refused(f"{words}() gave a {type(model).__name__}, expected a torch.nn.Module")
        state = dict(model.state_dict(keep_vars=True)) if isinstance(model, torch.nn.Module) else {}
        return model, Binding(state, self.meta["parameters"], words)

    def entry(self, name: str) -> Callable[[list[int]], None]:
        """The function that does one call: `values` holds the offset of each of the task's tensors, then the seed."""
        factory = getattr(self.module, name, None)
        if factory is not None:
            self.model = model, binding = self.bind_model(factory, name)
            return lambda values: self.run_model(values, model, binding)
        self.wrapper = wrapper = getattr(self.module, "triton_kernel_wrapper", None)
        if wrapper is None:
            raise Refused(f"found neither a class {name} nor a function triton_kernel_wrapper")
        parameters = {p["name"]: p for p in self.meta["parameters"]}
        by_name = bind_wrapper(wrapper, len(self.meta["inputs"]), parameters, self.settings)
        return lambda values: self.run_wrapper(values, wrapper, by_name)

    def at(self, values: list[int]) -> tuple[Places, int]:
        """The tensors' offsets by name, and the seed."""
        return dict(zip(self.tensors, values, strict=False)), values[len(self.tensors)]

    def view(self, at: int, dtype: torch.dtype, shape: list[int]) -> torch.Tensor:
        return ARENA.view(at, dtype, shape)

    def tensor(self, places: Places, spec: Spec, dtype: torch.dtype | None = None) -> torch.Tensor:
        dtype = dtype or DTYPES[spec["dtype"]]
        at = places[spec["tensor"]] + spec.get("at", 0) * dtype.itemsize
        return self.view(at, dtype, spec["shape"])

    def inputs(self, places: Places, change: Callable[[torch.Tensor], torch.Tensor] = as_it_is) -> list[Any]:
        def value(spec: Spec) -> Any:
            if "tensor" in spec:
                given = change(self.tensor(places, spec))
                # A new tensor: forward() may change its shape, and the view is kept for the next call.
                return given.detach() if "may_change" in spec else given
            return [value(one) for one in spec["list"]] if "list" in spec else spec["value"]

        return [value(spec) for spec in self.meta["inputs"]]

    def set_parameters(
        self, places: Places, binding: Binding, change: Callable[[torch.Tensor], torch.Tensor] = as_it_is
    ) -> None:
        for mine, parameter in binding.pairs:
            given = change(self.tensor(places, parameter))
            if parameter["kind"] == "buffer" or mine.dtype != given.dtype:
                mine.data.copy_(given)  # forward may write to it, and must not write to the task's
            else:
                mine.data = given

    def run_model(self, values: list[int], model: Any, binding: Binding) -> None:
        places, seed = self.at(values)
        self.set_parameters(places, binding)
        PLACE.seed(seed)
        self.store(places, WATCH.call(model, *self.inputs(places)))

    def run_wrapper(self, values: list[int], wrapper: Callable[..., Any], by_name: dict[str, Any]) -> None:
        places, seed = self.at(values)
        extra = {
            name: self.tensor(places, value) if isinstance(value, dict) and "tensor" in value else value
            for name, value in by_name.items()
        }
        PLACE.seed(seed)
        self.store(places, WATCH.call(wrapper, *self.inputs(places), **extra))

    def store(self, places: Places, result: Any) -> None:
        """Writes a result of forward to the task's outputs, or raises Mismatch if it has another form."""
        in_sequence, answer = isinstance(result, (list, tuple)), self.meta.get("answer")
        if in_sequence and answer == "tensor":
            raise Mismatch(f"gave a {type(result).__name__}, expected a tensor")
        found = flat(result, Mismatch)
        if not in_sequence and answer == "sequence":
            raise Mismatch("gave a tensor, expected a tuple or list")
        self.write(places, found)

    def write(self, places: Places, found: list[torch.Tensor], as_double: bool = False) -> None:
        """Writes these tensors to the task's outputs; `as_double`: all floats as float64."""
        wanted = self.meta["outputs"]
        if len(found) != len(wanted):
            raise Mismatch(f"gave {len(found)} tensors, expected {len(wanted)}")
        for tensor, spec in zip(found, wanted, strict=True):
            shape, dtype = list(tensor.shape), DTYPES[spec["dtype"]]
            if shape != spec["shape"]:
                raise Mismatch(f"output {spec['tensor']} has shape {shape}, expected {spec['shape']}")
            if as_double and dtype.is_floating_point:
                dtype = torch.float64
            elif not as_double and tensor.dtype != dtype:
                raise Mismatch(f"output {spec['tensor']} has dtype {tensor.dtype}, expected {dtype}")
            self.put(self.tensor(places, spec, dtype), tensor, spec)

    def put(self, place: torch.Tensor, found: torch.Tensor, spec: Spec) -> None:
        """Writes one output to its place."""
        place.copy_(found)
