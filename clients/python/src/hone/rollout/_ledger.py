"""The ledger: answers and verdicts, one JSON object a line, each written to disk at once.

Theory of operation: a rollout uses an event only after its line is on disk. A later run on the same
file reads it, drops an incomplete last line, and repeats no request that has an answer.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any

from ._settings import UsageError

_FORMAT = 1
Event = dict[str, Any]


class Ledger:
    """A file of events that grows at its end, for one process at a time.

    Attributes:
        past: The events in the file when it was opened.

    Args:
        path: The file; created if it is missing, with mode 0600, because it has episodes' tokens.
        identity: Settings that must be the same in every run that writes to the file.

    Raises:
        UsageError: Another process writes to it, it belongs to another rollout, or it is damaged.
    """

    def __init__(self, path: Path, identity: dict[str, Any]) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self._lock()
            self.past = self._read()
            self._check(identity)
        except BaseException:
            os.close(self._file)
            raise

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._file)

    def append(self, event: Event) -> None:
        """Writes an event and waits until it is on disk."""
        line = json.dumps(event, ensure_ascii=False).encode("utf-8", errors="replace") + b"\n"
        while line:
            line = line[os.write(self._file, line) :]
        os.fsync(self._file)

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"{self._path}: another rollout is writing to it") from None

    def _read(self) -> list[Event]:
        """The events. An incomplete last line is removed from the file."""
        os.lseek(self._file, 0, os.SEEK_SET)
        with os.fdopen(os.dup(self._file), "rb") as whole:
            raw = whole.read()
        kept = raw.rfind(b"\n") + 1
        if kept != len(raw):
            os.ftruncate(self._file, kept)
        os.lseek(self._file, kept, os.SEEK_SET)
        events = []
        for number, line in enumerate(raw[:kept].splitlines(), 1):
            event = None
            with contextlib.suppress(ValueError):
                event = json.loads(line)
            if not isinstance(event, dict):
                raise UsageError(
                    f"{self._path}:{number}: expected a JSON object; the file is damaged: "
                    "repair the line or name another --output"
                )
            events.append(event)
        return events

    def _check(self, identity: dict[str, Any]) -> None:
        """Writes the identity to a file without other events, or compares it."""
        if not self.past:
            self.append({"event": "rollout", "format": _FORMAT, "identity": identity})
            return
        first, *self.past = self.past
        if first.get("event") != "rollout" or first.get("format") != _FORMAT:
            raise UsageError(
                f"{self._path}:1: expected the first line of a ledger of format {_FORMAT}; "
                "name another --output"
            )
        found = first.get("identity") or {}
        if found != identity and not self.past:  # nothing was played with the other settings
            os.ftruncate(self._file, 0)
            os.lseek(self._file, 0, os.SEEK_SET)
            self.append({"event": "rollout", "format": _FORMAT, "identity": identity})
            return
        for name in sorted({*found, *identity}):
            if found.get(name) != identity.get(name):
                raise UsageError(
                    f"{self._path}: belongs to a rollout with {name} = {found.get(name)!r}, "
                    f"found {identity.get(name)!r}: name another --output, or use the same settings"
                )
