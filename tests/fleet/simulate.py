"""Simulates rollout workers on a fleet of servers: scripts/simulate-fleet says how."""

from __future__ import annotations

import argparse
import functools
import heapq
import importlib.util
import itertools
import json
import random
import statistics
import sys
from collections import deque
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

GROUP = 8  # episodes of a group
TURNS = 4  # turns of an episode
LANES = 3  # evaluations that a server does at once
EVALUATION_S = 0.7  # mean time of an evaluation, as of a module on one GPU (docs/benchmarks.md)
PREPARE_S = 2.0  # time to prepare a task on a server: its tolerance and its baseline
THINK = 0.5  # of the time in which all workers would use the fleet fully if none waited for its group


def routing():
    """hone.fleet.routing, without the native client that its package needs."""
    path = ROOT / "clients/python/src/hone/fleet/routing.py"
    spec = importlib.util.spec_from_file_location("hone_fleet_routing", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


RULES = routing()


class Fleet:
    """Servers with queues, and the time that passes."""

    def __init__(self, servers: int) -> None:
        self.names = [f"tcp://node{index}:5917" for index in range(servers)]
        self.views = [RULES.Server(name) for name in self.names]
        self.places = {name: index for index, name in enumerate(self.names)}
        self.free = dict.fromkeys(self.names, LANES)
        self.queues = {name: deque() for name in self.names}
        self.busy = dict.fromkeys(self.names, 0.0)
        self.prepared = {name: set() for name in self.names}
        self.waits = []
        self.preparations = 0

    def begin(self, name: str, episodes: int = 1) -> None:
        """Counts an episode that begins on a server, or with -1 one that ends."""
        place = self.places[name]
        self.views[place] = RULES.Server(name, self.views[place].load + episodes)


def at_random(fleet, draw):
    return lambda group, worker: draw.choice(fleet.names)


def by_each_worker(fleet, draw):
    """Each worker has its own router and one episode, so it sees no load: plain hashing."""
    servers = [RULES.Server(name) for name in fleet.names]
    first = functools.cache(lambda group: RULES.Router().order(group, servers)[0])
    return lambda group, worker: first(group)


def by_one_client(fleet, draw):
    """All workers share a client, so its router knows all loads."""
    router = RULES.Router()
    return lambda group, worker: router.order(group, fleet.views)[0]


def by_registry(fleet, draw):
    router = RULES.Router(load_free=0)
    return lambda group, worker: router.order(group, fleet.views)[0]


ROUTES = {
    "random server": at_random,
    "list, many clients": by_each_worker,
    "list, one client": by_one_client,
    "registry on Ray": by_registry,
}


def simulate(servers: int, workers: int, seconds: float, route: str, seed: int = 1) -> dict[str, object]:
    """One run, from its middle: all workers play, and the tasks of their groups are prepared.

    A worker thinks, then waits for its turn's evaluation. When the last episode of a group has ended, its workers begin
    another group.
    """
    draw = random.Random(seed)
    fleet = Fleet(servers)
    choose = ROUTES[route](fleet, draw)
    think_s = THINK * workers / (servers * LANES / EVALUATION_S)
    events, ticks = [], itertools.count()
    groups = 0

    def schedule(at, *what):
        heapq.heappush(events, (at, next(ticks), what))

    def begin_group(members, now):
        nonlocal groups
        groups += 1
        left[groups] = len(members)
        for worker in members:
            home = choose(f"group-{groups}", worker)
            fleet.begin(home)
            turns = TURNS if now > 0 else draw.randint(1, TURNS)
            if now == 0:
                fleet.prepared[home].add(groups)
            schedule(now + draw.expovariate(1 / think_s), "step", members, home, groups, turns)

    def start(home, now, job):
        since, members, group, turns = job
        fleet.free[home] -= 1
        fleet.waits.append(now - since)
        spent = draw.lognormvariate(0, 0.5) * EVALUATION_S / 1.133
        if group not in fleet.prepared[home]:
            fleet.prepared[home].add(group)
            fleet.preparations += 1
            spent += PREPARE_S
        fleet.busy[home] += spent
        schedule(now + spent, "done", members, home, group, turns)

    left = {}  # of each group: episodes that have not ended
    for first in range(0, workers, GROUP):
        begin_group(tuple(range(first, min(first + GROUP, workers))), 0.0)
    while events:
        now, _, (kind, members, home, group, turns) = heapq.heappop(events)
        if now > seconds:
            break
        if kind == "step":
            job = (now, members, group, turns)
            if fleet.free[home]:
                start(home, now, job)
            else:
                fleet.queues[home].append(job)
            continue
        fleet.free[home] += 1
        if fleet.queues[home]:
            start(home, now, fleet.queues[home].popleft())
        if turns > 1:
            schedule(now + draw.expovariate(1 / think_s), "step", members, home, group, turns - 1)
            continue
        fleet.begin(home, -1)
        left[group] -= 1
        if left[group] == 0:
            begin_group(members, now)
    busy = [fleet.busy[name] / (LANES * seconds) for name in fleet.names]
    waits = sorted(fleet.waits)
    if not waits:
        raise SystemExit(f"simulate-fleet: no evaluation began within {seconds:g} s; use more --seconds")
    return {
        "servers": servers,
        "workers": workers,
        "route": route,
        "evaluations_per_s": round(len(waits) / seconds, 1),
        "wait_p50_s": round(waits[len(waits) // 2], 2),
        "wait_p95_s": round(waits[len(waits) * 95 // 100], 2),
        "busy": round(statistics.mean(busy), 2),
        "busiest_over_mean": round(max(busy) / statistics.mean(busy), 2),
        "preparations_per_100": round(100 * fleet.preparations / len(waits), 1),
        "preparations_per_server": round(fleet.preparations / servers, 1),
    }


def count(text: str) -> int:
    """An argument: a number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a number of at least 1")
    return int(text)


def counts(text: str) -> list[int]:
    """An argument: such numbers, separated by commas."""
    return [count(one) for one in text.split(",")]


def duration(text: str) -> float:
    """An argument: a time above 0."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected seconds above 0")
    return seconds


def main() -> int:
    parser = argparse.ArgumentParser(prog="simulate-fleet")
    parser.add_argument("--workers", type=count, default=10_000)
    parser.add_argument("--servers", type=counts, default=[4, 16, 256])
    parser.add_argument("--seconds", type=duration, default=300.0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = []
    if not given.json:
        print(f"{'servers':>7}  {'route':<18} {'evaluations/s':>13} {'wait p50':>9} {'p95':>8}", end="")
        print(f" {'busy':>5} {'busiest/mean':>13} {'preparations':>13} {'per server':>11}")
    for servers in given.servers:
        for route in ROUTES:
            row = simulate(servers, given.workers, given.seconds, route)
            rows.append(row)
            if not given.json:
                print(f"{servers:>7}  {route:<18} {row['evaluations_per_s']:>13} {row['wait_p50_s']:>7} s", end="")
                print(f" {row['wait_p95_s']:>6} s {row['busy']:>5.0%} {row['busiest_over_mean']:>13}", end="")
                print(f" {row['preparations_per_100']:>11} % {row['preparations_per_server']:>11}", flush=True)
    if given.json:
        print(json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
