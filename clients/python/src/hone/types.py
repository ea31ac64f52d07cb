"""Results of the client: typed views of the protocol's bodies."""

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
    "ToolResult",
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

# The bodies below are plain dictionaries. Another version of the server may send other keys.


class _Message(TypedDict):
    role: str
    content: str


class Message(_Message, total=False):
    """One message of a chat.

    A tool call is an assistant's message with ``tool_calls`` and a message of the role ``tool``, as
    chat templates expect them.
    """

    tool_calls: list[dict[str, Any]]
    tool_call_id: str
    name: str


class TaskFacts(TypedDict, total=False):
    """The public part of a task. Observations after the first one have only ``id``."""

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
    slowdown_max: float
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
    """An observation (docs/protocol.md, docs/environments.md).

    ``messages`` are those of this turn. ``kernel_refine`` has ``code``, the source that was judged;
    ``autotune`` has ``choice``, ``index`` and ``facts``.
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
    tools: list[dict[str, Any]]  # first observation only: name, description, parameters
    tools_left: dict[str, int]  # uses left of each tool
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
    """Baseline time divided by the submission's time, with a 95 % interval. Times in µs."""

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


class Configuration(TypedDict):
    """The configuration that an autotuned kernel ran: ``number`` (from 1) of ``count``."""

    kernel: str
    key: str  # arguments that the kernel is tuned for: "n: 1024"
    number: int
    count: int
    parameters: str


class Verdict(TypedDict, total=False):
    """The judgement of a submission (docs/verdicts.md)."""

    outcome: Outcome
    reason: str
    stage: str
    diagnostics: str
    signal: str
    mismatch: Mismatch | None
    speedup: Speedup | None
    work: dict[str, Any] | None
    stage_ms: dict[str, float]
    findings: list[str]  # where the time goes, with ``feedback_profile: auto``; else empty
    timing: str  # of a module on a device: "device" or "call"; else ""
    configurations: list[Configuration]  # that autotuned kernels of a recorded plan ran
    not_recorded: str  # why a module has no recorded plan; "" if it has one, or none was tried
    caught: str
    second_look: str
    fingerprint: str
    source_hash: str


class StepInfo(TypedDict, total=False):
    """Information about a turn. After a fault ``verdict`` is None, and ``fault`` has the reason."""

    verdict: Verdict | None
    components: dict[str, float]
    stop_reason: str | None
    fault: str | None


class ResetInfo(TypedDict, total=False):
    """Information about an episode. Only a branch has ``parent`` and ``parent_turn``."""

    seed: int
    task: str
    group: str | None
    fingerprint: str
    parent: str
    parent_turn: int


@dataclass
class EpisodeState:
    """The state of an episode. Plain data: keep ``id`` and ``token`` to resume it elsewhere.

    Attributes:
        id: The server's name for the episode.
        token: The secret that resumes it on another connection.
        turn: Number of the last finished turn; 0 after reset.
        ended: Whether the episode was terminated, truncated or closed.
        calls: Number of tool calls in the open turn.
    """

    id: str
    token: str = field(repr=False)
    turn: int = 0
    ended: bool = False
    calls: int = 0


@dataclass(frozen=True)
class Reset(Generic[EpisodeT]):
    """The start of an episode.

    Attributes:
        episode: The handle to step with.
        observation: The task, the prompt as chat messages, and the turns left (docs/protocol.md).
        info: ``seed``, ``task``, ``group`` and the machine's ``fingerprint``.
        lease: Seconds the server keeps the episode without a message from this client.
    """

    episode: EpisodeT
    observation: Observation
    info: ResetInfo
    lease: float


@dataclass(frozen=True)
class StepResult:
    """The result of one turn.

    Attributes:
        observation: This turn's new messages, the feedback and the history.
        reward: The reward, or None for an unscored turn.
        reward_valid: False after a fault: do not train on this turn.
        terminated: Whether the episode reached its end.
        truncated: Whether it ran out of turns or seconds.
        info: ``verdict``, ``components`` of the reward, ``stop_reason``, ``fault``.
        returns: The return of every turn, in the episode's last result; None before.
        return_to_date: The episode's return so far, under its reward; or None.
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
class ToolResult:
    """The answer of a tool (docs/tools.md). The turn stays open.

    Attributes:
        tool: The tool's name.
        text: The answer as the model reads it.
        facts: The same as data.
        verdict: Of ``check`` and ``profile``, and of a submission that does not build; else None.
        observation: ``messages`` in the form of function calling, and ``tools_left``.
        turn: Number of the open turn.
        call: Number of this call in the turn; the first is 1.
    """

    tool: str
    text: str
    facts: dict[str, Any]
    verdict: Verdict | None
    observation: Observation
    turn: int
    call: int

    @property
    def left(self) -> dict[str, int]:
        """Uses that are left of each tool."""
        return dict(self.observation.get("tools_left") or {})


@dataclass(frozen=True)
class Closed:
    """A closed episode: its finished turns, the return of every turn, and its own return."""

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


def decode_tool(body: Mapping[str, Any]) -> ToolResult:
    """Reads the body of a tool call's result; unknown keys are ignored."""
    info = body.get("info") or {}
    observation = cast(Observation, body.get("observation") or {})
    return ToolResult(
        tool=str(body.get("tool", "")),
        text=str(observation.get("feedback", "")),
        facts=dict(info.get("facts") or {}),
        verdict=info.get("verdict"),
        observation=observation,
        turn=int(body.get("turn", 0)),
        call=int(body.get("call", 0)),
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
