"""The arguments of a `triton_kernel_wrapper` beyond a module's inputs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any


class Refused(Exception):
    """A module cannot be used as the task needs it."""


def constructor_settings(factory: Any, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a class' constructor by name, defaults included."""
    code = factory.__init__.__code__ if hasattr(factory.__init__, "__code__") else None
    if code is None:
        return {}
    names = list(code.co_varnames[1 : code.co_argcount])
    defaults = factory.__init__.__defaults__ or ()
    settings = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    settings.update(zip(names, args, strict=False))
    settings.update(kwargs)
    return settings


def bind_wrapper(
    wrapper: Callable[..., Any], given: int, parameters: Mapping[str, Any], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """The wrapper's arguments beyond its `given` inputs, by name: weights by name, then by order; constructor arguments
    by name.

    parameters: name → a mapping with the weight's "shape", in order.
    """
    kinds = inspect.Parameter
    names = inspect.signature(wrapper).parameters
    placed = [n for n, p in names.items() if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    variable = any(p.kind is kinds.VAR_POSITIONAL for p in names.values())
    rest = placed[given:] + [n for n, p in names.items() if p.kind is kinds.KEYWORD_ONLY]
    optional = {n for n, p in names.items() if p.default is not kinds.empty}
    by_name: dict[str, Any] = {}
    left = dict(parameters)
    unbound = []
    for name in rest:
        full = next((n for n in left if name in (n, n.replace(".", "_"))), None)
        short = [n for n in left if n.rsplit(".", 1)[-1] == name]
        found = full or (short[0] if short else None)
        if found is not None:
            by_name[name] = left.pop(found)
        elif name in settings:
            by_name[name] = settings[name]
        elif name not in optional:
            unbound.append(name)
    for name, parameter in zip(list(unbound), list(left), strict=False):
        by_name[name] = left[parameter]
        unbound.remove(name)
    if unbound or (len(placed) < given and not variable):
        have = [f"{n} {p['shape']}" for n, p in parameters.items()] + sorted(settings)
        raise Refused(
            f"triton_kernel_wrapper({', '.join(names)}) is given {given} inputs, and "
            f"nothing fits {', '.join(unbound) or 'the rest'}; there are {', '.join(have) or 'no parameters'}"
        )
    return by_name
