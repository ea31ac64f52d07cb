"""Compares figures of `hone profile` with Nsight Compute's counters for the same kernels.

`profile_beside_ncu.py --hone HONE [-c CONFIG] [--set KEY=VALUE]` prints a table, or with `--json` a JSON list. hone
profiles each baseline. Then CuPy starts it under `ncu`, which empties the caches before each kernel. This script needs
CuPy, `ncu`, and permission to read the device's counters; hone needs none of them.
"""

import argparse
import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TASKS = HERE.parents[1] / "envs/kernel_refine/tasks"
Case = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]
N = 1 << 24
CASES: dict[str, Case] = {  # grid, block, elements of the tensors, extents as arguments
    "gelu": ((N // 256,), (256,), (N, N), (N,)),
    "layer_norm": ((4096,), (256,), (N, 4096, 4096, N), (4096, 4096)),
    "matmul": ((64, 64), (32, 8), (2048 * 1024, 1024 * 2048, 2048 * 2048), (2048, 2048, 1024)),
    "sum": ((4096,), (256,), (2 * N, 4096), (4096, 8192)),
    "transpose": ((128, 128), (32, 8), (N, N), (4096, 4096)),
}
KERNELS = {"sum": "row_sum"}
METRICS = ("gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum")
STARTS = 5


def start(task: str) -> None:
    """Starts the baseline several times; runs under ncu."""
    import cupy

    grid, block, tensors, extents = CASES[task]
    code = (TASKS / task / "baseline.cu").read_text().replace("#include <cstdint>", "using int64_t = long long;")
    function = cupy.RawModule(code=code, options=("-std=c++17", "-default-device")).get_function(
        KERNELS.get(task, task)
    )
    arrays = [cupy.random.standard_normal(count, dtype="float32") for count in tensors]
    for _ in range(STARTS):
        function(grid, block, (*arrays, *map(cupy.int64, extents)))
    cupy.cuda.runtime.deviceSynchronize()


def counted(task: str, ncu: str) -> dict[str, float]:
    """Medians of the counters over the starts (ns, bytes)."""
    command = [ncu, "--csv", "--print-units", "base", "--clock-control", "none", "--metrics", ",".join(METRICS)]
    command += ["-k", KERNELS.get(task, task), sys.executable, __file__, "--start", task]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    lines = ran.stdout.splitlines()
    table = [i for i, line in enumerate(lines) if line.startswith('"ID"')]
    if ran.returncode != 0 or not table:
        raise RuntimeError(f"{task}: exit status {ran.returncode} of ncu: {(ran.stdout + ran.stderr)[-2000:]}")
    values: dict[str, list[float]] = {}
    for row in csv.DictReader(lines[table[0] :]):
        values.setdefault(row["Metric Name"], []).append(float(row["Metric Value"].replace(",", "")))
    return {name: sorted(found)[len(found) // 2] for name, found in values.items()}


def profiled(hone: str, options: list[str], task: str) -> dict[str, Any]:
    command = [hone, "profile", task, str(TASKS / task / "baseline.cu"), "--json", *options]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if ran.returncode != 0:
        raise RuntimeError(f"{task}: exit status {ran.returncode}: {ran.stderr.strip()}")
    return json.loads(ran.stdout)["facts"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hone", default="hone", help="path of hone (default: hone)")
    parser.add_argument("-c", "--config", help="configuration of hone with the backend cuda")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override one key (repeatable)")
    parser.add_argument("--ncu", default="ncu", help="path of Nsight Compute (default: ncu)")
    parser.add_argument("--json", action="store_true", help="print a JSON list instead of a table")
    parser.add_argument("--start", choices=CASES, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.start:
        start(given.start)
        return 0
    options = ["-c", given.config] if given.config else ["--set", "backend=cuda"]
    for one in given.set:
        options += ["--set", one]
    figures = []
    for task in CASES:
        facts, counters = profiled(given.hone, options, task), counted(task, given.ncu)
        figures.append({"task": task, "time_us": facts["time_us"], "bytes": facts["bytes"], **counters})
    if given.json:
        print(json.dumps(figures))
        return 0
    print(f"{'kernel':<14}{'hone us':>10}{'ncu us':>10}{'ratio':>8}{'hone MB':>10}{'ncu MB':>10}{'ratio':>8}")
    for f in figures:
        ours, theirs = f["time_us"], f[METRICS[0]] * 1e-3
        least, moved = f["bytes"] * 1e-6, (f[METRICS[1]] + f[METRICS[2]]) * 1e-6
        print(
            f"{f['task']:<14}{ours:>10.2f}{theirs:>10.2f}{ours / theirs:>8.3f}{least:>10.1f}{moved:>10.1f}"
            f"{moved / least:>8.3f}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
