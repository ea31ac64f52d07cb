"""An attempt at one sample of a task, built from its events, also after a restart."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hone._functions import function_tools, may_call

from ._ledger import Event
from ._settings import STOP_SPEEDUP, Settings

Message = dict[str, Any]


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
class ToolUse:
    """A model's answer with tool calls, and their results.

    Attributes:
        turn: The open turn, from 1.
        answer: As ``Answer.plain()``, with ``tool_calls``.
        at: Time of the answer (s since 1970).
        results: For each call that is done: ``id``, ``content``, ``tool``, ``facts`` and ``call``,
            the server's number of the call; None if the server did not do it.
    """

    turn: int
    answer: dict[str, Any]
    at: float
    results: list[dict[str, Any]] = field(default_factory=list)

    @property
    def next_call(self) -> dict[str, Any] | None:
        """The first call that is not done."""
        calls: list[dict[str, Any]] = self.answer["tool_calls"]
        return calls[len(self.results)] if len(self.results) < len(calls) else None

    @property
    def messages(self) -> list[Message]:
        """The calls and their results, as the endpoint takes them."""
        calls = self.answer["tool_calls"]
        said = {"role": "assistant", "content": self.answer["text"], "tool_calls": calls}
        return [
            said,
            *(
                {"role": "tool", "tool_call_id": one["id"], "content": one["content"]}
                for one in self.results
            ),
        ]


@dataclass
class Attempt:
    """One try at one sample.

    Attributes:
        task: ``"dataset/id"``.
        sample: From 0.
        number: 1, or 2 after a sample that failed wholly.
        start: What reset said: ``episode``, ``token``, ``task``, ``messages``, ``info``, ``at``.
        turns: In order; only the last may be without a result.
        uses: Answers that called tools, in order; only the last may have calls that are not done.
        refusal: Why the endpoint does not take the conversation; empty where it does.
    """

    task: str
    sample: int
    number: int
    turns_max: int
    start: Event = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)
    uses: list[ToolUse] = field(default_factory=list)
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
    def answers(self) -> list[dict[str, Any]]:
        """All answers of the model."""
        return [turn.answer for turn in self.turns] + [use.answer for use in self.uses]

    @property
    def unfinished_use(self) -> ToolUse | None:
        """The answer with tool calls that still have to be done."""
        return self.uses[-1] if self.uses and self.uses[-1].next_call is not None else None

    @property
    def messages(self) -> list[Message]:
        """The conversation so far, tools and feedback included."""
        return self.messages_until(len(self.turns) + 1)

    def messages_until(self, turn: int) -> list[Message]:
        """The conversation before the answer that ends a turn.

        Args:
            turn: From 1.
        """
        said = list(self.start.get("messages") or [])
        for number in range(1, turn + 1):
            for use in self.uses:
                said += use.messages if use.turn == number else []
            if number < turn and number <= len(self.turns):
                said += (self.turns[number - 1].result or {}).get("messages") or []
        return said

    @property
    def tools(self) -> list[dict[str, Any]]:
        """The episode's tools in the form of OpenAI's function tools."""
        return function_tools(self.start.get("tools") or [])

    def tools_left(self) -> dict[str, int]:
        """The uses of each tool that are left."""
        left = dict(self.start.get("tools_left") or {})
        for use in self.uses:
            for result in use.results:
                if result["call"] is not None:
                    left[result["tool"]] = max(left.get(result["tool"], 0) - 1, 0)
        return left

    def may_call(self) -> bool:
        """Whether tools are left, and the model has not made too many calls that failed."""
        failed = sum(result["call"] is None for use in self.uses for result in use.results)
        return may_call(self.tools_left(), failed, self.turns_max)

    @property
    def open_calls(self) -> int:
        """The number of calls that the server did in the open turn."""
        return sum(
            result["call"] is not None
            for use in self.uses
            if use.turn == self.judged + 1
            for result in use.results
        )

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
        elif kind == "answer" and event["answer"].get("tool_calls"):
            self.uses.append(ToolUse(len(self.turns) + 1, event["answer"], event["at"]))
        elif kind == "answer":
            self.turns.append(Turn(event["answer"], event["at"]))
        elif kind == "called":
            self.uses[-1].results.append(event["result"])
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
