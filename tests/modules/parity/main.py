"""Judges a copy of each reference of KernelBench: scripts/kernelbench-parity says how."""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
COPY = "\n\nclass ModelNew(Model):\n    pass\n"
# How hone refuses a task that the machine cannot hold.
TOO_LARGE = ("of device memory, the device has", "of memory for its tensors, the machine has")
NEAR = 0.02  # of 1, for a speedup that counts as near


def numbers_of(text):
    """1,40 and 1-20 as a set."""
    found = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def problems_of(checkout, level):
    """(number, source) of each problem of a level."""
    if checkout.is_file():
        rows = [json.loads(line) for line in checkout.read_text().splitlines() if line.strip()]
        return sorted((row["problem_id"], row["code"]) for row in rows if row["level"] == level)
    for folder in (
        checkout / "KernelBench" / f"level{level}",
        checkout / f"level{level}",
    ):
        if folder.is_dir():
            return sorted((int(file.name.split("_")[0]), file.read_text()) for file in folder.glob("[0-9]*_*.py"))
    sys.exit(f"kernelbench-parity: {checkout} has no level{level}; expected KernelBench/level{level} or a file of rows")


def hone_of(arguments):
    named = arguments.binary or (str(ROOT / "build/dev/hone") if (ROOT / "build/dev/hone").exists() else "")
    found = named or shutil.which("hone")
    if not found:
        sys.exit("kernelbench-parity: found no hone; build it (scripts/demo) or name it with --binary")
    return found


def judge(arguments, level, folder):
    """Runs hone over a folder of copies. Returns its result lines, its summary and the seconds it took."""
    dataset = f"datasets=[{{name: kernelbench, plugin: kernelbench, config: {{path: '{arguments.checkout}'}}}}]"
    command = [
        hone_of(arguments),
        "eval",
        f"kernelbench/level{level}",
        str(folder),
        "--json",
        "--again",
        "--set",
        dataset,
    ]
    command += ["-c", arguments.config] if arguments.config else []
    begun = time.monotonic()
    results, summary = [], {}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        for line in process.stdout:
            row = json.loads(line)
            if row.get("type") == "summary":
                summary = row
            else:
                results.append(row)
            if sys.stderr.isatty():
                print(
                    f"\rlevel {level}: {len(results)} judged ",
                    end="",
                    file=sys.stderr,
                    flush=True,
                )
            if time.monotonic() - begun > arguments.seconds:
                process.terminate()
        process.wait()
    finally:
        if process.poll() is None:
            process.kill()
    return results, summary, time.monotonic() - begun


def intervals_of(folder):
    """(value, low, high, flags) of each measured speedup, from the run's results."""
    written = folder / "eval_results.json"
    if not written.exists():
        return []
    found = []
    for samples in json.loads(written.read_text()).values():
        for sample in samples:
            speedup = sample.get("metadata", {}).get("hone", {}).get("speedup") or {}
            if speedup.get("value"):
                found.append(
                    (
                        speedup["value"],
                        speedup["low"],
                        speedup["high"],
                        speedup.get("flags", []),
                    )
                )
    return found


def report_of(level, given, results, folder, seconds):
    counts = {}
    reasons = {}
    for row in results:
        outcome = row.get("outcome", "not_judged")
        counts[outcome] = counts.get(outcome, 0) + 1
        if outcome != "correct":
            reasons[str(row.get("problem_id"))] = row.get("error") or row.get("reason") or outcome
    intervals = intervals_of(folder)
    values = [value for value, *_ in intervals]
    judged = sum(count for outcome, count in counts.items() if outcome != "not_judged")
    return {
        "level": level,
        "problems": given,
        "judged": judged,
        "outcomes": counts,
        "reasons": reasons,
        "seconds": round(seconds, 1),
        "per_second": round(judged / seconds, 2) if seconds else 0,
        "speedups": len(values),
        "speedup_median": round(statistics.median(values), 4) if values else None,
        "speedup_least": round(min(values), 3) if values else None,
        "speedup_most": round(max(values), 3) if values else None,
        "near_one": round(sum(abs(value - 1) <= NEAR for value in values) / len(values), 3) if values else None,
        "intervals_above_one": sum(low > 1 for _, low, _, _ in intervals),
        "intervals_below_one": sum(high < 1 for _, _, high, _ in intervals),
        "flagged": sum(bool(flags) for *_, flags in intervals),
    }


def print_report(report):
    outcomes = ", ".join(f"{count} {name}" for name, count in sorted(report["outcomes"].items()))
    print(
        f"level {report['level']}: {report['judged']} of {report['problems']} judged in {report['seconds']:g} s",
        end="",
    )
    print(f" ({report['per_second']:g} per second): {outcomes}")
    if report["speedups"]:
        print(
            f"  speedups: median {report['speedup_median']:g}, {report['speedup_least']:g} to"
            f" {report['speedup_most']:g}; {report['near_one']:.0%} within {NEAR:.0%} of 1; intervals miss 1:"
            f" {report['intervals_above_one']} above, {report['intervals_below_one']} below"
        )
    for problem, reason in report["reasons"].items():
        print(f"  problem {problem}: {reason}")


def main():
    parser = argparse.ArgumentParser(prog="kernelbench-parity")
    parser.add_argument("checkout", type=lambda text: Path(text).resolve())
    parser.add_argument("--levels", default="1,2,3")
    parser.add_argument("--problems", default="")
    parser.add_argument("--config", default="")
    parser.add_argument("--binary", default="")
    parser.add_argument("--output", default="")
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if not arguments.checkout.exists():
        sys.exit(f"kernelbench-parity: {arguments.checkout} does not exist")
    wanted = numbers_of(arguments.problems) if arguments.problems else None
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(arguments.output or scratch)
        for level in sorted(numbers_of(arguments.levels)):
            folder = output / f"level{level}"
            folder.mkdir(parents=True, exist_ok=True)
            for old in folder.glob("level_*_kernel.py"):
                old.unlink()
            given = [
                (number, code)
                for number, code in problems_of(arguments.checkout, level)
                if not wanted or number in wanted
            ]
            for number, code in given:
                (folder / f"level_{level}_problem_{number}_sample_0_kernel.py").write_text(code + COPY)
            results, _, seconds = judge(arguments, level, folder)
            report = report_of(level, len(given), results, folder, seconds)
            if arguments.json:
                print(json.dumps(report), flush=True)
            else:
                print_report(report)
            too_large = sum(any(words in reason for words in TOO_LARGE) for reason in report["reasons"].values())
            failed = failed or report["outcomes"].get("correct", 0) + too_large < len(given)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
