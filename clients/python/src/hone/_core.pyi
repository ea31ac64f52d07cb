"""Types of the native module: the C++ client."""

from collections.abc import Mapping
from typing import Any

__version__: str

Failure = tuple[str, str, str, bool, float | None, str]

class Completions:
    def __init__(self) -> None: ...
    def fileno(self) -> int: ...
    def drain(self) -> list[int]: ...
    def wait(self, seconds: float) -> bool: ...

class Ticket:
    def wait(self, seconds: float = ..., or_progress: bool = ...) -> bool: ...
    def done(self) -> bool: ...
    def cancel(self) -> None: ...
    def progress(self) -> list[dict[str, Any]]: ...
    def result(self) -> tuple[dict[str, Any], None] | tuple[None, Failure]: ...

class Connection:
    def __init__(
        self,
        endpoint: str,
        name: str,
        connect_timeout: float,
        request_timeout: float,
        retry_busy: bool,
        control: str,
        key: str = ...,
        server_key: str = ...,
        reconnect_timeout: float = ...,
    ) -> None: ...
    @property
    def failure(self) -> Failure | None: ...
    @property
    def closed(self) -> bool: ...
    def hello(self) -> dict[str, Any] | None: ...
    def submit(
        self,
        verb: str,
        body: Mapping[str, Any],
        timeout: float | None = ...,
        completions: Completions | None = ...,
        tag: int = ...,
        with_progress: bool = ...,
    ) -> Ticket: ...
    def close(self) -> None: ...
