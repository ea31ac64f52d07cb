"""A loaded module in a candidate's process: its values in the arena, its parameters, its calls.

Everything here runs beside foreign code and is believed by nobody: the judge made the inputs, looks at the outputs'
bytes in the arena, and holds the clock. An artifact is the JSON of build_module.py; its module.json says how a
module's values lie in a task's tensors (docs/modules-reference.md).
"""

import json
import linecache
import sys
import types

import torch

from module_fastest import make_fastest
from module_place import ARENA, PLACE
from module_values import constructor_arguments, count, flat
from module_work import WATCH
from module_wrapper import Refused, bind_wrapper, constructor_settings

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
LARGE_BYTES = 32 << 20  # of one call: torch may then hold much that others need


class Mismatch(Exception):
    """An output of another form than the task's."""


def as_it_is(tensor):
    return tensor


def code_of(source, name):
    return compile(source, name, "exec")


def run_source(name, source, module_name):
    """A module of this source, whose lines tracebacks and Triton find though there is no file."""
    module = types.ModuleType(module_name)
    module.__file__ = name
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    sys.modules[module_name] = module
    exec(code_of(source, name), module.__dict__)
    return module


class Binding:
    """Where the values that a module names lie: the reference's parameters and buffers, bound to another's."""

    def __init__(self, state, parameters, words):
        """state: name → tensor of the module; parameters: module.json's."""
        self.pairs = []  # (the module's tensor, the task's parameter)
        left = dict(state)
        rest = []
        for parameter in parameters:
            mine = left.get(parameter["name"])
            if mine is not None and list(mine.shape) == parameter["shape"]:
                self.pairs.append((left.pop(parameter["name"]), parameter))
            else:
                rest.append(parameter)
        for parameter in rest:  # by order and shape, for a module that names them otherwise
            match = next((n for n, t in left.items() if list(t.shape) == parameter["shape"]), None)
            if match is None:
                if parameter["kind"] == "buffer":
                    continue  # what forward does not need may be left out
                raise Refused(
                    f"{words} has no parameter for {parameter['name']} {parameter['shape']}; it has "
                    + (", ".join(f"{n} {list(t.shape)}" for n, t in state.items()) or "none")
                )
            self.pairs.append((left.pop(match), parameter))


class Artifact:
    """One loaded module: a submission or a baseline; module_reference.py has the third."""

    def __init__(self, content):
        self.name, self.source = content["name"], content["source"]
        support = content["support"]
        self.meta = json.loads(support["module.json"])
        self.tensors = self.order_of_tensors()
        self.given = None  # (args, kwargs) of the constructor
        self.note, self.note_warns = "", False  # for the log
        self.model = self.wrapper = None
        self.is_large = self.bytes_of_call() > LARGE_BYTES
        PLACE.seed(0)
        self.load(support)

    def load(self, support):
        trusted = run_source("reference.py", support["reference.py"], "reference")
        self.given = constructor_arguments(trusted)
        self.settings = constructor_settings(getattr(trusted, self.meta["module"]), *self.given)
        del sys.modules["reference"], trusted  # a submission's work is its own
        self.module = run_source(self.name, self.source, self.name.removesuffix(".py"))

    def bytes_of_call(self):
        def of(values):
            return sum(
                of(value["list"]) if "list" in value else count(value["shape"]) * DTYPES[value["dtype"]].itemsize
                for value in values
                if "list" in value or "tensor" in value
            )

        return of(self.meta["inputs"]) + of(self.meta["parameters"]) + of(self.meta["outputs"])

    def give_back(self):
        """To ask what torch holds takes longer than most calls."""
        if self.is_large:
            PLACE.give_back()

    def order_of_tensors(self):
        """The task's tensors as its arguments have them: inputs, parameters, outputs."""
        names = []

        def add(name):
            if name not in names:
                names.append(name)

        def walk(values):
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

    def construct(self, factory):
        args, kwargs = self.given
        PLACE.seed(0)
        with PLACE.device:
            made = factory(*args, **kwargs)
        return made.to(PLACE.device) if isinstance(made, torch.nn.Module) else made

    def bind_model(self, factory, words):
        model = self.construct(factory)
        if not callable(model):
            raise Refused(f"{words}() gave a {type(model).__name__}, expected a torch.nn.Module")
        state = dict(model.state_dict(keep_vars=True)) if isinstance(model, torch.nn.Module) else {}
        return model, Binding(state, self.meta["parameters"], words)

    def entry(self, name):
        factory = getattr(self.module, name, None)
        if factory is not None:
            self.model = self.bind_model(factory, name)
            if self.name == "baseline.py" and self.meta.get("baseline") == "compile":
                self.note, self.note_warns = make_fastest(self.model[0], self.module.get_inputs)
            return lambda values: self.run_model(values, *self.model)
        self.wrapper = getattr(self.module, "triton_kernel_wrapper", None)
        if self.wrapper is None:
            raise Refused(f"found neither a class {name} nor a function triton_kernel_wrapper")
        parameters = {p["name"]: p for p in self.meta["parameters"]}
        self.by_name = bind_wrapper(self.wrapper, len(self.meta["inputs"]), parameters, self.settings)
        return self.run_wrapper

    # What a round does. `values`: the offset of each of the task's tensors, then the seed.

    def at(self, values):
        return dict(zip(self.tensors, values, strict=False)), values[len(self.tensors)]

    def tensor(self, places, spec, dtype=None):
        dtype = dtype or DTYPES[spec["dtype"]]
        at = places[spec["tensor"]] + spec.get("at", 0) * dtype.itemsize
        return ARENA.view(at, dtype, spec["shape"])

    def inputs(self, places, change=as_it_is):
        def value(spec):
            if "tensor" in spec:
                given = change(self.tensor(places, spec))
                # A tensor of its own: forward() may give it another shape, and views are kept for the next call.
                return given.detach() if "may_change" in spec else given
            return [value(one) for one in spec["list"]] if "list" in spec else spec["value"]

        return [value(spec) for spec in self.meta["inputs"]]

    def set_parameters(self, places, binding, change=as_it_is):
        for mine, parameter in binding.pairs:
            given = change(self.tensor(places, parameter))
            if parameter["kind"] == "buffer" or mine.dtype != given.dtype:
                mine.data.copy_(given)  # forward may write to it: not to the task's
            else:
                mine.data = given

    def run_model(self, values, model, binding):
        places, seed = self.at(values)
        self.set_parameters(places, binding)
        PLACE.seed(seed)
        self.store(places, WATCH.call(model, *self.inputs(places)))

    def run_wrapper(self, values):
        places, seed = self.at(values)
        extra = {
            name: self.tensor(places, value) if isinstance(value, dict) and "tensor" in value else value
            for name, value in self.by_name.items()
        }
        PLACE.seed(seed)
        self.store(places, WATCH.call(self.wrapper, *self.inputs(places), **extra))

    def store(self, places, result):
        """What forward gave, where it has the form of the task's answer."""
        in_sequence, answer = isinstance(result, (list, tuple)), self.meta.get("answer")
        if in_sequence and answer == "tensor":
            raise Mismatch(f"gave a {type(result).__name__}, expected a tensor")
        found = flat(result, Mismatch)
        if not in_sequence and answer == "sequence":
            raise Mismatch("gave a tensor, expected a tuple or list")
        self.write(places, found)

    def write(self, places, found, as_double=False):
        """These tensors to the task's outputs; `as_double`: floats, whatever type they have."""
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
            self.tensor(places, spec, dtype).copy_(tensor)
