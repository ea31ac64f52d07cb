"""Measures clients with a list of servers: scripts/bench-fleet says how. Needs the Python client."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import hone
from simulate import count, duration

ROOT = Path(__file__).resolve().parents[2]
TASK = "add_relu"
SOURCE = ROOT / "envs/kernel_refine/tasks/add_relu/golden/demo_4_fused.cpp"
ROUNDS = 5
PAIRS = 20
READY_S = 300.0  # for workers to connect and to play their first episodes
RAMP_S = {"requests": 0.0, "evaluations": 3.0}  # until the servers are as busy as they stay


class Server:
    """`hone serve` on cores of its own."""

    def __init__(self, program: str, cores: list[int]) -> None:
        command = ["taskset", "-c", ",".join(map(str, cores)), program, "serve", "--json"]
        command += ["--endpoint", "tcp://127.0.0.1:0", "--control", "", "--set", "log.level=warning"]
        command += ["--set", "evaluate.client_max=100000", "--set", "server.limits.client_evaluations=100000"]
        command += ["--set", "evaluate.max_interval=0"]  # a noisy machine must not stop the benchmark
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{program} serve ended with status {self.process.wait()}; its message is above")
        self.endpoint: str = json.loads(line)["endpoint"]


def play(client: hone.Client, kind: str, number: str, source: str, open_now: dict[int, hone.Episode]) -> int:
    """Returns the number of requests or evaluations that are done. `open_now` has the episode while it is open."""
    start = client.reset(TASK, group=number)
    episode = open_now[threading.get_ident()] = start.episode
    if kind == "requests":
        # An answer without code is a turn that evaluates nothing.
        turns = start.observation["turns_left"]
        for _ in range(turns):
            episode.step(response="no code")
        episode.close()
        return 2 + turns
    result = episode.step(f"// {number}\n{source}")
    if not result.info["verdict"] or result.info["verdict"]["outcome"] != "correct":
        raise RuntimeError(f"expected a correct kernel, found {result.info}")
    episode.close()
    return 1


def prepare(endpoint: str) -> None:
    """Has a server prepare the task, which takes seconds."""
    with hone.connect(endpoint) as client:
        play(client, "evaluations", f"{os.getpid()}-prepare", SOURCE.read_text(), {})


def guarded(loop: Callable[[Any, int], None], ready: Barrier, given: Any, thread: int) -> None:
    """Runs a thread's loop. If it fails, the others do not wait for it."""
    try:
        loop(given, thread)
    except BaseException:
        ready.abort()
        raise


def work(
    endpoints: str | list[str],
    kind: str,
    cores: list[int],
    threads: int,
    seconds: float,
    ready: Barrier,
    done: multiprocessing.Queue,
) -> None:
    """Plays `threads` episodes at a time, and counts for `seconds`.

    What counts are requests or evaluations, as `kind` says. The count begins `RAMP_S` after all workers
    have played one episode without an evaluation in each thread. Evaluations that have not ended when the
    count ends are cancelled: waiting for them would take longer than the count.
    """
    os.sched_setaffinity(0, cores)
    source, counts = SOURCE.read_text(), []
    open_now: dict[int, hone.Episode] = {}
    over = threading.Event()
    begun: dict[str, float] = {}

    def begin() -> float:
        """The start of the count, which is the same for all threads of this worker."""
        return begun.setdefault("at", time.monotonic() + RAMP_S[kind])

    def loop(client: hone.Client, thread: int) -> None:
        play(client, "requests", f"{os.getpid()}-{thread}-first", source, open_now)
        ready.wait(READY_S)
        first, total = begin(), 0
        for number in itertools.count():
            if over.is_set():
                break
            try:
                got = play(client, kind, f"{os.getpid()}-{thread}-{number}", source, open_now)
            except hone.HoneError:
                if not over.is_set():
                    raise
                break  # its episode was closed
            total += got if first <= time.monotonic() <= first + seconds else 0
        counts.append(total)

    try:
        with hone.connect(endpoints) as client:
            running = [
                threading.Thread(target=guarded, args=(loop, ready, client, thread)) for thread in range(threads)
            ]
            for one in running:
                one.start()
            with contextlib.suppress(threading.BrokenBarrierError):
                ready.wait(READY_S)
                time.sleep(begin() + seconds - time.monotonic())
            over.set()
            while any(one.is_alive() for one in running):
                for episode in list(open_now.values()):
                    with contextlib.suppress(hone.HoneError):
                        episode.close()
                time.sleep(0.1)
            for one in running:
                one.join()
    finally:
        if len(counts) < threads:
            ready.abort()
        done.put(sum(counts) if len(counts) == threads else None)


def results_of(
    target: Callable[..., None], arguments: tuple[Any, ...], workers: int, parties: int, limit_s: float
) -> list[Any]:
    """What each worker process puts into its queue. `parties`: threads that wait at the barrier."""
    context = multiprocessing.get_context("spawn")
    done, ready = context.Queue(), context.Barrier(parties)
    processes = [context.Process(target=target, args=(*arguments, ready, done)) for _ in range(workers)]
    for one in processes:
        one.start()
    results = [done.get(timeout=limit_s) for _ in processes]
    for one in processes:
        one.join()
    if None in results:
        raise SystemExit("a worker failed; its message is above")
    return results


def rate(endpoints: str | list[str], kind: str, options: argparse.Namespace) -> float:
    """Requests or evaluations per second of all workers."""
    seconds = options.seconds if kind == "requests" else options.evaluation_seconds
    arguments = (endpoints, kind, options.worker_cores, options.at_once, seconds)
    parties = options.workers * (options.at_once + 1)
    counts = results_of(work, arguments, options.workers, parties, READY_S + seconds + 120)
    if sum(counts) == 0:
        raise SystemExit(f"no {kind} ended within {seconds:g} s; measure for longer")
    return sum(counts) / seconds


def compared(
    name: str, one: str | list[str], other: str | list[str], kind: str, options: argparse.Namespace
) -> dict[str, object]:
    """Rates of `other` and of `one` in alternate rounds, and the median of their ratios."""
    ones, others = [], []
    for number in range(options.rounds):
        print(f"{name}: round {number + 1} of {options.rounds}", file=sys.stderr)
        for which in (ones, others) if number % 2 == 0 else (others, ones):
            which.append(rate(one if which is ones else other, kind, options))
    ratio = statistics.median(b / a for a, b in zip(ones, others, strict=True))
    return {
        "name": name,
        "value": statistics.median(others),
        "unit": "1/s",
        "baseline": statistics.median(ones),
        "ratio": ratio,
    }


def work_paired(
    endpoints: list[str | list[str]],
    cores: list[int],
    threads: int,
    pairs: int,
    seconds: float,
    ready: Barrier,
    done: multiprocessing.Queue,
) -> None:
    """Plays requests through two clients in turn, and puts the rate of each in every pair of rounds.

    All threads of all workers begin a round at the same time. A thread's rate is that of the time until its
    last episode of the round has ended.
    """
    os.sched_setaffinity(0, cores)
    rates = [[0.0, 0.0] for _ in range(pairs)]
    lock, ended = threading.Lock(), []

    def loop(clients: list[hone.Client], thread: int) -> None:
        numbers = itertools.count()

        def played(which: int) -> int:
            return play(clients[which], "requests", f"{os.getpid()}-{thread}-{next(numbers)}", "", {})

        for which in (0, 1):
            played(which)
        for pair in range(pairs):
            for which in (0, 1) if pair % 2 == 0 else (1, 0):
                ready.wait(READY_S)
                start, total = time.monotonic(), 0
                while time.monotonic() < start + seconds:
                    total += played(which)
                with lock:
                    rates[pair][which] += total / (time.monotonic() - start)
        ended.append(thread)

    try:
        with contextlib.ExitStack() as stack:
            clients = [stack.enter_context(hone.connect(one)) for one in endpoints]
            given = [(loop, ready, clients, thread) for thread in range(threads)]
            running = [threading.Thread(target=guarded, args=one) for one in given]
            for one in running:
                one.start()
            for one in running:
                one.join()
    finally:
        if len(ended) < threads:
            ready.abort()
        done.put(rates if len(ended) == threads else None)


def paired(name: str, one: str | list[str], other: str | list[str], options: argparse.Namespace) -> dict[str, object]:
    """Request rates of `other` and of `one` in short rounds that alternate, with the ratios' quartiles.

    Both rounds of a pair are close in time, so slow changes of the machine change both rates.
    """
    print(f"{name}: {options.pairs} pairs of rounds", file=sys.stderr)
    arguments = ([one, other], options.worker_cores, options.at_once, options.pairs, options.pair_seconds)
    limit_s = READY_S + 4 * options.pairs * options.pair_seconds
    results = results_of(work_paired, arguments, options.workers, options.workers * options.at_once, limit_s)
    ones, others = ([sum(rates[pair][which] for rates in results) for pair in range(options.pairs)] for which in (0, 1))
    ratios = [b / a for a, b in zip(ones, others, strict=True)]
    quartiles = statistics.quantiles(ratios, n=4, method="inclusive") if len(ratios) > 1 else ratios * 3
    return {
        "name": name,
        "value": statistics.median(others),
        "unit": "1/s",
        "baseline": statistics.median(ones),
        "ratio": quartiles[1],
        "quartiles": [quartiles[0], quartiles[2]],
    }


def print_row(figure: dict[str, object], width: int, is_first: bool) -> None:
    """Each figure is printed as soon as it is known: a run takes minutes."""
    if is_first:
        print(f"{'figure':{width}}  {'value':>8}  unit  {'baseline':>8}  ratio")
    spread = "  (quartiles {:.2f}, {:.2f})".format(*figure["quartiles"]) if "quartiles" in figure else ""
    print(
        f"{figure['name']:{width}}  {figure['value']:8.1f}  {figure['unit']:4}  "
        f"{figure['baseline']:8.1f}  {figure['ratio']:5.2f}{spread}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--servers", type=count, default=4)
    parser.add_argument("--cores", type=count, default=max(1, (os.cpu_count() or 1) // 5))
    parser.add_argument("--workers", type=count, default=4)
    parser.add_argument("--at-once", type=count, default=8)
    parser.add_argument("--seconds", type=duration, default=10)
    parser.add_argument("--evaluation-seconds", type=duration, default=30)
    parser.add_argument("--rounds", type=count, default=ROUNDS)
    parser.add_argument("--pairs", type=count, default=PAIRS)
    parser.add_argument("--pair-seconds", type=duration, default=1)
    parser.add_argument("--hone", default=str(ROOT / "build/release/hone"))
    parser.add_argument("--requests-only", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    used = options.servers * options.cores
    if used >= len(cores):
        print(f"{options.servers} servers and the workers share {len(cores)} cores", file=sys.stderr)
    options.worker_cores = cores[used:] or cores
    sets = [[cores[(n * options.cores + i) % len(cores)] for i in range(options.cores)] for n in range(options.servers)]
    servers: list[Server] = []
    try:
        for each in sets:
            servers.append(Server(options.hone, each))
        all_of_them = [server.endpoint for server in servers]
        first = all_of_them[0]
        many = f"a list of {options.servers} servers"
        pairs = [
            ("requests, a list of one server over its address", first, [first], "requests"),
            (f"requests, {many} over one", [first], all_of_them, "requests"),
            (f"evaluations, {many} over one", [first], all_of_them, "evaluations"),
        ]
        if not options.requests_only:
            with ThreadPoolExecutor() as threads:
                list(threads.map(prepare, all_of_them))
        figures = []
        for name, one, other, kind in pairs[:2] if options.requests_only else pairs:
            # These two differ by a few per cent only.
            is_close = other == [one]
            figures.append(paired(name, one, other, options) if is_close else compared(name, one, other, kind, options))
            if not options.json:
                print_row(figures[-1], max(len(pair[0]) for pair in pairs), is_first=len(figures) == 1)
    finally:
        for server in servers:
            server.process.terminate()
        for server in servers:
            server.process.wait(timeout=60)
    if options.json:
        print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
