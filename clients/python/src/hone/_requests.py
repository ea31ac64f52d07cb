"""Bodies of requests, shared by the blocking and the asyncio client."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from . import _core
from .errors import from_failure
from .types import EpisodeState

PathLike = str | os.PathLike[str]
DEFAULT_ENDPOINT = "tcp://127.0.0.1:5917"


def open_connection(
    endpoint: str,
    *,
    timeout: float,
    connect_timeout: float,
    reconnect_timeout: float,
    retry_busy: bool,
    name: str | None,
    control: str | None,
    key: PathLike | None = None,
    server_key: PathLike | None = None,
) -> _core.Connection:
    """Connects, or raises what the client said."""
    connection = _core.Connection(
        endpoint=endpoint,
        name=name or f"hone-py/{_core.__version__}",
        connect_timeout=connect_timeout,
        request_timeout=timeout,
        reconnect_timeout=reconnect_timeout,
        retry_busy=retry_busy,
        control=control or "",
        key="" if key is None else os.fspath(key),
        server_key="" if server_key is None else os.fspath(server_key),
    )
    if connection.failure is not None:
        raise from_failure(connection.failure)
    return connection


def describe_body(
    task: str | None, split: str | None = None, environment: str | None = None
) -> dict[str, Any]:
    """The body of a describe; None leaves a key out."""
    given = {"environment": environment, "task": task, "split": split}
    return {key: value for key, value in given.items() if value is not None}


def reset_body(
    task: str | None,
    *,
    split: str | None,
    seed: int | None,
    group: str | None,
    environment: str | None,
    options: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """The body of a reset; None leaves a key out."""
    body = describe_body(task, split, environment)
    body.update({k: v for k, v in (("seed", seed), ("group", group)) if v is not None})
    if options:
        body["options"] = dict(options)
    return body


def step_body(
    episode: EpisodeState, code: str | None, response: str | None, language: str | None
) -> dict[str, Any]:
    """The body of the episode's next step.

    Raises:
        TypeError: Not exactly one of code and response was given.
    """
    if (code is None) == (response is None):
        raise TypeError("step takes a kernel's source, or response= with a whole model response")
    action = {"code": code} if code is not None else {"response": response}
    if language is not None:
        action["language"] = language
    return {"episode": episode.id, "turn": episode.turn + 1, "action": action}


def unwrap(result: tuple[dict[str, Any], None] | tuple[None, _core.Failure]) -> dict[str, Any]:
    """The body of a result, or the exception of a failure."""
    body, failure = result
    if failure is not None:
        raise from_failure(failure)
    assert body is not None
    return body
