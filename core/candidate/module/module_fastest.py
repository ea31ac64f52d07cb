"""A baseline in its fastest mode: as it is, or compiled by torch.compile, whichever takes less.

Trusted code, in a process of its own, before anything foreign has run beside it.
"""

import os
import time

import torch

from module_place import PLACE
from module_values import flat

TURNS, CALLS_MAX = 3, 50
SECONDS = 0.05  # of a turn


def set_environment():
    """What the compiler makes is this process' own, and it starts no others that would outlive a measurement."""
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(os.getcwd(), "inductor")
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"


def seconds_of(call):
    """One call's, of the quickest turn of several."""
    call()
    PLACE.wait()
    begun = time.perf_counter()
    call()
    PLACE.wait()
    once = time.perf_counter() - begun
    calls = max(1, min(CALLS_MAX, int(SECONDS / max(once, 1e-6))))
    turns = []
    for _ in range(TURNS):
        begun = time.perf_counter()
        for _ in range(calls):
            call()
        PLACE.wait()
        turns.append((time.perf_counter() - begun) / calls)
    return min(turns)


def make_fastest(model, get_inputs):
    """Compiles the model, and undoes that where it does not compile or is slower so. Returns words that say which."""
    with PLACE.device:
        given = [value.to(PLACE.device) if isinstance(value, torch.Tensor) else value for value in get_inputs()]

    def call():
        PLACE.seed(0)
        return flat(model(*given))

    with torch.no_grad():
        eager = seconds_of(call)
        set_environment()
        try:
            model.compile()
            compiled = seconds_of(call)
        except Exception as error:
            words = f"it does not compile: {type(error).__name__}: {error}".split("\n")[0]
        else:
            words = f"{eager * 1e6:.1f} us a call, and compiled {compiled * 1e6:.1f}"
            if compiled < eager:
                return f"its baseline is compiled by torch.compile: eager {words}"
    model._compiled_call_impl = None  # as if it had never been asked for
    torch._dynamo.reset()
    return f"its baseline is eager: {words}"
