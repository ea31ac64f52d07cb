"""Clients of a server that is restarted gracefully again and again, for `scripts/bench-restart`."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

import hone

from servers import RealServer

GOOD = Path(__file__).resolve().parents[2] / "envs/kernel_refine/tasks/add_relu/golden/demo_4_fused.cpp"
MAX_TURNS = 20


class Worker(threading.Thread):
    """Plays episodes until `over` is set. Every fourth submits kernels that are timed, the others broken ones."""

    def __init__(self, endpoint: str, number: int, over: threading.Event) -> None:
        super().__init__(daemon=True)
        self.endpoint, self.number, self.over = endpoint, number, over
        self.replies: list[float] = []  # when each came
        self.error = ""

    def source(self) -> str:
        unique = uuid.uuid4().hex
        return f"{GOOD.read_text()}//{unique}" if self.number % 4 == 0 else f"#error {unique}"

    def run(self) -> None:
        try:
            with hone.connect(self.endpoint, name=f"worker-{self.number}") as client:
                while not self.over.is_set():
                    episode = client.reset("add_relu", options={"max_turns": MAX_TURNS}).episode
                    for _ in range(MAX_TURNS):
                        episode.step(self.source())
                        self.replies.append(time.monotonic())
                        if self.over.is_set():
                            break
        except Exception as error:
            self.error = f"{type(error).__name__}: {error}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench-restart")
    parser.add_argument("--restarts", type=int, default=10)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--hone", default=os.environ.get("HONE_BINARY", "build/release/hone"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    os.environ["HONE_BINARY"] = options.hone
    with tempfile.TemporaryDirectory() as made:
        log, sets = Path(made) / "serve.log", ("--set", f"journal.path={made}/run.db")
        server = RealServer(log, 0, *sets, quick=False)
        over = threading.Event()
        workers = [Worker(server.endpoint, number, over) for number in range(options.clients)]
        for worker in workers:
            worker.start()
        downtimes = []
        for number in range(options.restarts):
            time.sleep(options.seconds)
            begun = time.monotonic()
            server.stop()
            server = RealServer(log, server.port, *sets, quick=False)
            downtimes.append(time.monotonic() - begun)
            if not options.json:
                print(f"restart {number + 1}: {downtimes[-1]:.1f} s from SIGTERM until it serves", flush=True)
        time.sleep(options.seconds)
        over.set()
        for worker in workers:
            worker.join(60)
        server.stop()
    errors = [worker.error for worker in workers if worker.error]
    gaps = [
        after - before for worker in workers for before, after in zip(worker.replies, worker.replies[1:], strict=False)
    ]
    found = {
        "restarts": options.restarts,
        "clients": options.clients,
        "clients_lost": len(errors) + sum(worker.is_alive() for worker in workers),
        "steps": sum(len(worker.replies) for worker in workers),
        "longest_restart_s": round(max(downtimes), 1),
        "longest_wait_s": round(max(gaps), 1),
        "errors": errors,
    }
    if options.json:
        print(json.dumps(found))
    else:
        print(f"{found['clients_lost']} of {options.clients} clients lost, {found['steps']} steps")
        print(f"longest time between two replies to a client: {found['longest_wait_s']} s")
        for error in errors:
            print(f"  {error}")
    return 1 if found["clients_lost"] else 0


if __name__ == "__main__":
    sys.exit(main())
