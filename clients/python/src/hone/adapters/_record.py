"""The record of an episode for trainers: rewards, a score, and whether to train on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hone.errors import SERVER_LOST, HoneError, NotFound
from hone.types import Closed, StepResult

# Tool calls have members that are not text, as in hone.types.Message.
Message = dict[str, Any]

# Error classes of a wrong request: the trainer must change it.
_OURS = frozenset({"protocol", "task"})


@dataclass
class Record:
    """An episode so far. Plain data, one per rollout.

    Attributes:
        task: ``"dataset/id"``.
        messages: The whole conversation.
        rewards: The reward of each turn; None for an unscored turn.
        reward_valid: Whether each turn may be trained on.
        turns_left: The number of turns that are left; 0 once the episode is over.
        returns: The return of each turn; empty until the episode is over.
        return_to_date: The episode's return so far; None before the first turn.
        best_speedup: The best speedup of its correct turns, or None.
        outcomes: The outcome of each turn: ``"correct"``, ``"wrong"``, …, ``"unscored"``.
        tool_calls: The number of calls of each tool.
        ended: Whether the episode is over.
        fault: The reason why it must not be trained on; None if it may.
        server_lost: Whether the fault is that its server could not be reached.
        retries: How often it began again, because its server could not be reached.
    """

    task: str = ""
    messages: list[Message] = field(default_factory=list)
    rewards: list[float | None] = field(default_factory=list)
    reward_valid: list[bool] = field(default_factory=list)
    turns_left: int = 0
    returns: list[float | None] = field(default_factory=list)
    return_to_date: float | None = None
    best_speedup: float | None = None
    outcomes: list[str] = field(default_factory=list)
    tool_calls: dict[str, int] = field(default_factory=dict)
    ended: bool = False
    fault: str | None = None
    server_lost: bool = False
    retries: int = 0

    @property
    def turns(self) -> int:
        """The number of finished turns, unscored ones included."""
        return len(self.rewards)

    @property
    def score(self) -> float | None:
        """The episode's return; None after a fault; 0.0 if no kernel was submitted."""
        if self.fault is not None:
            return None
        return 0.0 if self.return_to_date is None else self.return_to_date

    def begin(self, task: str, observation: Mapping[str, Any]) -> None:
        """Starts the record with the answer to reset."""
        self.task = task
        self.messages = plain_messages(observation)
        self.see(observation)

    def see(self, observation: Mapping[str, Any]) -> None:
        """Takes the number of turns that are left from an observation."""
        self.turns_left = 0 if self.ended else int(observation.get("turns_left") or 0)

    def add(self, result: StepResult) -> list[Message]:
        """Adds a turn. Returns the new messages that are not the model's own."""
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
        self.see(observation)
        if result.returns is not None:
            self.returns = list(result.returns)
        if not result.reward_valid:
            said = result.info.get("fault") or "the server could not judge it"
            self.fail(f"turn {result.turn}: {said}")
        return [message for message in new if message.get("role") != "assistant"]

    def finish(self, closed: Closed) -> None:
        """Ends the record of an episode that was closed before its end."""
        self.ended, self.turns_left = True, 0
        self.returns = list(closed.returns)
        if closed.turns > 0:
            self.return_to_date = closed.return_to_date

    def fail(self, fault: str) -> None:
        """Marks the episode as not to be trained on. The first reason stays."""
        self.ended, self.turns_left = True, 0
        self.fault = self.fault or fault

    def note(self, error: HoneError, where: str, *, resetting: bool = False) -> None:
        """Ends the episode with a fault. Raises the error if the request was wrong.

        Args:
            error: The reason.
            where: What failed, such as ``"turn 1"``.
            resetting: Whether the request was ``reset``.
        """
        if not is_fault(error, resetting=resetting):
            raise error
        self.server_lost = error.cause == SERVER_LOST
        self.fail(f"{where}: {error.code}: {error}")

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
            "tool_calls": dict(self.tool_calls),
            "retries": self.retries,
        }


def is_wrong_request(error: HoneError) -> bool:
    """Whether the trainer must change the request."""
    return error.error_class in _OURS


def is_fault(error: HoneError, *, resetting: bool) -> bool:
    """Whether to mask the sample. Otherwise the request was wrong, and the error is raised.

    If a step does not find its episode, the episode was lost with its lease or its server.
    """
    return not is_wrong_request(error) or (isinstance(error, NotFound) and not resetting)


def text_of(messages: list[Message]) -> str:
    """Messages as one text, for trainers that take a str."""
    return "\n\n".join(message["content"] for message in messages)


def plain_messages(observation: Mapping[str, Any]) -> list[Message]:
    """The chat messages of an observation."""
    return [dict(message) for message in observation.get("messages") or []]
