"""The settings of a rollout, checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from hone._requests import DEFAULT_ENDPOINT

#: A correct kernel that is at least this fast ends a multi-turn sample.
STOP_SPEEDUP = 1.0
DEFAULT_TURNS = 4


class UsageError(ValueError):
    """A setting is wrong. The message names the found and the expected value."""


@dataclass(frozen=True)
class Settings:
    """One rollout.

    Attributes:
        url: The model's endpoint: ``http://host:8000/v1``; the path may be left out.
        output: The file for traces in the seed's layout; the other files are in its folder.
        model: The model's name; None for the endpoint's only model.
        api_key: Sent as a bearer token; never written anywhere.
        endpoint: ZeroMQ address of ``hone serve``.
        key: This client's key file, as in ``hone.connect``.
        server_key: As in ``hone.connect``.
        tasks: Ids, with ``*`` as in a shell.
        datasets: Name of a dataset and the number of its tasks; None for all.
        seed: Draws these tasks; None for the first ones.
        samples: Samples of each task.
        once: Whether a failed sample gets no second attempt.
        multi_turn: Whether the model answers feedback.
        max_turns: Largest number of turns, with ``multi_turn``.
        batch_size: Number of concurrent samples.
        save_interval: Traces are written after this number of samples.
        temperature: None for the endpoint's default.
        max_tokens: Largest answer; None for the endpoint's default.
        stream: Whether answers are streamed.
        request_timeout: Seconds without a byte from the endpoint.
        retries: Number of retries of a failed request.
        retry_wait: Seconds before the first retry; each later wait is twice as long.
        step_timeout: Timeout of a verdict (s), queueing included.
        price_input: Price of a million prompt tokens.
        price_output: Price of a million answer tokens.
        min_speedup: Smallest speedup of a conversation that the rejection filter keeps.
        options: More options of every episode, such as ``{"reward": "kevin"}``.
        tools: Uses of each tool in an episode; None for the server's own, empty for no tools.
    """

    url: str
    output: Path
    model: str | None = None
    api_key: str | None = field(default=None, repr=False)
    endpoint: str = DEFAULT_ENDPOINT
    key: str | None = None
    server_key: str | None = None
    tasks: tuple[str, ...] = ()
    datasets: tuple[tuple[str, int | None], ...] = ()
    seed: int | None = None
    samples: int = 1
    once: bool = False
    multi_turn: bool = False
    max_turns: int = DEFAULT_TURNS
    batch_size: int = 8
    save_interval: int = 10
    temperature: float | None = None
    max_tokens: int | None = None
    stream: bool = False
    request_timeout: float = 600.0
    retries: int = 6
    retry_wait: float = 1.0
    step_timeout: float = 600.0
    price_input: float = 0.0
    price_output: float = 0.0
    min_speedup: float = 0.0
    options: dict[str, Any] = field(default_factory=dict)
    tools: dict[str, int] | None = None

    @property
    def turns(self) -> int:
        """The largest number of turns of a sample."""
        return self.max_turns if self.multi_turn else 1

    def sibling(self, ending: str) -> Path:
        """Another file of this rollout: ``traces.ledger.jsonl`` for ``traces.json``."""
        return self.output.with_name(f"{self.output.stem}.{ending}")

    def identity(self) -> dict[str, Any]:
        """The settings that must stay the same when a rollout is resumed."""
        return {
            "model": self.model,
            "tasks": list(self.tasks),
            "datasets": [list(one) for one in self.datasets],
            "seed": self.seed,
            "samples": self.samples,
            **({"once": True} if self.once else {}),
            "turns": self.turns,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "options": self.options,
            **({} if self.tools is None else {"tools": self.tools}),
        }

    def episode_options(self, *, rebuilt: bool = False) -> dict[str, Any]:
        """The options of ``reset``. A rebuilt episode has no stop speedup."""
        stop = None if rebuilt or not self.multi_turn else STOP_SPEEDUP
        tools = {} if self.tools is None else {"tools": self.tools}
        return {"stop_speedup": stop, **self.options, **tools, "max_turns": self.turns}


def chat_url(url: str) -> str:
    """The base of an OpenAI-compatible endpoint, without a slash at its end.

    Raises:
        UsageError: It is no HTTP address.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise UsageError(f"--url: found {url!r}, expected something like http://127.0.0.1:8000/v1")
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    return urlunsplit((parts.scheme, parts.netloc, path or "/v1", "", ""))
