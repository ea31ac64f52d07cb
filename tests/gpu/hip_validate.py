"""Runs hone on an AMD GPU and writes the results to one file (scripts/hip-validate, docs/hip.md).

The file has the commands and their results, and the machine's processor, kernel, device, driver and compilers. It has
no name of a host or a user, no path outside hone's folder, and no address.
"""

import argparse
import contextlib
import getpass
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TASKS = ROOT / "envs/kernel_refine/tasks"
PROGRAMS = ("backend_conformance_test", "gpu_backend_test")
WORDS_MAX = 4000  # of what a program said, kept
GRACE_SECONDS = 10  # for a process that was killed


class Validation:
    """The steps and their outcomes; each is a program with a time limit, so that one that hangs costs itself alone."""

    def __init__(self, build: Path, config: Path, sets: list[str], seconds: int) -> None:
        self.build = build
        self.config = config
        self.sets = sets
        self.seconds = seconds
        self.steps: list[dict[str, Any]] = []
        self.private = {str(ROOT): "HONE", str(build): "BUILD", str(Path.home()): "HOME", tempfile.gettempdir(): "TMP"}

    def run(self, arguments: list[str], extra: dict[str, str] | None = None) -> tuple[int, str, str, float]:
        """Exit status (124: killed after its time), output, error output, seconds."""
        begun = time.monotonic()
        environment = {**os.environ, "NO_COLOR": "1", **(extra or {})}
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(
                arguments,
                stdout=pipe,
                stderr=pipe,
                text=True,
                errors="replace",
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            return 127, "", str(error), time.monotonic() - begun
        try:
            out, words = process.communicate(timeout=self.seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # and those that it started, which hold its pipes
            with contextlib.suppress(subprocess.TimeoutExpired):  # held in the kernel by a driver: it is left there
                process.communicate(timeout=GRACE_SECONDS)
            return 124, "", f"not back after {self.seconds} s", time.monotonic() - begun
        return process.returncode, out, words, time.monotonic() - begun

    def hone(self, *arguments: str) -> tuple[int, Any, str, float]:
        """What a subcommand printed as JSON, None where it printed none."""
        chosen = ["--config", str(self.config), "--set", "backend=hip"]
        for each in self.sets:
            chosen += ["--set", each]
        status, out, error, seconds = self.run([str(self.build / "hone"), *arguments, "--json", *chosen])
        try:
            return status, json.loads(out), error, seconds
        except ValueError:
            return status, None, (error or out)[-WORDS_MAX:], seconds

    def add(self, name: str, ok: bool | None, seconds: float, result: Any, words: str = "") -> None:
        """`ok` is None where the step could not be run."""
        state = {True: "passed", False: "failed", None: "skipped"}[ok]
        self.steps.append(
            {"step": name, "state": state, "seconds": round(seconds, 1), "result": result, "words": words}
        )
        print(f"{state:8} {name}  ({seconds:.0f} s){': ' + words.splitlines()[0] if words else ''}", flush=True)

    def device(self) -> dict[str, Any]:
        """What the machine has; an empty map where hone cannot tell."""
        status, said, words, seconds = self.hone("doctor")
        if said is None:
            self.add("doctor", False, seconds, None, words)
            return {}
        backend: dict[str, Any] = next((each for each in said["backends"] if each["backend"] == "hip"), {})
        for device in backend.get("devices", []):
            device.pop("pci", None)
        kept = ("kernel", "isolation", "freezer", "landlock", "cpus", "memory", "c++ compiler")
        machine = {each["what"]: each["found"] for each in said["findings"] if each["what"] in kept}
        words = backend.get("trouble", "no backend hip") or backend["compiler_trouble"]
        self.add("doctor", status == 0 and not words, seconds, {"machine": machine, "backend": backend}, words)
        return backend

    def library(self) -> str:
        chosen = [each.split("=", 1)[1] for each in self.sets if each.startswith("hip.library=")]
        return chosen[-1] if chosen else str(self.build / "plugins/backends/hip.so")

    def conformance(self, backend: dict[str, Any]) -> None:
        """The cases that every backend keeps to, results compared with the CPU's, and cases for GPUs only."""
        devices = [each for each in backend.get("devices", []) if "error" not in each]
        missing = [name for name in PROGRAMS if not (self.build / "tests" / name).exists()]
        if missing or not devices:
            build = f"no {self.build}/tests/{missing[0]}: cmake --build --preset dev" if missing else ""
            self.add("conformance", None, 0, None, build or "no device")
            return
        chosen = {"HONE_TESTED_BACKEND": f"hip {devices[0]['architecture']} {self.library()}"}
        compilers = [each.split("=", 1)[1] for each in self.sets if each.startswith("hip.compiler=")]
        if compilers:
            chosen["HONE_TESTED_COMPILER"] = compilers[-1]
        cases: list[dict[str, Any]] = []
        trouble = []
        begun = time.monotonic()
        for name in PROGRAMS:
            status, found, words = self.cases(name, chosen)
            cases += found
            if words or (status != 0 and not any(case["failures"] for case in found)):
                trouble.append(words or f"{name} ended with {status}")
        failed = [case["case"] for case in cases if case["failures"]]
        words = f"{len(cases) - len(failed)} of {len(cases)} cases" + (": not " + ", ".join(failed) if failed else "")
        ok = bool(cases) and not failed and not trouble
        self.add("conformance", ok, time.monotonic() - begun, cases, "; ".join([words, *trouble]))

    def cases(self, name: str, chosen: dict[str, str]) -> tuple[int, list[dict[str, Any]], str]:
        """Exit status, the cases of one program, and why there are none."""
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.json"
            program = self.build / "tests" / name
            status, out, error, _ = self.run([str(program), f"--gtest_output=json:{report}"], chosen)
            try:
                suites = json.loads(report.read_text())["testsuites"]
            except (OSError, ValueError):
                return status, [], f"{name} ended with {status}: {(out + error)[-WORDS_MAX:]}"
        return (
            status,
            [
                {
                    "case": f"{suite['name'].split('/')[-1]}.{case['name'].removesuffix('/hip')}",
                    "seconds": case["time"],
                    "skipped": case.get("result") == "SKIPPED",
                    "failures": [each["failure"][:WORDS_MAX] for each in case.get("failures", [])],
                }
                for suite in suites
                for case in suite["testsuite"]
            ],
            "",
        )

    def admit(self, task: str) -> None:
        """Goldens, right and wrong and crashing ones, and lazy answers, which must not pass."""
        status, said, words, seconds = self.hone("tasks", task, "--admit")
        if said:
            words = "; ".join(said["reasons"])
        self.add(f"admission of {task}", status == 0 and bool(said), seconds, [said] if said else None, words)

    def measure(self, task: str) -> None:
        """Times of the baseline, which against itself is as fast as itself, and of each that should be correct."""
        files = [TASKS / task / "baseline.cu", *sorted((TASKS / task / "golden").glob("correct_*.cu"))]
        files = [each for each in files if not each.name.endswith(".cuda.cu")]
        status, said, words, seconds = self.hone("eval", task, *map(str, files))
        figures = []
        for each in said or []:
            verdict = each.get("verdict", {})
            figures.append(
                {
                    "file": Path(each["file"]).name,
                    "outcome": verdict.get("outcome", each.get("error")),
                    "reason": verdict.get("reason", ""),
                    "speedup": verdict.get("speedup"),
                    "stage_ms": verdict.get("stage_ms"),
                }
            )
        if said:
            words = "; ".join(speed_words(each) for each in figures)
        self.add(f"times of {task}", status == 0 and bool(said), seconds, figures, words)

    def clean(self, value: Any) -> Any:
        """The same without what is the person's or the machine's own."""
        if isinstance(value, dict):
            return {key: self.clean(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self.clean(each) for each in value]
        if not isinstance(value, str):
            return value
        for path, name in sorted(self.private.items(), key=lambda each: -len(each[0])):
            value = value.replace(path, name) if len(path) > 1 else value
        for own, name in ((socket.gethostname(), "HOST"), (getpass.getuser(), "USER")):
            # "root" and the like are words of others, too.
            if len(own) > 3 and own not in ("root", "user", "localhost", "ubuntu", "debian"):
                value = re.sub(rf"\b{re.escape(own)}\b", name, value)
        return value


def speed_words(figure: dict[str, Any]) -> str:
    """ "baseline.cu 1.01 (0.98 to 1.03) 42 us", or what else became of it."""
    speedup = figure["speedup"]
    if figure["outcome"] != "correct" or not speedup:
        return f"{figure['file']} {figure['outcome']} {figure['reason']}".strip()
    interval = f"{speedup['value']:.3g} ({speedup['low']:.3g} to {speedup['high']:.3g})"
    return f"{figure['file']} {interval} {speedup['time_us']:.4g} us"


def tasks_of(names: list[str]) -> list[str]:
    """Those named, or all that have device code."""
    known = sorted(each.parent.name for each in TASKS.glob("*/baseline.cu"))
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"hip-validate: no task '{unknown[0]}' with device code; there are {', '.join(known)}", file=sys.stderr)
        sys.exit(2)
    return names or known


def version_of(build: Path) -> str:
    ran = subprocess.run([str(build / "hone"), "--version"], capture_output=True, text=True)
    return ran.stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(prog="hip-validate")
    parser.add_argument("--build", type=Path, default=ROOT / "build/dev", help="a build folder with hone and its tests")
    parser.add_argument("--config", type=Path, default=ROOT / "configs/hip.yaml")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as hone takes it (repeatable)")
    parser.add_argument("--task", action="append", default=[], help="only this task (repeatable)")
    parser.add_argument("--seconds", type=int, default=900, help="time limit of each step (900)")
    parser.add_argument("--output", type=Path, default=Path("hone-hip.json"))
    options = parser.parse_args()
    if not (options.build / "hone").exists():
        print(f"hip-validate: found no hone in {options.build}; docs/hip.md says how to build it", file=sys.stderr)
        return 2
    tasks = tasks_of(options.task)
    validation = Validation(options.build.resolve(), options.config.resolve(), options.set, options.seconds)
    backend = validation.device()
    status, said, words, seconds = validation.hone("validate", validation.library())
    validation.add("validate", status == 0, seconds, said and said["checks"], words)
    validation.conformance(backend)
    for task in tasks:
        if backend.get("devices"):
            validation.admit(task)
            validation.measure(task)
        else:
            validation.add(f"task {task}", None, 0, None, "no device")
    states = [each["state"] for each in validation.steps]
    summary = [f"{each['state']}: {each['step']} {each['words']}".strip() for each in validation.steps]
    report = {"hone": version_of(options.build), "sets": options.set, "summary": summary, "steps": validation.steps}
    options.output.write_text(json.dumps(validation.clean(report), indent=1) + "\n")
    print(f"{states.count('passed')} passed, {states.count('failed')} failed, {states.count('skipped')} skipped")
    print(f"all of it is in {options.output}: look through it, and send it back")
    return 0 if set(states) == {"passed"} else 1


if __name__ == "__main__":
    sys.exit(main())
