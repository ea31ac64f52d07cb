"""One request to a gateway, and the exceptions for its refusals."""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from typing import Any

from hone.errors import (
    Busy,
    DeadlineExceeded,
    FailedPrecondition,
    Internal,
    InvalidArgument,
    Unavailable,
)

DEFAULT_URL = "http://127.0.0.1:18188"
# Timeout of one request, queueing included. The gateway's own limit is 600 s.
SECONDS_MAX = 660.0
BUSY_SECONDS = 5.0


class _Place:
    """The gateway's address and token."""

    def __init__(self) -> None:
        self.url: str | None = None
        self.token: str | None = None

    def address(self) -> str:
        return (self.url or os.environ.get("HONE_GATEWAY") or DEFAULT_URL).rstrip("/")

    def secret(self) -> str:
        if self.token is not None:
            return self.token
        return os.environ.get("HONE_GATEWAY_TOKEN", "")


_place = _Place()


def connect(url: str, token: str | None = None) -> None:
    """Names the gateway of this process.

    Args:
        url: Such as ``"http://127.0.0.1:18188"``.
        token: The content of the gateway's ``--token-file``; None for ``HONE_GATEWAY_TOKEN``.
    """
    _place.url, _place.token = url, token


def _detail(body: bytes) -> str:
    """The message of a refusal."""
    try:
        detail = json.loads(body)["detail"]
    except (ValueError, KeyError, TypeError):
        return body.decode(errors="replace")[:500]
    if isinstance(detail, list):
        return "; ".join(f"{one['loc'][-1]}: {one['msg']}" for one in detail)
    return str(detail)


def _post(payload: dict[str, Any]) -> tuple[int, bytes, float]:
    """One request: the status, the body, and the wait that a busy gateway asks for (s)."""
    headers = {"Content-Type": "application/json"}
    if _place.secret():
        headers["Authorization"] = f"Bearer {_place.secret()}"
    address = _place.address() + "/eval"
    request = urllib.request.Request(address, json.dumps(payload).encode(), headers)
    try:
        # Rationale: a proxy of the environment is not meant for one's own gateway.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=SECONDS_MAX) as reply:
            return reply.status, reply.read(), 0.0
    except urllib.error.HTTPError as refused:
        wait = refused.headers.get("Retry-After", "")
        return refused.code, refused.read(), float(wait) if wait.isdigit() else BUSY_SECONDS
    except TimeoutError:
        raise DeadlineExceeded(f"{address}: no answer within {SECONDS_MAX:g} s") from None
    except OSError as error:
        reason = getattr(error, "reason", error)
        raise Unavailable(
            f"{address}: {reason}; start one: hone gateway tritonforge", retryable=True
        ) from None


def ask(payload: dict[str, Any]) -> dict[str, Any] | str:
    """The gateway's reply, or the text of its refusal of the submission. A fault raises.

    Raises:
        InvalidArgument: The reference cannot be used as a task.
        Unavailable: No gateway answers, or every evaluation had a fault.
        Busy: The gateway was full until the timeout.
        DeadlineExceeded: There was no verdict in time.
        FailedPrecondition: The token is wrong.
    """
    end = time.monotonic() + SECONDS_MAX
    while True:
        status, body, wait = _post(payload)
        if status == 200:
            reply: dict[str, Any] = json.loads(body)
            return reply
        said = _detail(body)
        if status == 400:
            raise InvalidArgument(f"the reference cannot be used: {said}")
        if status in (413, 422):
            return said
        if status in (401, 403):
            raise FailedPrecondition(f"{_place.address()}: {said}")
        if status == 504:
            raise DeadlineExceeded(said, retryable=True)
        if status == 503:
            raise Unavailable(said, retryable=True)
        if status != 429:
            raise Internal(f"{_place.address()}: HTTP {status}: {said}")
        if time.monotonic() + wait > end:
            raise Busy(said, retryable=True, retry_after=wait)
        time.sleep(wait)
