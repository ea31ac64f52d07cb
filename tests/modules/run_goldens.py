"""Judges a golden Triton submission for each of KernelBench's tasks that has one, and its broken twin.

The golden must be correct and the twin wrong: `run_goldens.py --python PYTHON --data KERNELBENCH`. The run's folder is
KernelBench's own: sample 0 of a problem is the golden, sample 1 its twin. `--set KEY=VALUE` is for another backend.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

GOLDENS = Path(__file__).resolve().parent / "goldens"
LEVEL = 1

# By problem: what in the golden is another thing in its twin, a mistake that people make.
TWINS = {
    19: ("tl.maximum(x, 0.0)", "tl.abs(x)"),
    20: ("x * slope", "x * (1 + slope)"),
    21: ("tl.exp(-x)", "tl.exp(x)"),
    22: ("tl.exp(-2 * x)", "tl.exp(-x)"),
    23: ("tl.sum(grown, axis=0)", "width"),
    24: ("tl.log(tl.sum(tl.exp(x), axis=0))", "tl.log(tl.sum(x, axis=0))"),
    25: ("x / (1 + tl.exp(-x))", "1 / (1 + tl.exp(-x))"),
    26: ("0.7071067811865476", "0.6"),
    27: ("1.6732632423543772 * (tl.exp(x) - 1)", "1.6732632423543772 * tl.exp(x)"),
    28: ("x / 6 + 0.5", "x / 5 + 0.5"),
    29: ("tl.maximum(x, 0.0) + tl.log", "tl.log"),
    30: ("1 + tl.abs(x)", "1 + x * x"),
    31: ("tl.exp(x) - 1", "tl.exp(x)"),
    32: ("tl.maximum(x, -1.0)", "tl.maximum(x, -1.1)"),
    38: ("tl.abs(x)", "x"),
    39: ("tl.sqrt(tl.sum(x * x, axis=0))", "tl.sum(x * x, axis=0)"),
    41: ("+ i * dilation", "+ i"),
    44: ("folded / WINDOW", "folded / (WINDOW - 1)"),
    47: ("(row < height)", "(row < height - 1)"),
    48: ("/ height", "/ (height - 1)"),
    49: ("tl.max(x, axis=0)", "tl.max(tl.abs(x), axis=0)"),
    51: ("tl.argmax(x, axis=0)", "tl.argmax(x, axis=0) + 1"),
    52: ("tl.argmin", "tl.argmax"),
    53: ("tl.min(x, axis=0)", "tl.min(tl.maximum(x, 0.0), axis=0)"),
    67: ("(signal * IN + i // WINDOW)", "(signal * IN + i % IN)"),
    76: ("i % WINDOW * dilation", "i % WINDOW"),
    88: ("0.044715", "0.44715"),
    89: ("tl.cumsum(x, axis=0)", "tl.cumsum(x, axis=0) - x"),
    91: ("tl.cumsum(x, axis=0)", "x"),
    92: ("at - 1, mask", "at, mask"),
    93: ("kept != 0", "kept == 0"),
    94: ("rows * width", "rows"),
    95: ("- chosen", ""),
    96: ("away - 0.5", "away"),
    97: ("1 - both", "both"),
    98: ("rows, triton.next_power_of_2(rows)", "rows * width, triton.next_power_of_2(rows)"),
    99: ("- tl.sqrt(tl.sum(far * far, axis=0))", "- tl.sum(far * far, axis=0)"),
    100: ("predictions * targets", "predictions"),
}


def generation(folder: Path, problem: int, sample: int) -> Path:
    return folder / f"level_{LEVEL}_problem_{problem}_sample_{sample}_kernel.py"


def golden_file(problem: int) -> Path:
    return generation(GOLDENS, problem, 0)


def twin_of(problem: int) -> str:
    """The golden with its mistake; one that says nothing about its golden any more is an error."""
    source = golden_file(problem).read_text()
    right, wrong = TWINS[problem]
    if source.count(right) != 1:
        raise ValueError(f"problem {problem}: found {right!r} {source.count(right)} times in its golden, expected once")
    return source.replace(right, wrong)


def write_run(folder: Path, problems: list[int]) -> None:
    """A run of two samples each."""
    for problem in problems:
        shutil.copy(golden_file(problem), generation(folder, problem, 0))
        generation(folder, problem, 1).write_text(twin_of(problem))


def judge(hone: list[str], folder: Path, options: list[str], seconds: float) -> dict[tuple[int, int], dict]:
    """What hone says of each sample of a run, by problem and sample."""
    command = [*hone, "eval", f"kernelbench/level{LEVEL}", str(folder), "--json", *options]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=seconds)
    if ran.returncode not in (0, 3):
        raise RuntimeError(f"{' '.join(command)}: exit status {ran.returncode}")
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    return {(one["problem_id"], one["sample_id"]): one for one in lines if one["type"] == "result"}


def surprises(samples: dict[tuple[int, int], dict], problems: list[int]) -> list[str]:
    """What is not as it should be, in words."""
    found = []
    for problem in problems:
        for sample, who, expected in ((0, "golden", "correct"), (1, "twin", "wrong")):
            said = samples.get((problem, sample), {})
            if said.get("outcome") != expected:
                why = said.get("reason") or said.get("error") or "no reason"
                found.append(f"problem {problem}, {who}: found {said.get('outcome')}, expected {expected}: {why}")
    return found


def dataset_options(data: Path, python: str) -> list[str]:
    dataset = f"datasets=[{{name: kernelbench, plugin: kernelbench, config: {{path: '{data}'}}}}]"
    return ["--set", dataset, "--set", f"plugins.python={python}", "--set", f"cpu.python={python}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hone", default="hone", help="the program (hone)")
    parser.add_argument("--python", required=True, help="the interpreter with torch and triton")
    parser.add_argument("--data", required=True, type=Path, help="KernelBench's problems")
    parser.add_argument("--problems", help="only these: 19,23 (all that have a golden)")
    parser.add_argument("--seconds", type=float, default=3600, help="at most (3600)")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="of hone's configuration (repeatable)"
    )
    given = parser.parse_args()
    problems = sorted(map(int, given.problems.split(","))) if given.problems else sorted(TWINS)
    options = dataset_options(given.data.resolve(), given.python)
    for one in given.set:
        options += ["--set", one]
    with tempfile.TemporaryDirectory() as folder:
        write_run(Path(folder), problems)
        samples = judge([given.hone], Path(folder), options, given.seconds)
    found = surprises(samples, problems)
    print(*found, sep="\n" if found else "")
    print(f"{len(problems)} goldens and as many twins: {len(found)} not as they should be")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
