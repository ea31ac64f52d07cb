"""An attempt at one sample of a task, built from its events, also after a restart."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ._ledger import Event
from ._settings import STOP_SPEEDUP, Settings

Message = dict[str, str]


@dataclass
class Turn:
    """An answer of the model and its verdict.

    Attributes:
        answer: As ``Answer.plain()``.
        at: Time of the answer (s since 1970).
        result: ``messages``, ``code``, ``reward``, ``reward_valid``, ``return_to_date``,
            ``returns``, ``terminated``, ``truncated``, ``info``; None until it is judged.
    """

    answer: dict[str, Any]
    at: float
    result: dict[str, Any] | None = None

    @property
    def verdict(self) -> dict[str, Any]:
        """The verdict; empty if there is none."""
        return ((self.result or {}).get("info") or {}).get("verdict") or {}

    @property
    def code(self) -> str:
        """The source that the server extracted from the answer; empty if there was none."""
        return str((self.result or {}).get("code") or "").strip()

    @property
    def scored(self) -> bool:
        """False after a fault of the machine."""
        return bool((self.result or {}).get("reward_valid"))

    @property
    def correct(self) -> bool:
        """Whether the kernel was correct."""
        return self.scored and self.verdict.get("outcome") == "correct"

    @property
    def speedup(self) -> float:
        """The speedup over the baseline; 0 if the kernel is not correct or was not measured."""
        measured = self.verdict.get("speedup") or {}
        return float(measured.get("value") or 0.0) if self.correct else 0.0


@dataclass
class Attempt:
    """One try at one sample.

    Attributes:
        task: ``"dataset/id"``.
        sample: From 0.
        number: 1, or 2 after a sample that failed wholly.
        start: What reset said: ``episode``, ``token``, ``task``, ``messages``, ``info``, ``at``.
        turns: In order; only the last may be without a result.
        refusal: Why the endpoint does not take the conversation; empty where it does.
    """

    task: str
    sample: int
    number: int
    turns_max: int
    start: Event = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)
    refusal: str = ""

    @property
    def key(self) -> str:
        """``"tasks/add_relu#0"``."""
        return f"{self.task}#{self.sample}"

    @property
    def judged(self) -> int:
        """The number of turns with a result."""
        return sum(turn.result is not None for turn in self.turns)

    @property
    def unjudged(self) -> Turn | None:
        """The answer that still has to be judged."""
        return self.turns[-1] if self.turns and self.turns[-1].result is None else None

    @property
    def messages(self) -> list[Message]:
        """The conversation so far, feedback included."""
        said = list(self.start.get("messages") or [])
        for turn in self.turns:
            said += (turn.result or {}).get("messages") or []
        return said

    @property
    def reason(self) -> str | None:
        """Why it is over, in the seed's words where it has them; None while it is not."""
        if self.refusal:
            return "request_refused"
        if not self.turns or self.turns[-1].result is None:
            return None
        last = self.turns[-1]
        if not last.scored:
            return "fault"
        if len(self.turns) >= self.turns_max:
            return "max_turns_reached"
        if last.speedup >= STOP_SPEEDUP:
            return "success_fast"
        if last.result is not None and (last.result["terminated"] or last.result["truncated"]):
            return str((last.result.get("info") or {}).get("stop_reason") or "episode_over")
        return None

    @property
    def failed_wholly(self) -> bool:
        """Over, and no turn was right."""
        return self.reason is not None and not any(turn.correct for turn in self.turns)

    @property
    def best(self) -> Turn | None:
        """The fastest of the right ones."""
        right = [turn for turn in self.turns if turn.correct]
        return max(right, key=lambda turn: turn.speedup) if right else None

    def take(self, event: Event) -> None:
        """Takes in an event of this attempt."""
        kind = event["event"]
        if kind == "start":
            self.start = event
        elif kind == "answer":
            self.turns.append(Turn(event["answer"], event["at"]))
        elif kind == "judged":
            self.turns[-1].result = event["result"]
        elif kind == "refused":
            self.refusal = event["message"]


def name_of(attempt: Attempt) -> Event:
    """The first members of every event of an attempt."""
    return {"key": attempt.key, "attempt": attempt.number}


class Book:
    """Every attempt of a rollout, from the past of its ledger."""

    def __init__(self, settings: Settings, samples: list[tuple[str, int]]) -> None:
        self._turns = settings.turns
        self._attempts = {
            f"{task}#{sample}": [Attempt(task, sample, 1, settings.turns)]
            for task, sample in samples
        }

    def read(self, past: list[Event]) -> None:
        """Takes in what was; events of tasks that are no more are left out."""
        for event in past:
            attempts = self._attempts.get(str(event.get("key")))
            if attempts is None:
                continue
            number = int(event.get("attempt") or 1)
            if number > len(attempts):
                self.again(attempts[-1])
            attempts[number - 1].take(event)

    def again(self, attempt: Attempt) -> Attempt:
        """The sample's second attempt."""
        second = Attempt(attempt.task, attempt.sample, attempt.number + 1, self._turns)
        self._attempts[attempt.key].append(second)
        return second

    def counted(self) -> list[Attempt]:
        """The attempt that counts for each sample: the last finished one, or the current one."""
        return [
            next((one for one in reversed(attempts) if one.reason is not None), attempts[-1])
            for attempts in self._attempts.values()
        ]

    def latest(self) -> list[Attempt]:
        """The last attempt at each sample, which may have to be played on."""
        return [attempts[-1] for attempts in self._attempts.values()]

    def every(self) -> list[Attempt]:
        """Also what was tried again."""
        return [one for attempts in self._attempts.values() for one in attempts]
