"""Replays recorded plans in a candidate's process: the loop of hone-candidate, and torch for a plan's operators.

    python -I replay_module.py PLACE hone-candidate.so BACKEND.so DEVICE FOLDER…

PLACE: see module_environment.py. FOLDER…: the folders that the process may read once it is sealed.

Theory of operation. The backend replays a plan: it loads code, places memory and starts kernels. For a step that is an
operator of torch, the backend calls operate(), which runs the operator on the backend's stream (replay_operators.py).
No Python of a submission runs in this process.
"""

from __future__ import annotations

import ctypes
import os
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "shared"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # python -I leaves both out
import module_environment  # noqa: F401  first: it sets what torch reads

# isort: split
import torch

from backend_functions import (
    FAILED_PRECONDITION,
    FLAGS,
    INVALID_ARGUMENT,
    LOAD_OPERATORS,
    OPEN,
    OPERATE,
    RESOURCE_EXHAUSTED,
    TRIM,
    U64,
    Functions,
    guarded,
    run_candidate,
)
from messagepack import Decoder
from module_errors import words_of
from module_phrases import lacks_memory
from module_place import PLACE
from replay_operators import ReplayedOperators, UnknownOperator

del sys.path[:2]


class Replayer:
    """The functions that the backend calls."""

    def __init__(self) -> None:
        self.plans: dict[int, ReplayedOperators] = {}

    def open_device(self, index: int) -> None:
        """Loads the libraries that operators use, while files may still be opened."""
        PLACE.use_device(index)
        with torch.no_grad():
            PLACE.warm()
            x = torch.ones(8, 8, device=PLACE.device)
            torch.mm(x, x)
            torch.nn.functional.conv2d(x.view(1, 1, 8, 8), x[:3, :3].reshape(1, 1, 3, 3))
            torch.fft.rfft(x)
        PLACE.wait()

    def load_operators(self, plan: int, address: int, size: int) -> None:
        self.plans.pop(plan, None)
        if not self.plans:  # graphs of a loaded plan use memory that its operators have allocated
            PLACE.give_back()
        if size > 0:
            operators = ReplayedOperators()
            operators.load(Decoder(ctypes.string_at(address, size)).whole())
            self.plans[plan] = operators

    def operate(self, plan: int, number: int, addresses: int, count: int, stream: int) -> None:
        self.plans[plan].run(number, list((U64 * count).from_address(addresses)) if count else [], stream)


def failure(error: BaseException) -> tuple[int, str]:
    """The hone_code and the words of an exception."""
    if isinstance(error, UnknownOperator):
        return INVALID_ARGUMENT, str(error)
    words = words_of(error, "device")
    return RESOURCE_EXHAUSTED if lacks_memory(words) else FAILED_PRECONDITION, words


def main() -> int:
    warnings.simplefilter("ignore")
    _, library, backend, device, *folders = sys.argv[1:]
    torch.set_num_threads(1)
    replayer = Replayer()
    functions = Functions(
        on_device=0,  # the device is opened before the process is sealed: only hone's code runs here
        open=OPEN(guarded(replayer.open_device, failure)),
        trim=TRIM(lambda: None),  # frees nothing: load_operators() does, when no plan is loaded
        flags=FLAGS(lambda: 0),
        load_operators=LOAD_OPERATORS(guarded(replayer.load_operators, failure)),
        operate=OPERATE(guarded(replayer.operate, failure)),
    )
    return run_candidate(library, backend, device, folders, functions)


if __name__ == "__main__":
    sys.exit(main())
