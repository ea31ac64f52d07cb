"""A request, how its answer is read, and how it is handed to the connection."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from . import _core
from .errors import FailedPrecondition, InvalidArgument, from_failure

T = TypeVar("T")

DEFAULT_ENDPOINT = "tcp://127.0.0.1:5917"
PathLike = str | os.PathLike[str]
Progress = Callable[[dict[str, Any]], None]
# Verbs, as in core/wire/requests.hpp; tests/repo/lists_test.py compares the lists.
BEGIN_EPISODE = ("reset", "branch")
# Each server has its own answer, and only the control endpoint serves them.
OF_ONE_SERVER = ("metrics", "health")


@dataclass(frozen=True)
class Request(Generic[T]):
    """One request, not sent yet.

    Attributes:
        verb: The protocol's name for it.
        body: A map that MessagePack can hold.
        read: Makes the caller's result from the body of the answer.
        timeout: Seconds; None for the client's timeout.
        on_progress: Called with each progress message, or None.
    """

    verb: str
    body: dict[str, Any]
    read: Callable[[dict[str, Any]], T]
    timeout: float | None = None
    on_progress: Progress | None = None


def without_none(given: Mapping[str, object]) -> dict[str, Any]:
    """The map without the keys whose value is None."""
    return {key: value for key, value in given.items() if value is not None}


def seconds(name: str, given: float) -> float:
    """Checks a time limit.

    Raises:
        InvalidArgument: It is nan, which passes every comparison with a limit.
    """
    if given != given:
        raise InvalidArgument(f"{name}: found nan, expected seconds", error_class="protocol")
    return given


def send(
    connection: _core.Connection,
    request: Request[T],
    completions: _core.Completions | None = None,
    tag: int = 0,
) -> _core.Ticket:
    """Sends a request without waiting for the answer.

    Args:
        connection: The connection to send it on.
        request: What to send.
        completions: Gets the tag when the answer has come, and with each progress message if the
            request has ``on_progress``. With several servers a tag may come twice, or too early;
            check the ticket's ``done``.
        tag: The caller's number for the request.

    Raises:
        InvalidArgument: A number in the body is out of range, or the timeout is nan.
        FailedPrecondition: The client is closed.
    """
    timeout = None if request.timeout is None else seconds("timeout", request.timeout)
    if connection.closed:
        raise FailedPrecondition("the client is closed", error_class="protocol")
    with_progress = request.on_progress is not None
    try:
        return connection.submit(
            request.verb, request.body, timeout, completions, tag, with_progress
        )
    except ValueError as error:
        raise InvalidArgument(f"{request.verb}: {error}", error_class="protocol") from None
    except RuntimeError as error:  # another thread closed the client since the check above
        raise FailedPrecondition(str(error), error_class="protocol") from None


def unwrap(result: tuple[dict[str, Any], None] | tuple[None, _core.Failure]) -> dict[str, Any]:
    """Returns the body of an answer, or raises the exception of a failure."""
    body, failure = result
    if failure is not None:
        raise from_failure(failure)
    assert body is not None
    return body
