"""A baseline in its fastest mode: as it is, or compiled by torch.compile, whichever takes less.

Trusted code, in a process of its own, before anything foreign has run beside it.
"""

import contextlib
import os
import signal
import sys
import time

import torch

from module_place import PLACE
from module_values import flat

TURNS, CALLS_MAX = 3, 50
SECONDS = 0.05  # of a turn
COMPILING_SECONDS = 40


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


@contextlib.contextmanager
def at_most(seconds):
    """Raises TimeoutError then."""

    def give_up(number, frame):
        raise TimeoutError(f"compiling takes more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def placed(value):
    if isinstance(value, torch.Tensor):
        return value.to(PLACE.device)
    return [placed(one) for one in value] if isinstance(value, (list, tuple)) else value


def make_fastest(model, get_inputs):
    """Compiles the model, and undoes that where it does not compile or is slower so. Returns words that say which, and
    whether they are a warning."""
    try:
        with PLACE.device, torch.no_grad():
            given = placed(list(get_inputs()))

            def call():
                PLACE.seed(0)
                return flat(model(*given))

            eager = seconds_of(call)
            set_environment()
            with at_most(COMPILING_SECONDS):
                model.compile()
                call()
            compiled = seconds_of(call)
            words = f"eager {eager * 1e6:.1f} us a call, compiled {compiled * 1e6:.1f}"
            if compiled < eager:
                return f"its baseline is compiled by torch.compile: {words}", False
            warns = False
    except Exception as error:
        warns = True
        words = f"it cannot be compiled: {type(error).__name__}: {error}".split("\n")[0]
    model._compiled_call_impl = None  # as if it had never been asked for
    if "torch._dynamo" in sys.modules:
        torch._dynamo.reset()
    return f"its baseline is eager: {words}", warns
