"""Requests and how their answers are read, shared by the blocking and the asyncio client."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, cast

from . import _core
from .errors import FailedPrecondition, InvalidArgument, from_failure
from .types import (
    Closed,
    EpisodeState,
    EpisodeT,
    Observation,
    Reset,
    ResetInfo,
    StepResult,
    Task,
    decode_closed,
    decode_step,
    decode_tasks,
)

T = TypeVar("T")

MetricsFormat = Literal["map", "prometheus"]
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
        connect_timeout=seconds("connect_timeout", connect_timeout),
        request_timeout=seconds("timeout", timeout),
        reconnect_timeout=seconds("reconnect_timeout", reconnect_timeout),
        retry_busy=retry_busy,
        control=control or "",
        key="" if key is None else os.fspath(key),
        server_key="" if server_key is None else os.fspath(server_key),
    )
    if connection.failure is not None:
        raise from_failure(connection.failure)
    return connection


def submit(
    connection: _core.Connection,
    verb: str,
    body: Mapping[str, Any],
    timeout: float | None,
    completions: _core.Completions | None = None,
    tag: int = 0,
) -> _core.Ticket:
    """Sends a request without waiting.

    Raises:
        InvalidArgument: A number in it is out of range.
        FailedPrecondition: The client is closed.
    """
    if timeout is not None:
        timeout = seconds("timeout", timeout)
    if connection.closed:
        raise FailedPrecondition("the client is closed", error_class="protocol")
    try:
        return connection.submit(verb, dict(body), timeout, completions, tag)
    except ValueError as error:
        raise InvalidArgument(f"{verb}: {error}", error_class="protocol") from None
    except RuntimeError as error:  # another thread closed it meanwhile
        raise FailedPrecondition(str(error), error_class="protocol") from None


def seconds(name: str, given: float) -> float:
    """The time limit; nan, which no comparison would catch, is an error that names the argument."""
    if given != given:
        raise InvalidArgument(f"{name}: found nan, expected seconds", error_class="protocol")
    return given


def hello_of(connection: _core.Connection) -> dict[str, Any]:
    """The server's hello.

    Raises:
        FailedPrecondition: The client is closed, or was made before a fork.
    """
    hello = connection.hello()
    if hello is None:
        raise FailedPrecondition(
            "the client is closed, or was made before fork(); connect again", error_class="protocol"
        )
    return hello


@dataclass(frozen=True)
class Request(Generic[T]):
    """One request: what is sent, and how its answer is read.

    Attributes:
        verb: The protocol's name of it.
        body: A map that MessagePack can hold.
        read: Makes what the caller gets of the body of the result.
    """

    verb: str
    body: dict[str, Any]
    read: Callable[[dict[str, Any]], T]


def plain(verb: str, **body: object) -> Request[dict[str, Any]]:
    """A request whose answer is its body; None leaves a key out."""
    return Request(verb, _without_none(body), lambda answer: answer)


def tasks(split: str | None) -> Request[list[Task]]:
    """Asks for the list of tasks."""
    return Request("describe", _without_none({"split": split}), decode_tasks)


def prompt(task: str, options: Mapping[str, Any] | None) -> Request[list[dict[str, str]]]:
    """Asks for the messages of a reset."""
    body = {"task": task, "options": dict(options or {})}
    return Request("describe", body, lambda answer: list(answer.get("messages") or []))


def metrics(form: MetricsFormat) -> Request[Any]:
    """Asks for the server's counters: a map, or Prometheus' text."""
    key = "text" if form == "prometheus" else "metrics"
    return Request("metrics", {"format": form}, lambda answer: answer.get(key) or {})


def reset(
    make: Callable[..., EpisodeT],
    task: str | None,
    *,
    split: str | None,
    seed: int | None,
    group: str | None,
    environment: str | None = None,
    options: Mapping[str, Any] | None,
) -> Request[Reset[EpisodeT]]:
    """Starts an episode; None leaves a key out."""
    body = _without_none(
        {"environment": environment, "task": task, "split": split, "seed": seed, "group": group}
    )
    if options:
        body["options"] = dict(options)

    def read(answer: dict[str, Any]) -> Reset[EpisodeT]:
        return _start(make(str(answer["episode"]), str(answer["token"])), answer)

    return Request("reset", body, read)


def resume(make: Callable[..., EpisodeT], episode_id: str, token: str) -> Request[Reset[EpisodeT]]:
    """Takes over an episode."""

    def read(answer: dict[str, Any]) -> Reset[EpisodeT]:
        turn, ended = int(answer.get("turn", 0)), bool(answer.get("ended", False))
        return _start(make(episode_id, token, turn=turn, ended=ended), answer)

    return Request("resume", {"episode": episode_id, "token": token}, read)


def branch(
    make: Callable[..., EpisodeT], episode: EpisodeState, turn: int | None, group: str | None
) -> Request[Reset[EpisodeT]]:
    """A new episode that shares another's turns, by default all that it has done."""
    at = episode.turn if turn is None else turn
    body = {"episode": episode.id, "token": episode.token, "turn": at, "group": group}

    def read(answer: dict[str, Any]) -> Reset[EpisodeT]:
        return _start(make(str(answer["episode"]), str(answer["token"]), turn=at), answer)

    return Request("branch", _without_none(body), read)


def step(
    episode: EpisodeState,
    code: str | None,
    response: str | None,
    language: str | None,
    action: Mapping[str, Any] | None = None,
) -> Request[StepResult]:
    """The episode's next step; its result moves the episode on.

    Raises:
        TypeError: Not exactly one of code, response and action was given, or both action and
            language.
    """
    if [code, response, action].count(None) != 2:
        raise TypeError(
            "step takes a kernel's source, response= with a whole model response, or action= with "
            "what else the environment knows"
        )
    if action is not None and language is not None:
        raise TypeError("step takes no language= with action=: give it as action['language']")
    if action is None:
        action = _without_none({"code": code, "response": response, "language": language})

    def read(answer: dict[str, Any]) -> StepResult:
        result = decode_step(answer)
        episode.turn = result.turn
        episode.ended = result.ended
        return result

    return Request(
        "step", {"episode": episode.id, "turn": episode.turn + 1, "action": dict(action)}, read
    )


def cancel(episode: EpisodeState, turn: int | None) -> Request[bool]:
    """Ends the evaluation of a turn, by default the next."""
    turn = episode.turn + 1 if turn is None else turn
    body = {"episode": episode.id, "turn": turn}
    return Request("cancel", body, lambda answer: bool(answer.get("cancelled")))


def close(episode: EpisodeState) -> Request[Closed]:
    """Ends the episode."""

    def read(answer: dict[str, Any]) -> Closed:
        episode.ended = True
        return decode_closed(answer)

    return Request("close", {"episode": episode.id}, read)


def _start(episode: EpisodeT, answer: Mapping[str, Any]) -> Reset[EpisodeT]:
    lease = float(answer.get("lease_s") or 0)
    observation = cast(Observation, answer.get("observation") or {})
    return Reset(episode, observation, cast(ResetInfo, answer.get("info") or {}), lease)


def _without_none(given: Mapping[str, object]) -> dict[str, Any]:
    return {key: value for key, value in given.items() if value is not None}


def unwrap(result: tuple[dict[str, Any], None] | tuple[None, _core.Failure]) -> dict[str, Any]:
    """The body of a result, or the exception of a failure."""
    body, failure = result
    if failure is not None:
        raise from_failure(failure)
    assert body is not None
    return body
