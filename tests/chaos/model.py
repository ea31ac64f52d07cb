"""The expected state, computed only from what the clients sent and received."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field
from typing import Any

import msgpack
from reward import WORTH

OUTCOMES = {"none": "no_code", "error": "build_failed", "wrong": "wrong", "fast": "correct"}
TURN_WORTH = 0.0078125
TRITONFORGE = {"none": 0.0, "error": 0.0, "wrong": 0.1}
FAULT_MEMORY_S = 90.0  # seconds after an injected fault in which a turn may have no reward: two evaluations


def fingerprint(body: Any) -> bytes:
    """The same for equal bodies, whatever the order of their keys."""

    def ordered(value: Any) -> Any:
        if isinstance(value, dict):
            return [[key, ordered(value[key])] for key in sorted(value)]
        if isinstance(value, (list, tuple)):
            return [ordered(one) for one in value]
        return value

    return hashlib.sha256(msgpack.packb(ordered(body))).digest()


@dataclass
class Acknowledged:
    """A turn as the client received it."""

    text: str  # what was submitted
    outcome: str | None
    reward: float | None
    valid: bool
    reply: bytes  # fingerprint of the whole body
    feedback: bytes


@dataclass
class Episode:
    seed: int  # different in every reset, so that a reset that was done twice shows
    name: str
    token: str
    reward: str
    max_turns: int
    client: int
    turns: list[Acknowledged] = field(default_factory=list)
    ended: bool = False
    closing: bool = False  # a close was sent
    closed: bool = False  # and answered
    sent: str | None = None  # what was submitted and has no answer yet


class Model:
    """Episodes and turns that were acknowledged, counters, and what was found wrong."""

    def __init__(self) -> None:
        self.episodes: dict[str, Episode] = {}
        self.resets_unanswered: set[int] = set()
        self.steps = self.masked = self.repeats = self.conflicts = self.sends = 0
        self.outcomes: dict[str, int] = {}
        self.violations: list[str] = []
        self.lost = self.doubled = 0
        self.faults_at: float | None = None  # when the last fault was made that may cost a reward
        self.slowest_s = 0.0

    def violate(self, what: str) -> None:
        self.violations.append(what)

    def require(self, holds: bool, what: str) -> None:
        if not holds:
            self.violate(what)

    def note_fault(self) -> None:
        self.faults_at = time.monotonic()

    def opened(self, episode: Episode) -> None:
        if episode.name in self.episodes:
            self.doubled += 1
            self.violate(f"reset {episode.seed}: episode {episode.name} was given out before")
        self.episodes[episode.name] = episode
        self.resets_unanswered.discard(episode.seed)

    def acknowledge(self, episode: Episode, kind: str, text: str, body: dict[str, Any]) -> None:
        """Takes in the first answer to a new turn, and checks all that is known beforehand."""
        where = f"episode {episode.name}, turn {len(episode.turns) + 1}"
        number = len(episode.turns) + 1
        found = (body["episode"], body["turn"])
        self.require(found == (episode.name, number), f"{where}: the answer is for {found}")
        verdict, valid, reward = body["info"]["verdict"], body["reward_valid"], body["reward"]
        outcome = verdict["outcome"] if verdict else None
        if valid:
            self._check_scored(where, episode, kind, number, outcome, reward, verdict)
        else:
            self._check_masked(where, reward, body["info"]["fault"])
        self._check_history(where, episode, body["observation"]["history"], outcome, reward)
        ends = body["terminated"] or body["truncated"]
        self.require(ends == (number == episode.max_turns), f"{where} of {episode.max_turns}: ended is {ends}")
        self.require((body["returns"] is not None) == ends, f"{where}: returns {body['returns']}, ended is {ends}")
        feedback = hashlib.sha256(body["observation"]["feedback"].encode()).digest()
        episode.turns.append(Acknowledged(text, outcome, reward, valid, fingerprint(body), feedback))
        episode.ended = ends
        episode.sent = None
        self.steps += 1
        name = outcome or "masked"
        self.outcomes[name] = self.outcomes.get(name, 0) + 1

    def repeated(self, episode: Episode, number: int, body: dict[str, Any]) -> None:
        """Takes in another answer to a turn that is done."""
        self.repeats += 1
        if fingerprint(body) != episode.turns[number - 1].reply:
            self.doubled += 1
            self.violate(f"episode {episode.name}, turn {number}: asked again, it was answered otherwise: {body}")

    def _check_scored(
        self, where: str, episode: Episode, kind: str, number: int, outcome: str, reward: float, verdict: Any
    ) -> None:
        said = f"{verdict['reason']} {verdict['diagnostics'][:200]}"
        self.require(
            outcome == OUTCOMES[kind],
            f"{where}: found the outcome {outcome} with a reward of {reward}, expected {OUTCOMES[kind]}: {said}",
        )
        if episode.reward == "":
            expected = WORTH[OUTCOMES[kind]] + TURN_WORTH * number
            self.require(reward == expected, f"{where}: found a reward of {reward}, expected {expected}")
        elif kind == "fast":
            self.require(reward >= 0.3, f"{where}: found a reward of {reward} for a correct kernel")
        else:
            expected = TRITONFORGE[kind]
            self.require(reward == expected, f"{where}: found a reward of {reward}, expected {expected}")

    def _check_masked(self, where: str, reward: Any, fault: Any) -> None:
        self.masked += 1
        self.require(reward is None, f"{where}: found a reward of {reward} that is not valid, expected none")
        self.require(bool(fault), f"{where}: has no reward, and no fault is told")
        recent = self.faults_at is not None and time.monotonic() - self.faults_at < FAULT_MEMORY_S
        self.require(recent, f"{where}: has no reward because of a fault that the harness did not cause: {fault}")

    def _check_history(self, where: str, episode: Episode, history: Any, outcome: Any, reward: Any) -> None:
        before = [(turn.outcome or "unscored", turn.reward) for turn in episode.turns]
        expected = [*before, (outcome or "unscored", reward)]
        found = [(turn["outcome"], turn["reward"]) for turn in history]
        if found != expected:
            self.lost += 1
            self.violate(f"{where}: found the history {found}, expected {expected}")
