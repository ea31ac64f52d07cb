"""What observations and actions of each environment are in Gymnasium's terms."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any, ClassVar

try:
    import numpy as np
    from gymnasium import spaces
    from numpy.typing import NDArray
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"hone.gym needs {missing.name}, which is not installed: pip install 'hone-rl[gym]' "
        "(in a checkout of hone: pip install './clients/python[gym]')",
        name=missing.name,
    ) from missing

from .adapters._versions import require
from .client import Client
from .types import StepResult
from .vector import Action

require("hone.gym", "gymnasium", "1.1", "2")

Observation = dict[str, Any]

SOURCE_CHARACTERS_MAX = 65_536
TEXT_CHARACTERS_MAX = 1 << 24


class Unicode(spaces.Text):
    """Text with any characters: ``Text`` itself refuses whatever its charset does not list.

    Samples are printable ASCII, as ``Text`` draws them.
    """

    def __init__(self, max_length: int, *, sample_length: int = 256) -> None:
        self._length_max = max_length
        super().__init__(
            min(sample_length, max_length), min_length=0, charset=string.printable.strip() + " \n\t"
        )

    def contains(self, x: Any) -> bool:  # noqa: ANN401 - Gymnasium's signature
        """Whether x is a str of no more than the allowed characters."""
        return isinstance(x, str) and len(x) <= self._length_max

    def __repr__(self) -> str:
        return f"Unicode({self._length_max})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unicode) and other._length_max == self._length_max

    __hash__ = None  # type: ignore[assignment]


class Form:
    """Spaces, and what is between them and the protocol."""

    environment: ClassVar[str]
    observation_space: spaces.Dict
    action_space: spaces.Space[Any]
    responses = False

    def observe(self, observation: Mapping[str, Any]) -> Observation:
        """An observation of the server in ``observation_space``."""
        raise NotImplementedError

    def action(self, action: Any) -> Action:  # noqa: ANN401 - of any space
        """An action of ``action_space`` as the server takes it."""
        raise NotImplementedError


class KernelRefineForm(Form):
    """Text in, text out."""

    environment = "kernel_refine"

    def __init__(self, action: str) -> None:
        if action not in ("response", "code"):
            raise ValueError(f"action: found {action!r}, expected 'response' or 'code'")
        self.responses = action == "response"
        self.observation_space = spaces.Dict(
            {
                "text": Unicode(TEXT_CHARACTERS_MAX),
                "feedback": Unicode(TEXT_CHARACTERS_MAX),
                "turn": _count_space(),
                "turns_left": _count_space(),
            }
        )
        self.action_space = Unicode(SOURCE_CHARACTERS_MAX)

    def observe(self, observation: Mapping[str, Any]) -> Observation:
        """The new messages, feedback and turns."""
        return {
            "text": text_of(observation),
            "feedback": observation.get("feedback") or "",
            "turn": _count(observation.get("turn")),
            "turns_left": _count(observation.get("turns_left")),
        }

    def action(self, action: Any) -> Action:  # noqa: ANN401
        """The text itself."""
        return str(action)


class AutotuneForm(Form):
    """A number in, what was measured out."""

    environment = "autotune"

    def __init__(self, client: Client) -> None:
        self.space = client.describe(environment="autotune")["environment"]["space"]
        figure = spaces.Box(0.0, np.inf, (1,), np.float64)
        self.observation_space = spaces.Dict(
            {
                "choice": spaces.Discrete(self.space["size"] + 1),
                "speedup": figure,
                "best_speedup": figure,
                "gflops": figure,
                "turn": _count_space(),
                "turns_left": _count_space(),
            }
        )
        self.action_space = spaces.Discrete(self.space["size"])

    def observe(self, observation: Mapping[str, Any]) -> Observation:
        """The turn's choice, ``size`` for none, and its figures, 0 for what was not measured."""
        facts = observation.get("facts") or {}
        index = observation.get("index")
        return {
            "choice": np.int64(self.space["size"] if index is None else index),
            "speedup": _figure(facts.get("speedup")),
            "best_speedup": _figure(observation.get("best_speedup")),
            "gflops": _figure(facts.get("gflops")),
            "turn": _count(observation.get("turn")),
            "turns_left": _count(observation.get("turns_left")),
        }

    def action(self, action: Any) -> Action:  # noqa: ANN401
        """The number, from 0."""
        return {"index": int(action)}


def text_of(observation: Mapping[str, Any]) -> str:
    """The messages of a turn that are new to a policy: its own words are among them."""
    messages = observation.get("messages") or []
    return "\n\n".join(m["content"] for m in messages if m.get("role") != "assistant")


def reward_of(result: StepResult) -> float:
    """Finite always: 0.0 for an unscored turn, of which ``info_of`` says so."""
    reward = 0.0 if result.reward is None else float(result.reward)
    return reward if np.isfinite(reward) else 0.0


def info_of(result: StepResult) -> dict[str, Any]:
    """What a step tells beside its observation and reward."""
    return {
        **result.info,
        "reward_valid": result.reward_valid,
        "return_to_date": result.return_to_date,
        "returns": result.returns,
        "observation": result.observation,
    }


def _count_space() -> spaces.Box:
    return spaces.Box(0, np.iinfo(np.int64).max, (1,), np.int64)


def _count(value: int | None) -> NDArray[np.int64]:
    return np.array([max(0, value or 0)], dtype=np.int64)


def _figure(value: float | None) -> NDArray[np.float64]:
    return np.array([value or 0.0], dtype=np.float64)
