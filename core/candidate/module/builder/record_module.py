"""Records the device work of a module, in a sandbox without a device.

    python -I -B record_module.py recorder hone-candidate.so DEVICE FOLDER…

FOLDER…: the folders that the process may read. DEVICE: the device of later runs, as for dry_run_module.py.

Theory of operation. hone's recording driver replaces the device's driver and executes nothing. The module is loaded,
constructed and called as in a process with a device (module_artifact.py). The driver gives the addresses of the task's
tensors. The first call belongs to the setup: it compiles kernels and makes the state that the module keeps. The next
two calls are recorded with different seeds of torch's generators. They must do the same work, because one plan serves
all calls. A module that draws random numbers, or does different work in each call, has no plan.

The answer is a line of JSON, then the plan. The line has "problem": the reason why there is no plan, or "".

The answer is not trusted: it comes from the submission's process. The host checks the plan (recorded_plan.hpp).
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import warnings
from typing import Any

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "shared"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # python -I leaves both out
import module_environment  # noqa: F401  first: it sets what torch reads

# isort: split
from recording_driver import DRIVER, NotWhole  # before torch, whose libraries then find it

# isort: split
import torch

import module_extension
from answer_host import answer_host
from module_artifact import DTYPES, Artifact, Spec
from module_errors import place_of, words_of
from module_extension import Extensions
from module_place import ARENA, PLACE
from module_tf32 import use_precision
from module_values import count
from module_wrapper import Refused
from record_operators import OperatorRecorder
from record_recurrent import RecurrentLayers
from record_tuned import TunedKernels

del sys.path[:2]
with contextlib.suppress(ImportError):  # before torch is changed
    import triton
    import triton.language  # noqa: F401

FIRST_SEED, RUN_SEED, OTHER_SEED = 11, 12, 13  # of torch's generators
WORDS_MAX = 240


class Recording(Artifact):
    """A module whose calls are recorded. Its tensors have addresses and no values."""

    def values(self, seed: int) -> list[int]:
        """The arguments of one call: the address of each of the task's tensors, and the seed.

        Each call gets other addresses. If a number happens to look like an address in one call, it does not in the
        next one. The calls then differ, and the module has no plan.
        """
        sizes = self.sizes_of_tensors()
        return [*(DRIVER.task_memory(i, sizes[name]) for i, name in enumerate(self.tensors)), seed]

    def sizes_of_tensors(self) -> dict[str, int]:
        """The bytes that the module uses of each of the task's tensors."""
        sizes: dict[str, int] = {}

        def add(specs: list[Spec]) -> None:
            for spec in specs:
                if "list" in spec:
                    add(spec["list"])
                elif "tensor" in spec:
                    size = (spec.get("at", 0) + count(spec["shape"])) * DTYPES[spec["dtype"]].itemsize
                    sizes[spec["tensor"]] = max(size, sizes.get(spec["tensor"], 0))

        add(self.meta["inputs"])
        add(self.meta["parameters"])
        add(self.meta["outputs"])
        return sizes

    def view(self, at: int, dtype: torch.dtype, shape: list[int]) -> torch.Tensor:
        key = (at, dtype, *shape)
        if key not in ARENA.views:
            ARENA.views[key] = PLACE.memory(at, count(shape) * dtype.itemsize).view(dtype).view(shape)
        return ARENA.views[key]

    def put(self, place: torch.Tensor, found: torch.Tensor, spec: Spec) -> None:
        """Makes an output that this call allocated the task's tensor; copies any other output to it."""
        size = found.numel() * found.element_size()
        fits = found.is_contiguous() and found.dtype == place.dtype and found.untyped_storage().nbytes() == size
        argument = self.tensors.index(spec["tensor"])
        if not (fits and "at" not in spec and DRIVER.becomes_result(found.data_ptr(), size, argument)):
            place.copy_(found)


def record(content: dict[str, Any], device: dict[str, Any]) -> bytes:
    """Returns the plan. Raises NotWhole if the recording is incomplete. Exceptions of the module pass through."""
    DRIVER.begin(device)
    PLACE.use_device(0)
    use_precision(json.loads(content["support"]["module.json"]).get("precision"))
    OperatorRecorder(DRIVER).install()
    layers = RecurrentLayers()  # the replacements end with it
    layers.install()
    tuned = TunedKernels(DRIVER)
    tuned.install()
    if module_extension.is_used(content["source"]):
        Extensions().install()
    recording = Recording(content)
    with torch.no_grad():
        entry = recording.entry("ModelNew")
        entry(recording.values(FIRST_SEED))
        digests = []
        for seed in (OTHER_SEED, RUN_SEED):
            DRIVER.run_begin()
            with tuned.run(is_backwards=seed == OTHER_SEED):
                entry(recording.values(seed))
            digests.append(DRIVER.run_end())
    if DRIVER.problem() == "" and digests[0] != digests[1]:
        raise NotWhole(
            "two calls do different work: it draws random numbers, counts its calls, or uses an autotuner's choice"
        )
    return DRIVER.finish()


def answer_to(artifact: bytes, device: dict[str, Any]) -> bytes:
    problem, plan = "", b""
    try:
        plan = record(json.loads(artifact), device)
    except NotWhole as error:
        problem = str(error)
    except Refused as error:
        problem = f"it cannot be called: {error}"
    except BaseException as error:  # the module may raise any exception
        known = DRIVER.problem()  # a call that the driver refused raises in the module
        problem = known + place_of(error) if known else f"it failed: {words_of(error, 'device')}"
    words = "".join(c if " " <= c <= "~" else " " for c in problem)[:WORDS_MAX]
    return json.dumps({"problem": words}).encode() + b"\n" + plan


def main() -> int:
    warnings.simplefilter("ignore")
    return answer_host("record", answer_to)


if __name__ == "__main__":
    sys.exit(main())
