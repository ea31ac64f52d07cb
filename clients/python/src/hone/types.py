"""What the client hands out: typed views of the protocol's bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

EpisodeT = TypeVar("EpisodeT")


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
    observation: dict[str, Any]
    info: dict[str, Any]
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

    observation: dict[str, Any]
    reward: float | None
    reward_valid: bool
    terminated: bool
    truncated: bool
    info: dict[str, Any]
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
        observation=body.get("observation") or {},
        reward=body.get("reward"),
        reward_valid=bool(body.get("reward_valid", False)),
        terminated=bool(body.get("terminated", False)),
        truncated=bool(body.get("truncated", False)),
        info=body.get("info") or {},
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
