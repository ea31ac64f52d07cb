"""The progress bar: a line that is written over on a terminal, and now and then one elsewhere."""

from __future__ import annotations

import time
from typing import TextIO

from hone._text import printable

from ._attempt import Attempt
from ._settings import Settings
from ._summary import spend

_WIDTH = 24
_REDRAW_S = 0.1


class Progress:
    """Counts what is over and what it took; for one event loop.

    Args:
        settings: Of the rollout.
        total: Samples in all.
        to: Where it is shown; None shows nothing.
    """

    def __init__(self, settings: Settings, total: int, to: TextIO | None) -> None:
        self._settings = settings
        self._to = to
        self._live = to is not None and to.isatty()
        self._began = self._drawn = time.monotonic()
        self.total = total
        self.done = self.before = self.correct = self.fast = self.failed = self.retries = 0
        self.tokens = [0, 0]

    def counted(self, attempt: Attempt, *, before: bool = False) -> None:
        """A sample is over; ``before``: in an earlier run."""
        self.done += 1
        self.before += before
        best = attempt.best
        self.correct += best is not None
        self.fast += best is not None and best.speedup > 1.0
        self._draw()

    def answered(self, answer: dict[str, int]) -> None:
        """The model answered."""
        self.tokens[0] += int(answer.get("prompt_tokens") or 0)
        self.tokens[1] += int(answer.get("completion_tokens") or 0)
        self._draw()

    def failure(self, message: str) -> None:
        """A sample cannot go on."""
        self.failed += 1
        self.say(message)

    def retried(self, message: str) -> None:
        """A request has to be asked again; the first ones are said."""
        self.retries += 1
        if self.retries <= 3:
            self.say(f"asking again: {message}")

    def say(self, line: str) -> None:
        """Prints a line above the bar."""
        if self._to is not None:
            line = printable(line, 2000)
            print(f"\r\033[K{line}" if self._live else line, file=self._to, flush=True)

    def milestone(self) -> None:
        """Where there is no terminal, says how far it is."""
        if not self._live:
            self.say(self.line())

    def line(self) -> str:
        """``[######------] 12/40 samples, 0.8/s, 5 correct, 3 fast, 1.2M tokens, 0.34 spent``."""
        share = self.done / self.total if self.total else 1.0
        filled = round(share * _WIDTH)
        new, seconds = self.done - self.before, max(time.monotonic() - self._began, 1e-9)
        parts = [f"[{'#' * filled}{'-' * (_WIDTH - filled)}] {self.done}/{self.total} samples"]
        parts.append(f"{new / seconds:.2g}/s")
        success = f" ({self.correct / self.done:.0%})" if self.done else ""
        parts.append(f"{self.correct} correct{success}")
        parts.append(f"{self.fast} fast")
        parts.append(f"{_short(sum(self.tokens))} tokens")
        cost = spend(self._settings, *self.tokens)
        parts += [f"{cost:.2f} spent"] if cost else []
        parts += [f"{self.failed} failed"] if self.failed else []
        parts += [f"{self.retries} retries"] if self.retries else []
        return ", ".join(parts)

    def close(self) -> None:
        """Leaves the last line as it is."""
        if self._live:
            print(f"\r\033[K{self.line()}", file=self._to, flush=True)

    def _draw(self) -> None:
        now = time.monotonic()
        if self._live and (now - self._drawn >= _REDRAW_S or self.done == self.total):
            self._drawn = now
            print(f"\r\033[K{self.line()}", end="", file=self._to, flush=True)


def _short(count: int) -> str:
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if count >= size:
            return f"{count / size:.1f}{letter}"
    return str(count)
