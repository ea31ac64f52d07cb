"""Runs `hone tool sanitize` on a device over kernels with one planted fault each, over attacks, and over baselines.

`sanitized_faults.py --hone HONE [-c CONFIG] [--set KEY=VALUE] [--jobs N]` prints the findings of each kernel of
`sanitized/`. It exits with 1 if a finding is not the planted fault at its line, if a baseline has a finding, or if an
attack gets text of its own into the answer or holds the device for too long. Without a CUDA device or compute-sanitizer
it exits with 77.
"""

import argparse
import concurrent.futures
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
KERNELS = HERE / "sanitized"
TASKS = HERE.parents[1] / "envs/kernel_refine/tasks"
SKIPPED = 77
FAULTS = {  # kernel: task, kind, pattern of the message
    "write_after": (
        "add_relu",
        "out-of-bounds write",
        r"write of 4 bytes in global memory, 0 bytes after tensor 'out'",
    ),
    "read_after": ("add_relu", "out-of-bounds read", r"read of 4 bytes in global memory, 0 bytes after tensor 'y'"),
    "far_after": ("add_relu", "out-of-bounds write", r"4000 bytes after tensor 'out'"),
    "misaligned": ("add_relu", "misaligned read", r"read of 16 bytes in global memory, at byte 4 of tensor 'x'"),
    "scratch_after": ("add_relu", "out-of-bounds write", r"0 bytes after scratch buffer 'sums'"),
    "shared_race": ("sum", "race in shared memory", r"a write in line \d+ and a read in line \d+"),
    "shared_after": ("sum", "out-of-bounds write", r"write of 4 bytes in shared memory"),
}
FAULTLESS = ("add_relu", "softmax", "histogram", "matmul")
HOLD_SECONDS = 60  # a server's start, and the sanitizer's time limit


def line_of(source: Path) -> int:
    lines = source.read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if "// the fault" in line)


def sanitize(hone: str, options: list[str], task: str, source: Path) -> tuple[dict[str, Any], str, float]:
    """The facts, the text for the model, and the time."""
    begun = time.monotonic()
    command = [hone, "tool", "sanitize", task, str(source), "--json", *options]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=180)
    if not ran.stdout:
        raise RuntimeError(f"{source}: exit status {ran.returncode}: {ran.stderr.strip()}")
    answer = json.loads(ran.stdout)
    return answer["facts"], answer["feedback"], time.monotonic() - begun


def trouble_of_fault(name: str, facts: dict[str, Any]) -> str:
    _, kind, said = FAULTS[name]
    if len(facts.get("findings", [])) != 1:
        return "expected one finding"
    found = facts["findings"][0]
    line = line_of(KERNELS / f"{name}.cu")
    if found["kind"] != kind or not re.search(said, found["message"]):
        return f"expected {kind}: {said}"
    return "" if found["line"] == line else f"expected line {line}"


def trouble_of_attack(name: str, facts: dict[str, Any], text: str, seconds: float) -> str:
    if "IGNORE" in text or "IGNORE" in json.dumps(facts):
        return "text of the submission is in the answer"
    if name == "never_end":
        return "" if facts.get("timed_out") and seconds < HOLD_SECONDS else "expected the time limit"
    if len(text) > 8000:
        return f"an answer of {len(text)} characters"
    kinds = [one["kind"] for one in facts.get("findings", [])]
    return "" if kinds == ["out-of-bounds write"] else "expected one out-of-bounds write"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hone", default="hone", help="path of hone (default: hone)")
    parser.add_argument("-c", "--config", help="configuration of hone with the backend cuda")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override one key (repeatable)")
    parser.add_argument("--jobs", type=int, default=1, help="servers at a time (default: 1)")
    given = parser.parse_args()
    options = ["-c", given.config] if given.config else ["--set", "backend=cuda"]
    for one in given.set:
        options += ["--set", one]
    ran = subprocess.run([given.hone, "doctor", "--json", *options], capture_output=True, text=True, timeout=120)
    backends = json.loads(ran.stdout)["backends"] if ran.stdout else []
    if not any(one["backend"] == "cuda" and one.get("devices") and one.get("sanitizer") for one in backends):
        print("no CUDA device, or no compute-sanitizer")
        return SKIPPED
    runs = [(name, task, KERNELS / f"{name}.cu") for name, (task, _, _) in FAULTS.items()]
    runs += [(name, "add_relu", KERNELS / f"{name}.cu") for name in ("forge_a_report", "never_end", "long_names")]
    runs += [(f"{task}_baseline", task, TASKS / task / "baseline.cu") for task in FAULTLESS]

    def one_run(run: tuple[str, str, Path]) -> str:
        name, task, source = run
        facts, text, seconds = sanitize(given.hone, options, task, source)
        if name in FAULTS:
            trouble = trouble_of_fault(name, facts)
        elif name.endswith("_baseline"):
            trouble = "" if facts.get("findings") == [] and facts["finished"] else "expected no finding"
        else:
            trouble = trouble_of_attack(name, facts, text, seconds)
        verdict = f"WRONG ({trouble}): {json.dumps(facts)[:1500]}" if trouble else "ok"
        print(f"{name:<20}{seconds:>6.1f} s  {verdict}\n{text}", flush=True)
        return trouble

    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        return 1 if any(list(pool.map(one_run, runs))) else 0


if __name__ == "__main__":
    sys.exit(main())
