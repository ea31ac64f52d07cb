"""Error replies of the scripted server."""

from __future__ import annotations

from typing import Any


class Refused(Exception):
    def __init__(
        self, code: str, message: str, error_class: str = "protocol", retry_after_ms: int | None = None, **more: Any
    ):
        super().__init__(message)
        self.body = {
            "code": code,
            "class": error_class,
            "message": message,
            "retryable": code in ("resource_exhausted", "unavailable", "deadline_exceeded"),
            "retry_after_ms": retry_after_ms,
            "reward_valid": False,
            **more,
        }
