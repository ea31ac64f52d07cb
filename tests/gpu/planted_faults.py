"""Profiles kernels with one planted fault each on a device, and checks that the first finding names the fault.

`planted_faults.py --hone HONE [-c CONFIG] [--set KEY=VALUE]` prints the first finding for each kernel of `faults/`, and
for baselines without these faults. It exits with 1 if a first finding does not name the planted fault, or names a fault
that the kernel does not have. Without a CUDA device it exits with 77. `--reports FOLDER` also writes the files that
faults_test.cpp reads: NVRTC's PTX and the lines of ptxas for each planted fault and four baselines, and `figures.json`.
This option needs the package cuda-bindings.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
FAULTS = HERE / "faults"
TASKS = HERE.parents[1] / "envs/kernel_refine/tasks"
SKIPPED = 77
CASES = {  # kernel: task, pattern of the first finding
    "uncoalesced": ("add_relu", r"The (load|store) at line \d+ (is not|may not be) coalesced"),
    "untiled": ("matmul", r"global-memory instructions for \d+ multiply-adds?, .* Load tiles"),
    "spills": ("matmul", r"keeps spilled registers"),
    "bank_conflicts": ("rms_norm", r"of shared memory has 32-way bank conflicts"),
    "few_blocks": ("layer_norm", r"A launch has 16 blocks"),
    "launch_bound": ("faults/powers", r"in 8 launches, .* starting kernels takes most of the time"),
}
FAULTLESS = ("add_relu", "argmax", "gelu", "layer_norm", "matvec", "rms_norm", "saxpy", "softmax", "sum", "nbody")
FAULTLESS += ("histogram", "prefix_sum", "max_pool", "layer_norm_bf16", "matmul", "top_k")

REPORTED = ("histogram", "nbody", "prefix_sum", "rms_norm")  # the baselines whose reports are written
FIGURES = ("time_us", "baseline_us", "peak_bytes_per_second", "peak_flops_per_second")


def profile(hone: str, options: list[str], task: str, source: Path) -> dict[str, Any]:
    dataset = f"{{name: faults, plugin: tasks, config: {{path: '{FAULTS / 'tasks'}'}}}}"
    datasets = f"datasets=[{{name: tasks, plugin: tasks, config: {{path: builtin}}}}, {dataset}]"
    command = [hone, "profile", task, str(source), "--json", "--set", datasets, *options]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if ran.returncode != 0:
        raise RuntimeError(f"{source}: exit status {ran.returncode}: {ran.stdout[-2000:]} {ran.stderr.strip()}")
    return json.loads(ran.stdout)["facts"]


def has_device(hone: str, options: list[str]) -> bool:
    ran = subprocess.run([hone, "doctor", "--json", *options], capture_output=True, text=True, timeout=120)
    backends = json.loads(ran.stdout)["backends"] if ran.stdout else []
    return any(one["backend"] == "cuda" and one.get("devices") for one in backends)


def report(source: Path, architecture: str) -> tuple[str, str]:
    """The PTX of a kernel, and the lines of ptxas about it."""
    from cuda.bindings import nvrtc

    def checked(result: tuple[Any, ...]) -> Any:
        if int(result[0]) != 0:
            raise RuntimeError(f"{source}: NVRTC: {result[0]}")
        return result[1] if len(result) == 2 else None

    kinds = {8: "char", 16: "short", 32: "int", 64: "long long"}
    integers = "".join(
        f"using int{bits}_t = signed {kind};\nusing uint{bits}_t = unsigned {kind};\n" for bits, kind in kinds.items()
    )
    headers = {b"cstdint": integers.encode()}
    text = source.read_bytes()
    made = nvrtc.nvrtcCreateProgram(text, source.name.encode(), 1, list(headers.values()), list(headers))
    program = checked(made)
    flags = [f"--gpu-architecture={architecture}".encode(), b"--std=c++17", b"-default-device"]
    flags += [b"-lineinfo", b"--ptxas-options=-v"]
    checked(nvrtc.nvrtcCompileProgram(program, len(flags), flags))
    ptx, log = (b" " * checked(size(program)) for size in (nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetProgramLogSize))
    checked(nvrtc.nvrtcGetPTX(program, ptx))
    checked(nvrtc.nvrtcGetProgramLog(program, log))
    lines = [line for line in log.decode().strip("\0 ").splitlines() if "ptxas info" in line or "stack frame" in line]
    return ptx.decode().strip("\0 "), "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hone", default="hone", help="path of hone (default: hone)")
    parser.add_argument("-c", "--config", help="configuration of hone with the backend cuda")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override one key (repeatable)")
    parser.add_argument("--reports", type=Path, help="folder for the compiler's reports and the times")
    given = parser.parse_args()
    options = ["-c", given.config] if given.config else ["--set", "backend=cuda"]
    for one in given.set:
        options += ["--set", one]
    if not has_device(given.hone, options):
        print("no CUDA device")
        return SKIPPED
    wrong = 0
    figures: dict[str, Any] = {}
    runs = [(name, task, FAULTS / f"{name}.cu", said) for name, (task, said) in CASES.items()]
    runs += [(f"{task}_baseline", task, TASKS / task / "baseline.cu", "") for task in FAULTLESS]
    for name, task, source, said in runs:
        facts = profile(given.hone, options, task, source)
        figures[name] = {key: facts[key] for key in FIGURES}
        first = (facts["findings"] or [""])[0]
        others = [pattern for _, pattern in CASES.values() if pattern != said]
        bad = (said and not re.search(said, first)) or any(re.search(pattern, first) for pattern in others)
        wrong += bool(bad)
        print(f"{'WRONG' if bad else 'ok':<6}{name:<24}{facts['time_us']:>10.1f} us  {first}", flush=True)
        if given.reports and (said or task in REPORTED):
            given.reports.mkdir(parents=True, exist_ok=True)
            ptx, lines = report(source, "sm_90a")
            (given.reports / f"{name}.ptx").write_text(ptx)
            (given.reports / f"{name}.ptxas").write_text(lines)
    if given.reports:
        (given.reports / "figures.json").write_text(json.dumps(figures, indent=1) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
