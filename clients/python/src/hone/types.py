"""What the client hands out: typed views of the protocol's bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypedDict, TypeVar, cast

__all__ = [
    "Closed",
    "EpisodeState",
    "Message",
    "Mismatch",
    "Observation",
    "Outcome",
    "Reset",
    "ResetInfo",
    "Speedup",
    "StepInfo",
    "StepResult",
    "Task",
    "TaskFacts",
    "TurnLine",
    "Verdict",
]

EpisodeT = TypeVar("EpisodeT")

Outcome = Literal[
    "no_code",
    "rejected",
    "build_failed",
    "crashed",
    "timed_out",
    "out_of_memory",
    "wrong",
    "cheated",
    "correct",
]

# The bodies below are plain dictionaries. Other versions of the server may send more keys or fewer.


class Message(TypedDict):
    """One of a chat."""

    role: str
    content: str


class TaskFacts(TypedDict, total=False):
    """A task as a client may know it; after the first observation only ``id``."""

    dataset: str
    id: str
    title: str
    description: str
    split: str
    tags: list[str]
    backend: str
    languages: list[str]
    entry: str
    signature: str
    tensors: list[dict[str, Any]]
    scalars: list[dict[str, Any]]
    arguments: list[str]
    shapes: dict[str, Any]
    tolerance: dict[str, Any]
    alignment: int
    threads: int
    memory_mb: int
    run_seconds: float
    cache: str
    precision: str
    own_kernels: str


class TurnLine(TypedDict):
    """One turn in an observation's history; ``outcome`` may be ``"unscored"``."""

    turn: int
    outcome: str
    speedup: float | None
    reward: float | None


class Observation(TypedDict, total=False):
    """What an environment says (docs/protocol.md, docs/environments.md).

    ``messages`` are those of this turn. ``code``, the source that was judged, is of
    ``kernel_refine``; ``choice``, ``index`` and ``facts`` are of ``autotune``.
    """

    task: TaskFacts
    messages: list[Message]
    feedback: str
    code: str
    turn: int
    turns_left: int
    seconds_left: float | None
    history: list[TurnLine]
    best_speedup: float | None
    choice: dict[str, Any] | None
    index: int | None
    facts: dict[str, float] | None


class Mismatch(TypedDict, total=False):
    """The worst wrong element of an output."""

    tensor: str
    shape: str
    family: str
    index: list[int]
    got: float | None
    expected: float | None
    tolerance: float
    wrong: int
    total: int
    nans: int
    norm: float
    norm_allowed: float


class Speedup(TypedDict, total=False):
    """A measurement: baseline time over the submission's, with a 95 % interval; times in µs."""

    value: float
    low: float
    high: float
    time_us: float
    baseline_us: float
    rounds: int
    calls: int
    flags: list[str]
    floor_us: float
    marked_us: float


class Verdict(TypedDict, total=False):
    """What became of a submission (docs/protocol.md)."""

    outcome: Outcome
    reason: str
    stage: str
    diagnostics: str
    signal: str
    mismatch: Mismatch | None
    speedup: Speedup | None
    work: dict[str, Any] | None
    stage_ms: dict[str, float]
    caught: str
    second_look: str
    fingerprint: str
    source_hash: str


class StepInfo(TypedDict, total=False):
    """Of a turn. After a fault of the machine ``verdict`` is None, and ``fault`` says why."""

    verdict: Verdict | None
    components: dict[str, float]
    stop_reason: str | None
    fault: str | None


class ResetInfo(TypedDict, total=False):
    """Of an episode. ``parent`` and ``parent_turn`` are there where it is a branch."""

    seed: int
    task: str
    group: str | None
    fingerprint: str
    parent: str
    parent_turn: int


@dataclass
class EpisodeState:
    """Where an episode stands. Plain data: keep ``id`` and ``token`` to resume it elsewhere.

    Attributes:
        id: The server's name for the episode.
        token: The secret that resumes it on another connection.
        turn: The last turn done; 0 after reset.
        ended: Whether its last step said terminated or truncated, or it was closed.
    """

    id: str
    token: str = field(repr=False)
    turn: int = 0
    ended: bool = False


@dataclass(frozen=True)
class Reset(Generic[EpisodeT]):
    """The start of an episode.

    Attributes:
        episode: The handle to step with.
        observation: The task, the prompt as chat messages, what is left (docs/protocol.md, OBS).
        info: ``seed``, ``task``, ``group`` and the machine's ``fingerprint``.
        lease: Seconds the server keeps the episode with no word from this client.
    """

    episode: EpisodeT
    observation: Observation
    info: ResetInfo
    lease: float


@dataclass(frozen=True)
class StepResult:
    """What one turn brought.

    Attributes:
        observation: This turn's new messages, the feedback and the history.
        reward: The reward, or None for an unscored turn.
        reward_valid: False after a fault of the machine: do not train on this turn.
        terminated: Whether the episode reached its end.
        truncated: Whether it ran out of turns or seconds.
        info: ``verdict``, ``components`` of the reward, ``stop_reason``, ``fault``.
        returns: Every turn's return, with the episode's last result; None before.
        return_to_date: Sum of what was earned so far under the episode's reward, or None.
        turn: This turn's number; the first is 1.
    """

    observation: Observation
    reward: float | None
    reward_valid: bool
    terminated: bool
    truncated: bool
    info: StepInfo
    returns: list[float | None] | None
    return_to_date: float | None
    turn: int

    @property
    def ended(self) -> bool:
        """Whether this was the episode's last turn."""
        return self.terminated or self.truncated


@dataclass(frozen=True)
class Closed:
    """What a closed episode came to: turns done, every turn's return, and their value to date."""

    turns: int
    returns: list[float | None]
    return_to_date: float | None


@dataclass(frozen=True)
class Task:
    """One line of the server's list of tasks."""

    id: str
    title: str
    split: str
    tags: list[str]
    backends: list[str]


def decode_step(body: Mapping[str, Any]) -> StepResult:
    """Reads the body of a step's result; unknown keys are ignored."""
    return StepResult(
        observation=cast(Observation, body.get("observation") or {}),
        reward=body.get("reward"),
        reward_valid=bool(body.get("reward_valid", False)),
        terminated=bool(body.get("terminated", False)),
        truncated=bool(body.get("truncated", False)),
        info=cast(StepInfo, body.get("info") or {}),
        returns=body.get("returns"),
        return_to_date=body.get("return_to_date"),
        turn=int(body.get("turn", 0)),
    )


def decode_closed(body: Mapping[str, Any]) -> Closed:
    """Reads the body of a close's result."""
    return Closed(
        turns=int(body.get("turns", 0)),
        returns=body.get("returns") or [],
        return_to_date=body.get("return_to_date"),
    )


def decode_tasks(body: Mapping[str, Any]) -> list[Task]:
    """Reads the tasks in the body of a describe's result."""
    return [
        Task(
            id=str(entry.get("id", "")),
            title=str(entry.get("title", "")),
            split=str(entry.get("split", "")),
            tags=list(entry.get("tags") or []),
            backends=list(entry.get("backends") or []),
        )
        for entry in body.get("tasks") or []
    ]
