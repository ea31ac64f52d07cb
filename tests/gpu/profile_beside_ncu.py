"""Compares counters of `hone profile` with those of Nsight Compute for the same kernels.

`profile_beside_ncu.py --hone HONE [-c CONFIG] [--set KEY=VALUE]` prints a table, or with `--json` a JSON list. hone
profiles each baseline and reads counters with CUPTI. Then CuPy starts it under `ncu`. Both empty the cache before each
kernel. This script needs CuPy, `ncu`, CUPTI, and permission to read the device's counters. It exits with 1 if a counter
differs by more than 3 %. Bytes written to memory may also differ by 4 MB, because `ncu` leaves data of its own in the
cache. A counter has no ratio if it is below a thousandth of the bytes that a call has to move.
"""

import argparse
import csv
import json
import statistics
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
Counted = dict[str, float]
# Member of a launch's counters in `facts`: metrics of Nsight Compute that are added, and the factor.
METRICS: dict[str, tuple[tuple[str, ...], float]] = {
    "time_us": (("gpu__time_duration.sum",), 1e-3),
    "memory_read_bytes": (("dram__bytes_read.sum",), 1),
    "memory_written_bytes": (("dram__bytes_write.sum",), 1),
    "cache_read_bytes": (("lts__t_sectors_srcunit_tex_op_read.sum",), 32),
    "cache_written_bytes": (("lts__t_sectors_srcunit_tex_op_write.sum",), 32),
    "bank_conflicts": (("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",), 1),
    "active_warps": (("sm__warps_active.avg.pct_of_peak_sustained_active",), 0.01),
}
LOAD = ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum")
DIFFERENCE_MAX = 0.03
SMALL = 1e-3  # of the least bytes of a call: smaller amounts are noise
WRITTEN_MORE = 4e6  # bytes that ncu leaves in the cache, for each pass
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


def counted(task: str, ncu: str) -> Counted:
    """Medians of the counters over the starts."""
    metrics = [name for names, _ in METRICS.values() for name in names] + [*LOAD]
    command = [ncu, "--csv", "--print-units", "base", "--clock-control", "none", "--metrics", ",".join(metrics)]
    command += ["-k", KERNELS.get(task, task), sys.executable, __file__, "--start", task]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    lines = ran.stdout.splitlines()
    table = [i for i, line in enumerate(lines) if line.startswith('"ID"')]
    if ran.returncode != 0 or not table:
        raise RuntimeError(f"{task}: exit status {ran.returncode} of ncu: {(ran.stdout + ran.stderr)[-2000:]}")
    values: dict[str, list[float]] = {}
    for row in csv.DictReader(lines[table[0] :]):
        values.setdefault(row["Metric Name"], []).append(float(row["Metric Value"].replace(",", "")))
    median = {name: statistics.median(found) for name, found in values.items()}
    found = {name: factor * sum(median[one] for one in names) for name, (names, factor) in METRICS.items()}
    return found | {"sectors_per_load": median[LOAD[0]] / max(median[LOAD[1]], 1)}


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
    figures, differs = [], False
    for task in CASES:
        facts = profiled(given.hone, options, task)
        if facts["counters_problem"]:
            raise RuntimeError(f"{task}: {facts['counters_problem']}")
        ours, theirs = facts["launches"][0]["counters"], counted(task, given.ncu)
        for name, value in theirs.items():
            found = ours[name]
            least = SMALL * facts["bytes"] if name.endswith("bytes") or name == "bank_conflicts" else 0
            ratio = found / value if value > least else None
            allowed = DIFFERENCE_MAX * value + (WRITTEN_MORE if name == "memory_written_bytes" else 0)
            differs = differs or (ratio is not None and abs(found - value) > allowed)
            figures.append({"task": task, "counter": name, "hone": found, "ncu": value, "ratio": ratio})
    if given.json:
        print(json.dumps(figures))
        return int(differs)
    print(f"{'kernel':<12}{'counter':<22}{'hone':>15}{'ncu':>15}{'ratio':>8}")
    for f in figures:
        ratio = "" if f["ratio"] is None else f"{f['ratio']:.3f}"
        print(f"{f['task']:<12}{f['counter']:<22}{f['hone']:>15.6g}{f['ncu']:>15.6g}{ratio:>8}")
    return int(differs)


if __name__ == "__main__":
    sys.exit(main())
