"""What a seed decides: each round's faults and the server's end, and each episode's actions.

Every decision is drawn from a generator of its own, named by seed, actor and number, and before anything is known of
how things go: so the same seed decides the same whatever the machine's timing makes of it.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, field

HELPERS = ("builder", "compiler", "judge", "candidate", "plugin", "launcher")
ENDS = ("delay", "starting", "send", "ack", "before sync", "after sync", "in write")
HOUR = 3600


@dataclass(frozen=True)
class Fault:
    """Something that is done to a server or its surroundings while it serves."""

    kind: str  # "helper", "network", "clock", "memory", "disk"
    what: str  # of that kind
    at_s: float  # after it was ready
    for_s: float
    number: int = 0  # a clock's offset in seconds, or which of many


@dataclass(frozen=True)
class Round:
    """The life of one server: what is done to it, and how it ends."""

    number: int
    end: str  # of ENDS
    count: int  # which send, acknowledgement, sync or write
    after_s: float  # "delay", "starting": how long it lives; the others: at most
    power_loss: bool
    wait_for_the_dead: bool  # the next server starts only when all of this one's processes are gone
    faults: tuple[Fault, ...]


@dataclass(frozen=True)
class Turn:
    kind: str  # "none", "error", "wrong", "fast"
    think_s: float
    extras: tuple[str, ...]  # "repeat", "conflict", "twin", "gap", "move"


@dataclass(frozen=True)
class Script:
    """One episode as its client means to play it."""

    number: int
    task: str
    reward: str  # "" is the default, which is written in Python
    max_turns: int
    seconds_max: float | None
    fate: str  # "end", "close", "leave"
    turns: tuple[Turn, ...] = field(default_factory=tuple)


def draw_fault(draw: random.Random) -> Fault:
    kinds = ["helper"] * 5 + ["network"] * 4 + ["clock"] * 2 + ["memory", "disk"]
    kind = draw.choice(kinds)
    what = {
        "helper": HELPERS,
        "clock": ("step",),
        "memory": ("server", "launcher"),
        "disk": ("full", "sync fails"),
        "network": ("cut", "stall", "delay", "half-close", "link"),
    }[kind]
    hours = draw.randint(1, 72) * draw.choice((-1, 1))
    return Fault(
        kind,
        draw.choice(what),
        at_s=draw.uniform(0.0, 0.7),
        for_s=draw.uniform(0.1, 1.5),
        number=hours * HOUR if kind == "clock" else draw.randrange(1 << 16),
    )


def draw_round(seed: int, number: int) -> Round:
    draw = random.Random(f"{seed}/round {number}")
    calm = number % 10 == 9  # long enough for what takes a while
    end = "delay" if calm else draw.choice(ENDS)
    count = draw.randint(1, 40) if end in ("before sync", "after sync") else draw.randint(1, 250)
    after_s = draw.uniform(3, 5) if calm else draw.uniform(0.0, 0.4) if end == "starting" else draw.uniform(0.1, 1.2)
    faults = tuple(draw_fault(draw) for _ in range(draw.choice((0, 1, 1, 2, 3))))
    return Round(
        number,
        end,
        count,
        after_s,
        power_loss=draw.random() < 0.5,
        wait_for_the_dead=draw.random() < 0.3,
        faults=() if end == "starting" else tuple(sorted(faults, key=lambda one: one.at_s)),
    )


def draw_turn(draw: random.Random) -> Turn:
    kind = draw.choices(("none", "error", "wrong", "fast"), (960, 12, 12, 16))[0]
    think_s = 0.0 if draw.random() < 0.5 else draw.uniform(0.0, 0.8)
    extras = tuple(
        extra
        for extra, chance in (("twin", 0.03), ("repeat", 0.05), ("conflict", 0.04), ("gap", 0.02), ("move", 0.01))
        if draw.random() < chance
    )
    return Turn(kind, think_s, extras)


def draw_script(seed: int, client: int, number: int) -> Script:
    draw = random.Random(f"{seed}/client {client}/episode {number}")
    max_turns = draw.randint(2, 9)
    fate = draw.choices(("end", "close", "leave"), (70, 20, 10))[0]
    played = max_turns if fate == "end" else draw.randint(1, max_turns - 1)
    return Script(
        number,
        task="add_relu",
        reward="" if draw.random() < 0.5 else "tritonforge",
        max_turns=max_turns,
        seconds_max=12 * HOUR if draw.random() < 0.3 else None,
        fate=fate,
        turns=tuple(draw_turn(draw) for _ in range(played)),
    )


def digest(seed: int, clients: int) -> str:
    """A few hexadecimal digits that say whether two runs decided the same."""
    decided = [draw_round(seed, number) for number in range(64)]
    played = [draw_script(seed, client, number) for client in range(clients) for number in range(4)]
    return hashlib.sha256(repr((decided, played)).encode()).hexdigest()[:12]
