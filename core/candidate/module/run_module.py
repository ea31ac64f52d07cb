"""Runs PyTorch modules in a candidate's process: hone-candidate's loop, with Python in the place of a loaded library.

    python -I run_module.py hone-candidate.so BACKEND.so DEVICE FOLDER…   (which the sealed process may read)

Theory of operation. The interpreter imports torch and Triton while nothing foreign is near, and hands the backend three
functions: load, get_kernel and launch. The rest is hone_candidate_main, as for native code: it maps the arena, seals the
process, and calls these when the judge orders a round. What is below `Artifact` runs beside foreign code and is believed by
nobody: the judge made the inputs, looks at the outputs' bytes in the arena, and holds the clock.

An artifact is the JSON of build_module.py; its module.json says how a module's values lie in a task's tensors
(docs/modules.md).
"""

import ctypes
import json
import os
import sys

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
os.environ["TRITON_INTERPRET"] = "1"  # the processor has no compiler of Triton's

import linecache  # noqa: E402
import traceback  # noqa: E402
import types  # noqa: E402
import warnings  # noqa: E402

import torch  # noqa: E402

try:
    import triton
    import triton.language
except ImportError:  # modules of torch alone can be judged without
    triton = None

OK, INVALID_ARGUMENT, NOT_FOUND, FAILED_PRECONDITION, RESOURCE_EXHAUSTED, INTERNAL = 0, 1, 2, 3, 4, 9
MISMATCH = NOT_FOUND  # of launch: an output of another form than the task's

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
NAMES = {dtype: name for name, dtype in DTYPES.items()}
INPUTS, EXACT, REFERENCE = "inputs", "exact", "reference"


class Refused(Exception):
    """What the module is asked for and is not."""


class Mismatch(Exception):
    """An output of another form than the task's."""


def count(shape):
    total = 1
    for extent in shape:
        total *= extent
    return total


class Arena:
    """The shared memory that tensors lie in."""

    def __init__(self):
        self.base = None
        self.bytes = None

    def use(self, base, size):
        if base != self.base:
            self.base = base
            self.bytes = torch.frombuffer((ctypes.c_char * size).from_address(base), dtype=torch.uint8)

    def view(self, at, dtype, shape):
        size = count(shape) * dtype.itemsize
        return self.bytes[at : at + size].view(dtype).view(shape)


def run_source(name, source, module_name):
    """A module of this source, whose lines tracebacks and Triton find though there is no file."""
    module = types.ModuleType(module_name)
    module.__file__ = name
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    sys.modules[module_name] = module
    exec(compile(source, name, "exec"), module.__dict__)
    return module


def arguments_of(given):
    """get_init_inputs() in both of its forms: [a, b] and [[a], {b: c}]."""
    given = list(given)
    if len(given) == 2 and isinstance(given[0], (list, tuple)) and isinstance(given[1], dict):
        return list(given[0]), dict(given[1])
    return given, {}


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
        self.reference_text = support.get("reference.py", self.source)
        self.tensors = self.order_of_tensors()
        self.given = None  # (args, kwargs) of the constructor
        self.model = self.double = self.base = self.wrapper = None
        torch.manual_seed(0)
        if self.name == "reference.py":
            self.module = run_source(self.name, self.source, "reference")
            self.given = arguments_of(self.module.get_init_inputs())
        else:
            trusted = run_source("reference.py", self.reference_text, "reference")
            self.given = arguments_of(trusted.get_init_inputs())
            self.module = run_source(self.name, self.source, self.name.removesuffix(".py"))

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
        torch.manual_seed(0)
        return factory(*args, **kwargs)

    def bind_model(self, factory, words):
        model = self.construct(factory)
        if not callable(model):
            raise Refused(f"{words}() gave a {type(model).__name__}, expected a torch.nn.Module")
        state = dict(model.state_dict(keep_vars=True)) if isinstance(model, torch.nn.Module) else {}
        return model, Binding(state, self.meta["parameters"], words)

    def entry(self, name):
        if name in (INPUTS, EXACT, REFERENCE):
            factory = getattr(self.module, self.meta["module"])
            self.model = self.model or self.bind_model(factory, self.meta["module"])
            if name == INPUTS:
                self.base = [(p, t.detach().clone()) for t, p in self.model[1].pairs]
                return self.make_inputs
            if name == REFERENCE:
                return lambda values: self.run_model(values, *self.model)
            try:
                self.double = self.bind_model(lambda *a, **k: factory(*a, **k).double(), self.meta["module"])
            except Exception:
                self.double = None
            return self.run_exact
        factory = getattr(self.module, name, None)
        if factory is not None:
            self.model = self.bind_model(factory, name)
            return lambda values: self.run_model(values, *self.model)
        self.wrapper = getattr(self.module, "triton_kernel_wrapper", None)
        if self.wrapper is None:
            raise Refused(f"found neither a class {name} nor a function triton_kernel_wrapper")
        self.bind_wrapper()
        return self.run_wrapper

    # What a round does. `values`: the offset of each of the task's tensors, then the seed.

    def at(self, values):
        return dict(zip(self.tensors, values)), values[len(self.tensors)]

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
        torch.manual_seed(seed)
        self.store(places, model(*self.inputs(places)))

    def run_exact(self, values):
        places, seed = self.at(values)

        def widen(tensor):
            return tensor.double() if tensor.is_floating_point() else tensor

        if self.double is not None:
            try:
                torch.set_default_dtype(torch.float64)
                self.set_parameters(places, self.double[1], widen)
                torch.manual_seed(seed)
                return self.store(places, self.double[0](*self.inputs(places, widen)), exact=True)
            except RuntimeError:
                self.double = None  # it mixes dtypes of its own: its own precision has to do
            finally:
                torch.set_default_dtype(torch.float32)
        self.set_parameters(places, self.model[1])
        torch.manual_seed(seed)
        return self.store(places, self.model[0](*self.inputs(places)), exact=True)

    def make_inputs(self, values):
        """The reference's own inputs, and parameters about as its constructor made them, but others each time."""
        places, seed = self.at(values)
        torch.manual_seed(seed)

        def fill(spec, value):
            if "tensor" in spec:
                self.tensor(places, spec).copy_(torch.as_tensor(value))
            elif "list" in spec:
                for one, inner in zip(spec["list"], value):
                    fill(one, inner)

        for spec, value in zip(self.meta["inputs"], self.module.get_inputs()):
            fill(spec, value)
        for parameter, base in self.base:
            to = self.tensor(places, parameter)
            if not base.is_floating_point():
                to.copy_(base)
                continue
            given = base.float() * (0.9 + 0.2 * torch.rand(base.shape))
            if parameter["kind"] == "parameter":  # biases of zero, too; a variance must stay positive
                size = float(base.float().square().mean().sqrt()) if base.numel() else 0.0
                given += 0.1 * (size or 0.5) * torch.randn(base.shape)
            to.copy_(given)

    def bind_wrapper(self):
        """The wrapper's parameters beyond the inputs: weights by name, then by order; the constructor's by name."""
        code = self.wrapper.__code__
        names = list(code.co_varnames[: code.co_argcount])
        self.by_name = {}
        taken = names[: len(self.meta["inputs"])]
        rest = names[len(taken) :] + list(code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount])
        optional = set(names[len(names) - len(self.wrapper.__defaults__ or ()) :]) | set(self.wrapper.__kwdefaults__ or {})
        left = {p["name"]: p for p in self.meta["parameters"]}
        settings = self.constructor_settings()
        unbound = []
        for name in rest:
            full = next((n for n in left if name in (n, n.replace(".", "_"))), None)
            short = [n for n in left if n.rsplit(".", 1)[-1] == name]
            found = full or (short[0] if short else None)
            if found is not None:
                self.by_name[name] = left.pop(found)
            elif name in settings:
                self.by_name[name] = settings[name]
            elif name not in optional:
                unbound.append(name)
        for name, parameter in zip(list(unbound), list(left)):
            self.by_name[name] = left[parameter]
            unbound.remove(name)
        if unbound or code.co_argcount < len(self.meta["inputs"]) and not code.co_flags & 4:
            have = [f"{p['name']} {p['shape']}" for p in self.meta["parameters"]] + sorted(settings)
            raise Refused(
                f"triton_kernel_wrapper({', '.join(names)}) is given {len(self.meta['inputs'])} inputs, and nothing fits "
                f"{', '.join(unbound) or 'the rest'}; there are {', '.join(have) or 'no parameters'}"
            )

    def constructor_settings(self):
        """What the reference was constructed with, by name: plain values only."""
        factory = getattr(sys.modules["reference"], self.meta["module"])
        code = factory.__init__.__code__ if hasattr(factory.__init__, "__code__") else None
        if code is None:
            return {}
        names = list(code.co_varnames[1 : code.co_argcount])
        defaults = factory.__init__.__defaults__ or ()
        settings = dict(zip(names[len(names) - len(defaults) :], defaults))
        args, kwargs = self.given
        settings.update(zip(names, args))
        settings.update(kwargs)
        return settings

    def run_wrapper(self, values):
        places, seed = self.at(values)
        extra = {
            name: self.tensor(places, value) if isinstance(value, dict) and "tensor" in value else value
            for name, value in self.by_name.items()
        }
        torch.manual_seed(seed)
        self.store(places, self.wrapper(*self.inputs(places), **extra))

    def store(self, places, result, exact=False):
        found = []

        def flatten(value):
            if isinstance(value, torch.Tensor):
                found.append(value)
            elif isinstance(value, (list, tuple)):
                for one in value:
                    flatten(one)
            elif isinstance(value, dict):
                flatten(list(value.values()))
            elif value is not None:
                found.append(torch.as_tensor(value))

        flatten(result)
        wanted = self.meta["outputs"]
        if len(found) != len(wanted):
            raise Mismatch(f"gave {len(found)} tensors, expected {len(wanted)}")
        for tensor, spec in zip(found, wanted):
            shape, dtype = list(tensor.shape), DTYPES[spec["dtype"]]
            if shape != spec["shape"]:
                raise Mismatch(f"output {spec['tensor']} has shape {shape}, expected {spec['shape']}")
            if not exact and tensor.dtype != dtype:
                raise Mismatch(f"output {spec['tensor']} has dtype {tensor.dtype}, expected {dtype}")
            if exact and dtype.is_floating_point:
                dtype = torch.float64
            self.tensor(places, spec, dtype).copy_(tensor)


ARENA = Arena()
LOADED = {"artifact": None, "kernels": []}


def words_of(error):
    """The innermost line of the module that raised, and what was said: one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    text = str(error).strip().split("\n")[0] or "no message"
    place = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename in ("submission.py", "baseline.py", "reference.py"):
            place = f" ({frame.filename}:{frame.lineno})"
    room = 240 - len(place)
    return f"{type(error).__name__}: {text}"[:room] + place


def guarded(body):
    """The backend's way of hearing of a failure: a code, and words in its buffer."""

    def call(*arguments):
        *arguments, message, size = arguments
        try:
            return body(*arguments)
        except Refused as error:
            code, words = INVALID_ARGUMENT, str(error)
        except Mismatch as error:
            code, words = MISMATCH, str(error)
        except MemoryError as error:
            code, words = RESOURCE_EXHAUSTED, f"MemoryError: {error}"
        except BaseException as error:
            memory = "can't allocate memory" in str(error) or "not enough memory" in str(error)
            code, words = RESOURCE_EXHAUSTED if memory else FAILED_PRECONDITION, words_of(error)
        data = words.encode("utf-8", "replace")[: size - 1] + b"\0"
        ctypes.memmove(message, data, len(data))
        return code

    return call


def load(address, size):
    LOADED["artifact"] = Artifact(json.loads(ctypes.string_at(address, size)))
    return OK


def get_kernel(entry, number):
    kernels = LOADED["kernels"]
    kernels.append(LOADED["artifact"].entry(entry.decode()))
    ctypes.c_int32.from_address(number).value = len(kernels) - 1
    return OK


def launch(number, base, size, values, amount):
    ARENA.use(base, size)
    with torch.no_grad():
        LOADED["kernels"][number](list((ctypes.c_uint64 * amount).from_address(values)))
    return OK


POINTER, U64, I32 = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int32
LOAD = ctypes.CFUNCTYPE(I32, POINTER, U64, POINTER, U64)
GET_KERNEL = ctypes.CFUNCTYPE(I32, ctypes.c_char_p, POINTER, POINTER, U64)
LAUNCH = ctypes.CFUNCTYPE(I32, I32, POINTER, U64, POINTER, U64, POINTER, U64)


class Functions(ctypes.Structure):
    """hone_python of hone/backend.h."""

    _fields_ = [("struct_size", ctypes.c_uint32), ("load", LOAD), ("get_kernel", GET_KERNEL), ("launch", LAUNCH)]


def warm():
    """What the first use of torch does, before the process is sealed."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    with torch.no_grad():
        torch.nn.Linear(4, 4)(torch.rand(2, 4)).softmax(-1).double().sum()


def main():
    candidate, backend, device, *folders = sys.argv[1:]
    warm()
    functions = Functions(ctypes.sizeof(Functions), LOAD(guarded(load)), GET_KERNEL(guarded(get_kernel)), LAUNCH(guarded(launch)))
    words = [word.encode() for word in ("hone-candidate", backend, device, *folders)]
    arguments = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    return ctypes.CDLL(candidate).hone_candidate_main(len(words), arguments, ctypes.byref(functions))


if __name__ == "__main__":
    sys.exit(main())
