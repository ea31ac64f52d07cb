"""Measures the time from request to answer of profiles and steps on a running server.

`profile_times.py --hone HONE [-c CONFIG] [--set KEY=VALUE] [--count N]` starts a server on which episodes have the tool
`profile`, and prints a table, or with `--json` a JSON object. Each row has the medians over N profiles and N steps of a
task's baseline, and their ratio. `new` sources were not built before; `same` is one source, whose build is kept.
`pause` is the time (s) between two requests, in which a model would write its answer. Without a pause, the process that
reads hardware counters starts while the server judges. `stages` has medians (ms) from the server's log: opening the
device and CUPTI, with passes without launches (`open`), beginning the first pass (`begin`), and the other parts of a
request. `pass_count` is the number of passes. Needs the Python package `hone`.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Any

import hone

HERE = Path(__file__).resolve().parent
TASKS = HERE.parents[1] / "envs/kernel_refine/tasks"
STAGES = re.compile(r"counters were read; milliseconds of each stage: ([^\"\\\n]*)")
HOST = re.compile(r"counters: made the inputs in (\d+) ms, waited for the device and counted in (\d+) ms")
START_SECONDS = 300.0  # for the server, whose interpreters may import torch


def start(given: argparse.Namespace, log: IO[bytes]) -> tuple["subprocess.Popen[str]", dict[str, str]]:
    command = [given.hone, "serve", "--json", "--endpoint", "tcp://127.0.0.1:0", "--control", "tcp://127.0.0.1:0"]
    command += ["-c", given.config] if given.config else ["--set", f"backend={given.backend}"]
    own = ["environment.tools={profile: 1}", "environment.max_turns=1000", "log.level=debug"]
    for one in [*own, *given.set]:
        command += ["--set", one]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    assert server.stdout is not None
    announced = server.stdout.readline()  # empty if the server has ended
    if not announced:
        raise RuntimeError(f"the server ended with status {server.wait()}")
    return server, json.loads(announced)


def timed(client: hone.Client, task: str, given: argparse.Namespace, new: bool, pause: float) -> dict[str, Any]:
    """Alternates profiles and steps of one episode. Returns their times (s)."""
    source = (TASKS / task / f"baseline.{given.suffix}").read_text()
    options = {"max_turns": given.count + 1, "tools": {"profile": given.count + 1}}
    episode = client.reset(task, options=options).episode
    times: dict[str, list[float]] = {"profile": [], "step": []}
    problems = set()
    for turn in range(given.count + 1):
        for kind, found in times.items():
            code = f"{source}\n// {kind} {turn} {time.time_ns()}\n" if new else source
            time.sleep(pause)
            begun = time.monotonic()
            if kind == "profile":
                facts = episode.tool("profile", code).facts
                problems.add(facts.get("counters_problem") or "")
            else:
                episode.step(code)
            found.append(time.monotonic() - begun)
    # The first ones prepare the task, and may start the process that reads counters.
    medians = {kind: statistics.median(found[1:]) for kind, found in times.items()}
    slowest = {f"{kind}_max": max(found[1:]) for kind, found in times.items()}
    row = {"task": task, "source": "new" if new else "same", "pause": pause, **medians, **slowest}
    return {**row, "ratio": medians["profile"] / medians["step"], "problems": sorted(problems - {""})}


def stages_in(log: str) -> dict[str, float]:
    """Medians of the stages in the log."""
    parts: dict[str, list[float]] = {}
    for line in STAGES.findall(log):
        for part in line.split(", "):
            name, _, value = part.rpartition(" ")
            parts.setdefault(name, []).append(float(value))
    for inputs, counting in HOST.findall(log):
        parts.setdefault("host: inputs", []).append(float(inputs))
        parts.setdefault("host: device and count", []).append(float(counting))
    return {name: statistics.median(values) for name, values in parts.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hone", default="hone", help="path of hone (default: hone)")
    parser.add_argument("-c", "--config", help="configuration of hone")
    parser.add_argument("--backend", default="cuda", help="backend without --config (default: cuda)")
    parser.add_argument("--suffix", default="cu", help="suffix of the sources (default: cu)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override one key (repeatable)")
    parser.add_argument("--tasks", nargs="+", default=["gelu", "matmul"], help="tasks (default: gelu matmul)")
    parser.add_argument("--count", type=int, default=7, help="profiles and steps of each row (default: 7)")
    parser.add_argument("--pauses", nargs="+", type=float, default=[1.5, 0.0], help="times between requests (s)")
    parser.add_argument("--json", action="store_true", help="print a JSON object instead of a table")
    given = parser.parse_args()
    with tempfile.NamedTemporaryFile(suffix=".log") as log:
        try:
            server, announced = start(given, log.file)
        except RuntimeError:
            sys.stderr.write(Path(log.name).read_text(errors="replace"))
            raise
        try:
            endpoints = {"control": announced["control"]} if announced.get("control") else {}
            with hone.connect(announced["endpoint"], connect_timeout=START_SECONDS, **endpoints) as client:
                rows = [
                    timed(client, task, given, new, pause)
                    for task in given.tasks
                    for new in (True, False)
                    for pause in given.pauses
                ]
                processes = client.metrics()["service"]["evaluator"]["counter_processes"]
        finally:
            server.terminate()
            server.wait(timeout=90)
        stages = stages_in(Path(log.name).read_text(errors="replace"))
    if given.json:
        print(json.dumps({"rows": rows, "counter_processes": processes, "stages": stages}))
        return 0
    print(f"{'task':<10}{'source':<8}{'pause':>6}{'profile':>10}{'step':>8}{'ratio':>7}{'max: profile':>14}{'step':>8}")
    for r in rows:
        print(
            f"{r['task']:<10}{r['source']:<8}{r['pause']:>6.1f}{r['profile']:>10.3f}{r['step']:>8.3f}"
            f"{r['ratio']:>7.2f}{r['profile_max']:>14.3f}{r['step_max']:>8.3f}  {'; '.join(r['problems'])}"
        )
    print("processes that read counters:", json.dumps(processes))
    print("stages (ms):", json.dumps(stages))
    return 0


if __name__ == "__main__":
    sys.exit(main())
