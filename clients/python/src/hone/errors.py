"""Exceptions of the client: one class per error code of the protocol."""

from __future__ import annotations

__all__ = [
    "SERVER_LOST",
    "Busy",
    "Cancelled",
    "DeadlineExceeded",
    "FailedPrecondition",
    "HoneError",
    "Internal",
    "InvalidArgument",
    "NotFound",
    "ResourceExhausted",
    "Unavailable",
    "Unimplemented",
]

#: The cause of ``Unavailable`` if the client could not reach the server. No server sends it.
SERVER_LOST = "server_lost"


class HoneError(Exception):
    """A request failed. The message says what the server found and expected.

    Attributes:
        code: The protocol's name, such as ``"not_found"``.
        error_class: ``"protocol"``, ``"task"``, ``"capacity"``, ``"timeout"``, ``"cancelled"``
            or ``"infra"``.
        retryable: Whether the same request may succeed later.
        retry_after: Seconds to wait before a retry, as the server asks; or None.
        cause: The cause, for programs that decide on it, such as ``"unfit_task"``; or None. The
            names are in docs/protocol-reference.md. A newer server may send others.
    """

    code = "internal"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        error_class: str = "infra",
        retryable: bool = False,
        retry_after: float | None = None,
        cause: str | None = None,
    ) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code
        self.error_class = error_class
        self.retryable = retryable
        self.retry_after = retry_after
        self.cause = cause


class InvalidArgument(HoneError, ValueError):  # noqa: N818 - named after the code, like its siblings
    """The request must be changed."""

    code = "invalid_argument"


class NotFound(HoneError, LookupError):  # noqa: N818
    """No such task, episode or environment."""

    code = "not_found"


class FailedPrecondition(HoneError):  # noqa: N818
    """The episode ended, belongs to another connection, or the client is closed."""

    code = "failed_precondition"


class ResourceExhausted(HoneError):  # noqa: N818
    """A limit was reached."""

    code = "resource_exhausted"


class Busy(ResourceExhausted):
    """The server's queues are full; retry after ``retry_after`` seconds."""


class DeadlineExceeded(HoneError, TimeoutError):  # noqa: N818
    """No answer within the timeout. The turn stays open: the same step may be sent again."""

    code = "deadline_exceeded"


class Cancelled(HoneError):  # noqa: N818
    """The request was cancelled, or the client was closed."""

    code = "cancelled"


class Unavailable(HoneError, ConnectionError):  # noqa: N818
    """The server cannot be reached, is shutting down, or lost the episode."""

    code = "unavailable"


class Unimplemented(HoneError):  # noqa: N818
    """The server does not support the request."""

    code = "unimplemented"


class Internal(HoneError):  # noqa: N818
    """A fault of the server."""

    code = "internal"


_CLASSES: dict[str, type[HoneError]] = {
    cls.code: cls
    for cls in (
        InvalidArgument,
        NotFound,
        FailedPrecondition,
        ResourceExhausted,
        DeadlineExceeded,
        Cancelled,
        Unavailable,
        Unimplemented,
        Internal,
    )
}


def from_failure(failure: tuple[str, str, str, bool, float | None, str]) -> HoneError:
    """Makes the exception for (code, class, message, retryable, retry_after, cause)."""
    code, error_class, message, retryable, retry_after, cause = failure
    cls = _CLASSES.get(code, Internal)
    if code == "resource_exhausted" and error_class == "capacity":
        cls = Busy
    return cls(
        message,
        code=code,
        error_class=error_class,
        retryable=retryable,
        retry_after=retry_after,
        cause=cause or None,
    )
