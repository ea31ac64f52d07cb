"""A loaded module in a candidate's process: its values in the arena, its parameters, its calls.

Everything here runs beside foreign code and is believed by nobody: the judge made the inputs, looks at the outputs'
bytes in the arena, and holds the clock. An artifact is the JSON of build_module.py; its module.json says how a
module's values lie in a task's tensors (docs/modules.md).
"""

import json
import linecache
import sys
import types

import torch

from module_fastest import make_fastest
from module_place import ARENA, PLACE
from module_values import constructor_arguments, count, flat, is_varied, vary
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
INPUTS, VARIED, EXACT, REFERENCE = "inputs", "varied", "exact", "reference"
AGREE_VALUES = 1 << 24  # of an answer, compared in its two precisions
LARGE_BYTES = 32 << 20  # of one call: torch may then hold much that others need


class Mismatch(Exception):
    """An output of another form than the task's."""


def root_mean_square(tensor):
    return float(tensor.float().square().mean().sqrt()) if tensor.numel() else 0.0


def lacks_memory(error):
    """Whether others may have left too little of the device: no reason to answer less precisely from now on."""
    words = ("out of memory", "ALLOC_FAILED", "NOT_INITIALIZED")
    return isinstance(error, torch.OutOfMemoryError) or any(each in str(error) for each in words)


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
    """One loaded module: a submission, a baseline or a reference."""

    def __init__(self, content):
        self.name, self.source = content["name"], content["source"]
        support = content["support"]
        self.meta = json.loads(support["module.json"])
        self.tensors = self.order_of_tensors()
        self.given = None  # (args, kwargs) of the constructor
        self.note = ""  # for the log
        self.model = self.double = self.base = self.wrapper = None
        self.trusted_double = False
        self.varied = None  # of the inputs' tensors, in their order
        self.is_large = self.bytes_of_call() > LARGE_BYTES
        PLACE.seed(0)
        if self.name == "reference.py":
            self.module = run_source(self.name, self.source, "reference")
            self.given = constructor_arguments(self.module)
        else:
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

    def parameters_made(self):
        """As the constructor made them: by tensor of floats, what it holds and how far each may be from that; and the
        others."""
        floats, others = {}, []
        for mine, parameter in self.model[1].pairs:
            if mine.is_floating_point():
                floats.setdefault(parameter["tensor"], []).append((parameter, mine.detach().flatten()))
            else:
                others.append((parameter, mine.detach().clone()))
        return {name: self.packed(parts) for name, parts in floats.items()}, others

    def packed(self, parts):
        size = max(parameter["at"] + made.numel() for parameter, made in parts)
        base = torch.zeros(size, dtype=parts[0][1].dtype, device=PLACE.device)
        spread = torch.zeros_like(base)
        for parameter, made in parts:
            part = slice(parameter["at"], parameter["at"] + made.numel())
            base[part] = made
            if parameter["kind"] == "parameter":  # biases of zero, too; a variance must stay positive
                spread[part] = 0.1 * (root_mean_square(made) or 0.5)
        return base, spread

    def entry(self, name):
        if name in (INPUTS, VARIED, EXACT, REFERENCE):
            factory = getattr(self.module, self.meta["module"])
            self.model = self.model or self.bind_model(factory, self.meta["module"])
            if name in (INPUTS, VARIED):
                self.base = self.base or self.parameters_made()
                return lambda values: self.make_inputs(values, varied=name == VARIED)
            if name == REFERENCE:
                return lambda values: self.run_model(values, *self.model)
            try:
                self.double = self.bind_model(lambda *a, **k: factory(*a, **k).double(), self.meta["module"])
            except Exception as error:
                if lacks_memory(error):
                    raise
                self.double = None
            return self.run_exact
        factory = getattr(self.module, name, None)
        if factory is not None:
            self.model = self.bind_model(factory, name)
            if self.name == "baseline.py" and self.meta.get("baseline") == "compile":
                self.note = make_fastest(self.model[0], self.module.get_inputs)
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

    def inputs(self, places, change=lambda tensor: tensor):
        def value(spec):
            if "tensor" in spec:
                return change(self.tensor(places, spec))
            return [value(one) for one in spec["list"]] if "list" in spec else spec["value"]

        return [value(spec) for spec in self.meta["inputs"]]

    def set_parameters(self, places, binding, change=lambda tensor: tensor):
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

    def run_exact(self, values):
        places, seed = self.at(values)

        def widen(tensor):  # a copy: the module may write to it
            return tensor.to(torch.float64, copy=True) if tensor.is_floating_point() else tensor.clone()

        if self.double is not None:
            try:
                torch.set_default_dtype(torch.float64)
                self.set_parameters(places, self.double[1], widen)
                PLACE.seed(seed)
                wide = flat(self.double[0](*self.inputs(places, widen)))
                if self.trusted_double or self.agrees(places, seed, wide):
                    self.store(places, wide, exact=True)
                    return
            except RuntimeError as error:
                if lacks_memory(error):
                    raise
            finally:
                torch.set_default_dtype(torch.float32)
                self.give_back()
            # It mixes dtypes of its own, or draws numbers, and others in double: its own precision has to do.
            self.double = None
        self.store(places, self.in_own_precision(places, seed), exact=True)

    def in_own_precision(self, places, seed):
        """The reference's answers, from copies of the inputs: it may write to them."""
        self.set_parameters(places, self.model[1])
        PLACE.seed(seed)
        return flat(self.model[0](*self.inputs(places, torch.Tensor.clone)))

    def agrees(self, places, seed, wide):
        """Whether the double form computes the same: asked once, while the default dtype is double."""
        torch.set_default_dtype(torch.float32)
        for own, exact in zip(self.in_own_precision(places, seed), wide, strict=True):
            if not own.is_floating_point() or not own.numel():
                continue
            step = max(1, own.numel() // AGREE_VALUES)  # copies of all of a large answer would take a device's memory
            own, exact = own.flatten()[::step].double(), exact.flatten()[::step].double()
            size = exact[exact.isfinite()].square().mean().sqrt() if exact.isfinite().any() else 0
            far = ((own - exact).abs() > 0.02 * (size + exact.abs())).double().mean()
            if far > 0.001:
                return False
        self.trusted_double = True
        return True

    def make_inputs(self, values, varied):
        """The reference's own inputs, or varied ones, and parameters about as its constructor made them, but others
        each time. Rationale: of a small module it takes longer than the module, for every call that is timed; so the
        fewest operations count here, and parameters are made together."""
        places, seed = self.at(values)
        PLACE.seed(seed)
        made = []

        def fill(spec, value):
            if "tensor" in spec:
                made.append(self.tensor(places, spec).copy_(torch.as_tensor(value)))
            elif "list" in spec:
                for one, inner in zip(spec["list"], value, strict=True):
                    fill(one, inner)

        with PLACE.device:
            given = self.module.get_inputs()
        for spec, value in zip(self.meta["inputs"], given, strict=True):
            fill(spec, value)
        del given
        if varied:
            if self.varied is None:
                self.varied = [is_varied(value) for value in made]
            vary([value for value, is_so in zip(made, self.varied, strict=True) if is_so])
        self.give_back()
        floats, others = self.base
        for name, (base, spread) in floats.items():
            to = ARENA.view(places[name], base.dtype, base.shape)
            to.uniform_(0.9, 1.1).mul_(base).addcmul_(torch.randn_like(base), spread)
        for parameter, base in others:
            self.tensor(places, parameter).copy_(base)

    def run_wrapper(self, values):
        places, seed = self.at(values)
        extra = {
            name: self.tensor(places, value) if isinstance(value, dict) and "tensor" in value else value
            for name, value in self.by_name.items()
        }
        PLACE.seed(seed)
        self.store(places, WATCH.call(self.wrapper, *self.inputs(places), **extra))

    def store(self, places, result, exact=False):
        in_sequence, answer = isinstance(result, (list, tuple)), self.meta.get("answer")
        if not exact and in_sequence and answer == "tensor":
            raise Mismatch(f"gave a {type(result).__name__}, expected a tensor")
        found = flat(result, None if exact else Mismatch)
        if not exact and not in_sequence and answer == "sequence":
            raise Mismatch("gave a tensor, expected a tuple or list")
        wanted = self.meta["outputs"]
        if len(found) != len(wanted):
            raise Mismatch(f"gave {len(found)} tensors, expected {len(wanted)}")
        for tensor, spec in zip(found, wanted, strict=True):
            shape, dtype = list(tensor.shape), DTYPES[spec["dtype"]]
            if shape != spec["shape"]:
                raise Mismatch(f"output {spec['tensor']} has shape {shape}, expected {spec['shape']}")
            if not exact and tensor.dtype != dtype:
                raise Mismatch(f"output {spec['tensor']} has dtype {tensor.dtype}, expected {dtype}")
            if exact and dtype.is_floating_point:
                dtype = torch.float64
            self.tensor(places, spec, dtype).copy_(tensor)
