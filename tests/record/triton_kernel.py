"""Records one Triton kernel without torch, with or without an autotuner. Prints the driver's problem and the plan.

python triton_kernel.py plain|large|tuned|reading|leaking
"""

import ctypes
import json
import sys
from pathlib import Path

import triton

MODULE = Path(__file__).resolve().parents[2] / "core/candidate/module"
sys.path[:0] = [str(MODULE / "builder"), str(MODULE / "shared")]
from messagepack import Decoder  # noqa: E402
from record_tuned import TunedKernels  # noqa: E402
from triton_plan import Tensor, add, matmul, plan_of, recording_driver  # noqa: E402

TOO_LARGE = 2048  # elements of a block, more than the kernel allows


class Driver:
    """The part of hone's recording driver that TunedKernels uses."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library

    def autotuned(self, kernel: dict[str, object]) -> int:
        return int(self.library.hone_record_autotuned(json.dumps(kernel).encode()))

    def configuration(self, tuned: int, number: int) -> None:
        self.library.hone_record_configuration(tuned, number)

    def fail(self, reason: str) -> None:
        self.library.hone_record_fail(reason.encode())


def kernel_of(kind: str) -> object:
    if kind == "plain":
        return add
    if kind == "large":
        return matmul
    configurations = [triton.Config({"block": size}, num_warps=4) for size in (256, TOO_LARGE, 128, 512)]
    return triton.autotune(configurations, key=["count"])(add)


def shown(step: dict[str, object]) -> list[object]:
    """The step's autotuned kernel and configuration, both from 0, and the number of blocks of its grid."""
    return [step.get("tuned"), step.get("configuration"), step["grid"][0]]  # type: ignore[index]


def main() -> int:
    kind = sys.argv[1]
    driver = recording_driver('{"architecture": "sm_90"}')
    tuned = TunedKernels(Driver(driver))
    tuned.install()
    kernel = kernel_of(kind)
    assert not hasattr(kernel, "best_config")
    fixed = {"plain": {"block": 256}, "large": {"width": 64, "block": 64, "num_stages": 3}}.get(kind, {})
    digests, left = [], []

    def grid(meta: dict[str, int]) -> tuple[int]:
        left[:] = [meta["block"]]
        return (triton.cdiv(1000, meta["block"]),)

    for run in range(3):
        tensors = [Tensor(driver.hone_record_task_memory(number, 4096), "fp32") for number in range(3)]
        if run == 0:  # the setup
            kernel[grid](*tensors, 1000, **fixed)
            if kind == "reading":
                kernel.best_config  # noqa: B018
            continue
        driver.hone_record_run_begin()
        with tuned.run(is_backwards=run == 1):
            kernel[grid](*tensors, 1000, **fixed)
            if kind == "leaking":
                add[(left[0],)](*tensors, 1000, block=256)
        driver.hone_record_run_end()
        digests.append(driver.hone_record_run_digest())
    file = plan_of(driver)
    result = {"problem": driver.hone_record_problem().decode(), "same": digests[0] == digests[1]}
    if file:
        plan = Decoder(file.split(b"\n", 1)[1]).whole()
        result |= {
            "kernels": sorted({kernel["name"] for kernel in plan["kernels"]}),
            "tuned": plan["tuned"],
            "setup": len(plan["setup"]),
            "shared": [step["shared_bytes"] for step in plan["run"]],
            "run": [shown(step) for step in plan["run"]],
        }
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
