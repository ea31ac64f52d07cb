"""What an episode came to, as trainers need it: rewards, a score, whether to train on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hone.errors import HoneError, NotFound
from hone.types import Closed, StepResult

Message = dict[str, str]

# Whose turn it is to act when an error says that the trainer's own request was wrong.
_OURS = frozenset({"protocol", "task"})


@dataclass
class Record:
    """An episode so far. Plain data, one per rollout.

    Attributes:
        task: ``"dataset/id"``.
        messages: The whole conversation.
        rewards: Of each turn; None where it could not be scored.
        reward_valid: Of each turn.
        returns: Of each turn, once the episode is over; until then empty.
        return_to_date: What the episode is worth under its reward; None before the first turn.
        best_speedup: Of its correct turns, or None.
        outcomes: Of each turn: ``"correct"``, ``"wrong"``, …, ``"unscored"``.
        ended: Whether there is nothing more to do.
        fault: Why it must not be trained on: the server's or the client's words; None where it may.
    """

    task: str = ""
    messages: list[Message] = field(default_factory=list)
    rewards: list[float | None] = field(default_factory=list)
    reward_valid: list[bool] = field(default_factory=list)
    returns: list[float | None] = field(default_factory=list)
    return_to_date: float | None = None
    best_speedup: float | None = None
    outcomes: list[str] = field(default_factory=list)
    ended: bool = False
    fault: str | None = None

    @property
    def turns(self) -> int:
        """How many turns were judged, or could not be."""
        return len(self.rewards)

    @property
    def score(self) -> float | None:
        """The episode's return; None after a fault; 0.0 where no kernel was ever submitted."""
        if self.fault is not None:
            return None
        return 0.0 if self.return_to_date is None else self.return_to_date

    def begin(self, task: str, messages: list[Message]) -> None:
        """Takes in what reset answered."""
        self.task = task
        self.messages = [dict(message) for message in messages]

    def add(self, result: StepResult) -> list[Message]:
        """Takes in a turn; returns the new messages that are not the model's own."""
        observation = result.observation
        new = plain_messages(observation)
        self.messages += new
        self.rewards.append(result.reward)
        self.reward_valid.append(result.reward_valid)
        verdict = result.info.get("verdict") or {}
        self.outcomes.append(str(verdict.get("outcome") or "unscored"))
        self.return_to_date = result.return_to_date
        self.best_speedup = observation.get("best_speedup")
        self.ended = result.ended
        if result.returns is not None:
            self.returns = list(result.returns)
        if not result.reward_valid:
            said = result.info.get("fault") or "the server could not judge it"
            self.fail(f"turn {result.turn}: {said}")
        return [message for message in new if message.get("role") != "assistant"]

    def finish(self, closed: Closed) -> None:
        """Takes in what an episode came to that was closed before its end."""
        self.ended = True
        self.returns = list(closed.returns)
        if closed.turns > 0:
            self.return_to_date = closed.return_to_date

    def fail(self, fault: str) -> None:
        """Marks the episode as not to be trained on. The first reason stays."""
        self.ended = True
        self.fault = self.fault or fault

    def details(self) -> dict[str, Any]:
        """For logs, as JSON can hold it: the same keys in every episode."""
        return {
            "task": self.task,
            "turns": self.turns,
            "turn_rewards": list(self.rewards),
            "returns": list(self.returns),
            "reward_valid": self.fault is None,
            "fault": self.fault or "",
            "best_speedup": self.best_speedup,
            "outcomes": list(self.outcomes),
        }


def is_fault(error: HoneError, *, resetting: bool) -> bool:
    """Whether an error is no one's request's: then the sample is masked, else the error is raised.

    An episode that is not found when it is stepped was lost: its lease ran out or its server went.
    """
    return error.error_class not in _OURS or (isinstance(error, NotFound) and not resetting)


def text_of(messages: list[Message]) -> str:
    """Messages as one text, for trainers that take a str."""
    return "\n\n".join(message["content"] for message in messages)


def plain_messages(observation: Mapping[str, Any]) -> list[Message]:
    """The chat messages of an observation."""
    return [dict(message) for message in observation.get("messages") or []]
