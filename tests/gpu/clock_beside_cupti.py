"""Compares the judge's clock with CUPTI's record of the same kernels: ten, from microseconds to ten milliseconds.

`clock_beside_cupti.py --hone HONE [-c CONFIG]` prints a table, with `--json` a list. Each kernel is judged as a
submission and then started by CuPy under torch's profiler, which reads CUPTI: as many calls one after the other as in
a round of the judge's, each on memory of its own, after the device's caches were written over. `kernel` is the mean
length of one by CUPTI; `call` is from the first kernel's start to the last one's end, over the calls, and so has what
lies between two. The interpreter needs CuPy and torch, and an NVIDIA device; hone needs neither for it.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

CASES = [  # elements, dependent steps of each
    (1 << 14, 1),
    (1 << 18, 16),
    (1 << 20, 64),
    (1 << 20, 300),
    (1 << 20, 700),
    (1 << 20, 1500),
    (1 << 20, 6000),
    (1 << 20, 15_000),
    (1 << 20, 60_000),
    (1 << 20, 280_000),
]
TRIALS = 5
CACHE_BYTES = 256 << 20  # more than any device's caches hold

KERNEL = """extern "C" __global__ void {entry}(const float* x, {type}* out, long long n) {{
  long long i = blockIdx.x * 256ll + threadIdx.x;
  if (i >= n) return;
  {type} v = x[i];
  for (int k = 0; k < {steps}; ++k) v = v * ({type})0.75 + ({type})0.125;
  out[i] = v + x[i];
}}
"""
LAUNCH = "// hone: launch {entry} grid = ceil_div(n, 256) block = 256\n"
TASK = """title: Steps
description: Number of dependent steps per element.
entry: steps
dims: [n]
tensors:
  - {{name: x, role: in, shape: [n]}}
  - {{name: out, role: out, shape: [n]}}
scalars:
  - {{name: n, value: n}}
arguments: [x, out, n]
families:
  - {{name: normal}}
shapes:
  shown: [{{n: 1000}}]
  timed: {{n: {count}}}
tolerance:
  rtol: 1e-5
  atol: 1e-5
  reason: every step rounds once, and shrinks what was there by a quarter
backends:
  cuda: {{languages: [cuda], reference: reference.cu, baseline: baseline.cu}}
"""


def kernel(entry: str, kind: str, steps: int) -> str:
    return KERNEL.format(entry=entry, type=kind, steps=steps)


def write_task(folder: Path, count: int, steps: int) -> None:
    folder.mkdir(parents=True)
    (folder / "task.yaml").write_text(TASK.format(count=count))
    (folder / "baseline.cu").write_text(LAUNCH.format(entry="steps") + kernel("steps", "float", steps))
    forms = [f"// hone: plan {form}\n" + LAUNCH.format(entry=form) for form in ("reference", "exact")]
    (folder / "reference.cu").write_text(
        "".join(forms) + kernel("reference", "float", steps) + kernel("exact", "double", steps)
    )


def judged(hone: str, options: list[str], folder: Path, name: str) -> tuple[float, int]:
    """Microseconds a call by the judge's clock, the median of TRIALS, and the calls of a round."""
    files = []
    for trial in range(TRIALS):  # hone builds and judges what differs
        files.append(folder / f"{name}_{trial}.cu")
        files[-1].write_text((folder / "tasks" / name / "baseline.cu").read_text() + f"// {trial}\n")
    dataset = f"datasets=[{{name: steps, plugin: tasks, config: {{path: '{folder / 'tasks'}'}}}}]"
    command = [hone, "eval", f"steps/{name}", *map(str, files), "--json", "--set", dataset, *options]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if ran.returncode not in (0, 1):
        raise RuntimeError(f"{name}: exit status {ran.returncode}: {ran.stderr.strip()}")
    speedups = [one["verdict"]["speedup"] for one in json.loads(ran.stdout)]
    return statistics.median(one["time_us"] for one in speedups), speedups[0]["calls"]


def recorded(count: int, steps: int, calls: int) -> tuple[float, float]:
    """Microseconds by CUPTI: the mean of the kernels, and a call of all; medians of TRIALS."""
    import cupy
    import torch

    function = cupy.RawModule(code=kernel("steps", "float", steps)).get_function("steps")
    sets = [(cupy.random.rand(count, dtype="float32"), cupy.empty(count, dtype="float32")) for _ in range(calls)]
    caches = cupy.empty(CACHE_BYTES // 4, dtype="float32")
    grid = ((count + 255) // 256,)

    def start_all() -> None:
        for x, out in sets:
            function(grid, (256,), (x, out, cupy.int64(count)))

    start_all()
    kernels, whole = [], []
    for trial in range(TRIALS):
        caches.fill(trial)
        cupy.cuda.runtime.deviceSynchronize()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            caches.fill(trial)
            start_all()
            cupy.cuda.runtime.deviceSynchronize()
        found = [e for e in profile.profiler.kineto_results.events() if e.name() == "steps"]
        if len(found) != calls:
            raise RuntimeError(f"CUPTI recorded {len(found)} kernels, expected {calls}")
        begin = min(e.start_ns() for e in found)
        end = max(e.start_ns() + e.duration_ns() for e in found)
        kernels.append(statistics.mean(e.duration_ns() for e in found) * 1e-3)
        whole.append((end - begin) * 1e-3 / calls)
    return statistics.median(kernels), statistics.median(whole)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hone", default="hone", help="the program (hone)")
    parser.add_argument("-c", "--config", help="hone's configuration; its backend is cuda")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="of hone's configuration (repeatable)"
    )
    parser.add_argument("--json", action="store_true", help="print a list")
    given = parser.parse_args()
    options = ["-c", given.config] if given.config else ["--set", "backend=cuda"]
    for one in given.set:
        options += ["--set", one]
    figures = []
    with tempfile.TemporaryDirectory() as at:
        folder = Path(at)
        for count, steps in CASES:
            write_task(folder / "tasks" / f"steps_{count}_{steps}", count, steps)
        for count, steps in CASES:
            name = f"steps_{count}_{steps}"
            ours, calls = judged(given.hone, options, folder, name)
            kernel_us, call_us = recorded(count, steps, calls)
            figures.append({"name": name, "calls": calls, "judge_us": ours, "kernel_us": kernel_us, "call_us": call_us})
            print(f"\r{len(figures)} of {len(CASES)}", end="", file=sys.stderr)
    print(file=sys.stderr)
    if given.json:
        print(json.dumps(figures))
        return 0
    print(f"{'kernel':<22}{'calls':>6}{'judge us':>12}{'kernel us':>12}{'ratio':>8}{'call us':>12}{'ratio':>8}")
    for f in figures:
        kernel_ratio, call_ratio = f["judge_us"] / f["kernel_us"], f["judge_us"] / f["call_us"]
        print(
            f"{f['name']:<22}{f['calls']:>6}{f['judge_us']:>12.2f}{f['kernel_us']:>12.2f}{kernel_ratio:>8.3f}"
            f"{f['call_us']:>12.2f}{call_ratio:>8.3f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
