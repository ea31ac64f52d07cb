"""The harness: many clients, one journal, and a server that is killed repeatedly. scripts/chaos runs it."""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from plan import digest
from run import Chaos, Settings

ROOT = Path(__file__).resolve().parents[2]


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/chaos", description=__doc__)
    parser.add_argument("--kills", type=int, default=100, metavar="N", help="how often the server is killed (100)")
    parser.add_argument("--seed", type=int, help="decides every fault and action; printed, drawn when not given")
    parser.add_argument("--clients", type=int, default=64, metavar="N", help="clients at once (64)")
    parser.add_argument("--seconds", type=float, metavar="MAX", help="time after which no kill starts (s)")
    parser.add_argument("--binary", type=Path, help="the server (build/dev/hone)")
    parser.add_argument(
        "--network",
        choices=("auto", "proxy", "namespaces"),
        default="auto",
        help="what cuts it: proxies in the harness, or a cable between namespaces as well (auto: where allowed)",
    )
    parser.add_argument("--json", action="store_true", help="the last line is a JSON object")
    parser.add_argument("--keep", action="store_true", help="leave the journal and the log where they are")
    parser.add_argument(
        "--sabotage",
        choices=("lose-write", "no-sync", "drop-turn", "change-reward", "leave-process", "step-monotonic"),
        help="spoil the run on purpose: the harness must find it",
    )
    parser.add_argument("--plan", action="store_true", help="print what the seed decides, and do nothing")
    return parser.parse_args(arguments)


def last_line(chaos: Chaos, minutes: float, as_json: bool) -> str:
    model = chaos.model
    if as_json:
        told = {
            "kills": chaos.kills,
            "steps": model.steps,
            "lost": model.lost,
            "doubled": model.doubled,
            "violations": model.violations[:50],
            "seed": chaos.settings.seed,
            "plan": digest(chaos.settings.seed, chaos.settings.clients),
            "minutes": round(minutes, 2),
            "episodes": len(model.episodes),
            "masked": model.masked,
            "repeats": model.repeats,
            "conflicts": model.conflicts,
            "outcomes": model.outcomes,
            "faults": dict(chaos.faults.done),
            "slowest_s": round(model.slowest_s, 1),
            "reaped": chaos.silence.reaped,
        }
        return json.dumps(told)
    wrong = f", {len(model.violations)} violations" if model.violations else ""
    duration = f"{minutes:.0f} min" if minutes >= 2 else f"{60 * minutes:.0f} s"
    return (
        f"{chaos.kills} kills, {model.steps} steps, {model.lost} lost, {model.doubled} doubled{wrong} "
        f"(seed {chaos.settings.seed}, {duration})"
    )


def summary(chaos: Chaos) -> str:
    model = chaos.model
    outcomes = ", ".join(f"{count} {name}" for name, count in sorted(model.outcomes.items()))
    faults = ", ".join(f"{count} {name}" for name, count in sorted(chaos.faults.done.items()))
    ends = ", ".join(f"{count} {name}" for name, count in sorted(chaos.ends.items()))
    return (
        f"{len(model.episodes)} episodes; steps: {outcomes}\n"
        f"{model.repeats} repeats answered alike, {model.conflicts} conflicts refused, "
        f"slowest answer {model.slowest_s:.1f} s\n"
        f"ends: {ends}\nother faults: {faults or 'none'}"
    )


def main() -> int:
    arguments = parse(sys.argv[1:])
    seed = arguments.seed if arguments.seed is not None else time.time_ns() % 1_000_000
    if arguments.plan:
        print(f"seed {seed}: plan {digest(seed, arguments.clients)}")
        return 0
    binary = (arguments.binary or ROOT / "build" / "dev" / "hone").resolve()
    if not binary.is_file():
        print(f"chaos: found no server at {binary}; build it, or name another with --binary", file=sys.stderr)
        return 2
    folder = Path(tempfile.mkdtemp(prefix="hone-chaos-"))
    settings = Settings(
        binary=binary,
        folder=folder,
        seed=seed,
        kills=arguments.kills,
        clients=arguments.clients,
        seconds=arguments.seconds,
        network=arguments.network,
        sabotage=arguments.sabotage,
    )
    started = time.monotonic()
    chaos = Chaos(settings)
    print(f"seed {seed}, plan {digest(seed, arguments.clients)}, in {folder}", file=sys.stderr)
    try:
        asyncio.run(chaos.run())
    except Exception as error:  # the harness's own failure proves nothing, and is told like any other
        traceback.print_exc()
        chaos.model.violate(f"the run broke off: {type(error).__name__}: {error}")
    minutes = (time.monotonic() - started) / 60
    print(summary(chaos), file=sys.stderr)
    for violation in chaos.model.violations[:20]:
        print(f"violation: {violation[:2000]}", file=sys.stderr)
    failed = bool(chaos.model.violations)
    if failed:
        print(
            f"the journal, the server's log and its report are in {folder}; again: scripts/chaos --seed {seed} "
            f"--kills {arguments.kills} --clients {arguments.clients}",
            file=sys.stderr,
        )
    elif not arguments.keep:
        shutil.rmtree(folder)
    print(last_line(chaos, minutes, arguments.json))
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        print(f"chaos: {error}: {error.stderr}", file=sys.stderr)
        sys.exit(2)
