"""Finds a module's inputs, parameters and outputs with their shapes, on fake tensors: without computing."""

import hashlib
import inspect
import linecache
import os
import random
import sys
import types
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import torch

from hone_modules.fake_run import FakeFunctions, fake_mode
from hone_modules.packages import advice, missing_package
from hone_modules.tensors import Inputs, Unfit, describe_outputs, flat_outputs, leaves, pack
from hone_modules.watched_run import Bounded, Draws, Flops, TooMuch, Writes, unseeded

os.environ.setdefault("HF_HUB_OFFLINE", "1")  # a description downloads nothing

ARGUMENTS_MAX = 16  # of a task, its seed included
REAL_BYTES_MAX = 64 << 20  # of inputs and parameters; a module within it may run on real tensors
REASON_CHARACTERS_MAX = 300
NAMES_SHOWN = 8  # modules listed in the error for an unknown class
NAME_CHARACTERS_MAX = 100


class NotMade(Unfit):
    """A source or a constructor does not run. If it reads a value, it may run on real tensors."""


class Failed(Unfit):
    """A forward() does not run."""

    def __init__(self, why: str, by_value: bool, inputs: list[Any], state: list[tuple[str, Any, str]]) -> None:
        """by_value: fake tensors have no values, and that is the cause. inputs, state: of the module."""
        super().__init__(why)
        self.by_value = why if by_value else ""
        values = [*leaves(inputs), *(value for _, value, _ in state)]
        self.bytes = sum(v.numel() * v.element_size() for v in values if isinstance(v, torch.Tensor))


@dataclass
class Description:
    """The parts of a task, as found in a run of the module."""

    module: str  # its class
    inputs: list[Any]  # as module.json has them
    parameters: list[dict[str, Any]]
    outputs: list[dict[str, Any]]
    answer: str  # "tensor", or "sequence": a tuple or list of them
    tensors: list[dict[str, Any]] = field(default_factory=list)  # as the task has them
    flops: int = field(default=0, compare=False)  # watched_run.Flops.count; 0: unknown
    draws: dict[str, tuple[str, str]] = field(default_factory=dict, compare=False)  # watched_run.Draws


@dataclass(frozen=True)
class Way:
    """The parts of a module's run that use fake tensors."""

    fakes_constructor: bool
    fakes_forward: bool


def said(error: BaseException) -> str:
    """An error in one line."""
    if package := missing_package(error):
        return f"it needs {advice(package)}"
    if isinstance(error, TooMuch):
        return str(error)
    return f"{type(error).__name__}: {' '.join(str(error).split())}"[:REASON_CHARACTERS_MAX]


def not_made(what: str, error: BaseException, source: str) -> NotMade:
    """The NotMade for an exception of a source or a constructor."""
    if package := missing_package(error):
        return NotMade(f"it needs {advice(package)}")
    if isinstance(error, OSError) and "from_pretrained" in source:
        lacks = "it loads pretrained files that are not on this machine, and none are downloaded"
        return NotMade(f"{lacks}: {said(error)}")
    return NotMade(f"{what}: {said(error)}")


def load(source: str) -> types.ModuleType:
    """Runs the source as a module of its own."""
    name = f"hone_reference_{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    module = types.ModuleType(name)
    module.__file__ = f"<{name}>"
    lines = source.splitlines(keepends=True)
    # torch.jit and others look up the source of a function here.
    linecache.cache[module.__file__] = (len(source), None, lines, module.__file__)
    sys.modules[name] = module
    try:
        exec(compile(source, module.__file__, "exec", dont_inherit=True), module.__dict__)
    except SystemExit as error:
        raise Unfit(f"its source exits: {error}") from None
    except Exception as error:
        raise not_made("its source does not run", error, source) from None
    finally:
        sys.modules.pop(name, None)
    return module


def init_inputs(module: types.ModuleType) -> tuple[list[Any], dict[str, Any]]:
    """The constructor's arguments, from get_init_inputs(): [a, b] or [[a], {"b": b}]."""
    if not hasattr(module, "get_init_inputs"):
        return [], {}
    try:
        given = module.get_init_inputs()
    except Exception as error:
        raise NotMade(f"get_init_inputs() fails: {said(error)}") from None
    if isinstance(given, dict):
        return [], given
    if not isinstance(given, list | tuple):
        raise Unfit(f"get_init_inputs() gives a {type(given).__name__}, expected a list")
    if len(given) == 2 and isinstance(given[0], list | tuple) and isinstance(given[1], dict):
        return list(given[0]), given[1]
    return list(given), {}


def fits(cls: type, args: list[Any], kwargs: dict[str, Any]) -> bool:
    """Whether the constructor accepts these arguments."""
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
    """The module's class and its name: `Model`, else `entry`, else the last class that accepts get_init_inputs().

    `exact`: only `entry`.
    """
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


def construct(source: str, entry: str, exact: bool) -> tuple[types.ModuleType, str, torch.nn.Module]:
    """Loads the source and constructs its module. Returns also the name of its class."""
    module = load(source)
    args, kwargs = init_inputs(module)
    name, cls = find_class(module, entry, exact, args, kwargs)
    try:
        return module, name, cls(*args, **kwargs)
    except Exception as error:
        raise not_made(f"{name}(…) fails", error, source) from None


def make_inputs(module: types.ModuleType) -> list[Any]:
    """The inputs of forward()."""
    if not callable(getattr(module, "get_inputs", None)):
        raise Unfit("it has no get_inputs()")
    try:
        inputs = module.get_inputs()
    except Exception as error:
        raise Unfit(f"get_inputs() fails: {said(error)}") from None
    if not isinstance(inputs, list | tuple):
        raise Unfit(f"get_inputs() gives a {type(inputs).__name__}, expected a list")
    return list(inputs)


def run(source: str, entry: str, exact: bool, seed: int, way: Way) -> Description:
    """Loads the source, constructs the module and its inputs, runs it once, and describes the run."""
    random.seed(seed)
    if (numpy := sys.modules.get("numpy")) is not None:
        numpy.random.seed(seed)
    torch.manual_seed(seed)
    fake = fake_mode()
    with fake if way.fakes_constructor else Bounded():
        module, name, made = construct(source, entry, exact)
    functions = FakeFunctions()
    with ExitStack() as stack:
        if way.fakes_forward:
            stack.enter_context(fake)
            stack.enter_context(functions)
        given = make_inputs(module)
        parameters = dict(made.named_parameters(remove_duplicate=False))
        state = [(n, value, "parameter" if n in parameters else "buffer") for n, value in made.state_dict().items()]
        # Before forward(), which may change the shape of its inputs.
        inputs = Inputs(forward_names(type(made)))
        described = inputs.take_all(given)
        draws = Draws(module, made)
        watched = [*inputs.found, *(p for p in parameters.values() if not torch.nn.parameter.is_lazy(p))]
        try:
            with torch.no_grad(), Writes(watched) as writes, Flops() as flops:
                outputs = made(*given)
        except Exception as error:
            by_value = functions.reason(error)
            why = f"{name}.forward() fails: {by_value or said(error)}"
            raise Failed(why, by_value != "", given, state) from None
    inputs.note_changes(writes)
    entries, packed = pack(state, writes)
    answer = "tensor" if isinstance(outputs, torch.Tensor) else "sequence"
    written, tensors = describe_outputs(flat_outputs(outputs))
    tensors = [*inputs.tensors, *packed, *tensors]
    if len(tensors) + 1 > ARGUMENTS_MAX:
        raise Unfit(f"it has {len(tensors)} tensors, and with its seed at most {ARGUMENTS_MAX} arguments are possible")
    return Description(name, described, entries, written, answer, tensors, flops.count, draws.drawn())


def forward_names(cls: type) -> list[str]:
    """The names of forward()'s parameters."""
    try:
        parameters = list(inspect.signature(cls.forward).parameters.values())[1:]
    except (TypeError, ValueError):
        return []
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter.name for parameter in parameters if parameter.kind in positional]


def twice(source: str, entry: str, exact: bool, way: Way, by_value: str = "") -> Description:
    """Describes runs with two seeds. They must agree: a shape or a value drawn at random cannot be part of a task.

    `by_value`: the reason why a fake run failed. It explains outputs that differ while inputs and parameters agree.
    """
    one, two = (run(source, entry, exact, seed, way) for seed in (1, 2))
    if one != two:
        given_is_equal = (one.inputs, one.parameters) == (two.inputs, two.parameters)
        raise Unfit((given_is_equal and by_value) or "its shapes or the numbers that it is given are drawn at random")
    if drawn := unseeded(one.draws, two.draws):
        raise Unfit(
            f"forward() draws from {drawn[0]}, which is not seeded for each call, so that a submission draws other"
            " numbers; expected torch's own generator, as torch.rand() has it"
        )
    return one


known: dict[str, Description | Unfit] = {}  # by hash of source, entry and exact


def describe(source: str, entry: str = "", exact: bool = False) -> Description:
    """Describes a module, or raises Unfit with the reason. A small module whose fake run fails runs on real tensors.

    `exact`: only the class `entry`.
    """
    key = hashlib.sha256(f"{exact}\0{entry}\0{source}".encode()).hexdigest()
    if key not in known:
        try:
            known[key] = describe_once(source, entry, exact)
        except Unfit as unfit:
            known[key] = Unfit(str(unfit))
    answer = known[key]
    if isinstance(answer, Unfit):
        raise Unfit(str(answer))
    return answer


def describe_once(source: str, entry: str, exact: bool) -> Description:
    """Describes a module on fake tensors. A constructor that needs values, or a small forward(), runs on real ones."""
    unmade = NotMade()
    for fakes_constructor in (True, False):
        try:
            return twice(source, entry, exact, Way(fakes_constructor, fakes_forward=True))
        except NotMade as error:
            unmade = error
        except Failed as failed:
            if failed.bytes > REAL_BYTES_MAX:
                raise
            return twice(source, entry, exact, Way(False, False), by_value=failed.by_value)
    raise unmade
