"""Observations and actions of each environment as Gymnasium's spaces."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, overload

try:
    import numpy as np
    from gymnasium import spaces
    from gymnasium.spaces import utils
    from gymnasium.vector.utils import read_from_shared_memory
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
#: Longest text in an observation. Gymnasium's flattened spaces and shared memory have this size;
#: the longest prompt contains a reference of 256 KB.
TEXT_CHARACTERS_MAX = 1 << 18


class Unicode(spaces.Text):
    """Text with any characters: ``Text`` itself refuses whatever its charset does not list.

    Samples are printable ASCII. Flattened, a text is an int32 array of ``max_length`` elements:
    code points plus one, then zeros.
    """

    def __init__(self, max_length: int, *, sample_length: int = 256) -> None:
        self._sample_length = min(sample_length, max_length)
        super().__init__(max_length, min_length=0, charset=string.printable.strip() + " \n\t")

    def sample(self, mask: Any = None, probability: Any = None) -> str:  # noqa: ANN401
        """Draws a short text; the arguments are those of ``Text.sample``."""
        if mask is None and probability is None:
            mask = (int(self.np_random.integers(self._sample_length + 1)), None)
        return super().sample(mask, probability)

    def contains(self, x: Any) -> bool:  # noqa: ANN401 - Gymnasium's signature
        """Whether x is a str of no more than the allowed characters."""
        return isinstance(x, str) and len(x) <= self.max_length

    def __repr__(self) -> str:
        return f"Unicode({self.max_length})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unicode) and other.max_length == self.max_length

    __hash__ = None  # type: ignore[assignment]


@utils.flatten.register(Unicode)
def _flatten(space: Unicode, x: str) -> NDArray[np.int32]:  # type: ignore[misc]
    flat = np.zeros(space.max_length, dtype=np.int32)
    points = np.frombuffer(x.encode("utf-32-le", "surrogatepass"), dtype="<i4")
    flat[: len(points)] = points + 1
    return flat


@utils.unflatten.register(Unicode)
def _unflatten(space: Unicode, x: NDArray[np.int32]) -> str:  # type: ignore[misc]
    points = (np.asarray(x)[np.asarray(x) > 0] - 1).astype("<i4")
    return points.tobytes().decode("utf-32-le", "surrogatepass")


@utils.flatten_space.register(Unicode)
def _flatten_space(space: Unicode) -> spaces.Box:
    return spaces.Box(0, 0x110000, (space.max_length,), np.int32)


class _SharedTexts(Sequence[str]):
    """One text for each worker of ``AsyncVectorEnv``, decoded when read; a deep copy is a tuple.

    Rationale: Gymnasium reads its shared memory once, at the start, and expects a view of it.
    """

    def __init__(self, space: Unicode, rows: NDArray[np.int32]) -> None:
        self._space, self._rows = space, rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[str, ...]: ...
    def __getitem__(self, at: int | slice) -> str | tuple[str, ...]:
        if isinstance(at, slice):
            return tuple(_unflatten(self._space, row) for row in self._rows[at])
        return _unflatten(self._space, self._rows[at])

    def __deepcopy__(self, memo: object) -> tuple[str, ...]:
        return tuple(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __repr__(self) -> str:
        return repr(tuple(self))

    __hash__ = None  # type: ignore[assignment]


@read_from_shared_memory.register(Unicode)
def _read(space: Unicode, shared_memory: Any, n: int = 1) -> _SharedTexts:  # noqa: ANN401
    """A view of the flattened texts that workers write to shared memory."""
    rows = np.frombuffer(shared_memory.get_obj(), dtype=np.int32).reshape(n, space.max_length)
    return _SharedTexts(space, rows)


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
            "text": _fitting(text_of(observation)),
            "feedback": _fitting(observation.get("feedback") or ""),
            "turn": _count(observation.get("turn")),
            "turns_left": _count(observation.get("turns_left")),
        }

    def action(self, action: Any) -> Action:  # noqa: ANN401
        """The text itself. Anything else is the caller's mistake, not a model's answer."""
        if not isinstance(action, str):
            raise TypeError(
                f"action: expected a str, found {type(action).__name__}: {action!r:.80}"
            )
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


def _fitting(text: str) -> str:
    """The text, with its middle cut out if it is longer than the space allows."""
    left_out = len(text) - TEXT_CHARACTERS_MAX
    if left_out <= 0:
        return text
    half = (TEXT_CHARACTERS_MAX - 1) // 2
    return text[:half] + "…" + text[len(text) - half :]


def options_of(options: Mapping[str, Any] | None, max_turns: int | None) -> dict[str, Any]:
    """The episodes' options, with ``max_turns`` added.

    Raises:
        ValueError: The options name another number of turns.
    """
    merged = dict(options or {})
    if max_turns is None:
        return merged
    if merged.setdefault("max_turns", max_turns) != max_turns:
        raise ValueError(
            f"max_turns: found {max_turns}, and {merged['max_turns']} in options; give it once"
        )
    return merged


def reward_of(result: StepResult) -> float:
    """Finite always: 0.0 for an unscored turn, of which ``info_of`` says so."""
    reward = 0.0 if result.reward is None else float(result.reward)
    return reward if np.isfinite(reward) else 0.0


def info_of(result: StepResult) -> dict[str, Any]:
    """The info of a step."""
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
