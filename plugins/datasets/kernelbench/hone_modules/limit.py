"""Limits the time of a module's description, and logs progress."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from hone_modules.problems import Mistake

SECONDS_MAX = 50.0  # default; real problems take a few seconds
PROGRESS_EVERY_S = 10.0


class TooLong(BaseException):
    """Derives from BaseException, so that a module's `except Exception` does not catch it."""


class SlowModule(Mistake):
    """A module's description takes too long. A retry would, too."""


@contextmanager
def limited(task: str, seconds: float) -> Iterator[None]:
    """Raises SlowModule when the body has used this many seconds of the thread's processor time.

    Time in which other processes run does not count. A loop in Python ends at once. A native call that never returns is
    ended by the plugin host's limit.
    """
    began, began_cpu = time.monotonic(), time.thread_time()
    last_report = began

    def ring(_number: int, _frame: FrameType | None) -> None:
        nonlocal last_report
        used, now = time.thread_time() - began_cpu, time.monotonic()
        if used >= seconds:
            raise TooLong
        if now - last_report >= PROGRESS_EVERY_S:
            last_report = now
            print(
                f"warning: {task}: describing it has taken {now - began:.0f} s, {used:.0f} s of it processor time;"
                f" the limit is {seconds:g} s of processor time (describe_seconds)",
                flush=True,
            )
        signal.setitimer(signal.ITIMER_REAL, min(PROGRESS_EVERY_S, max(seconds - used, 0.05)))

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, min(PROGRESS_EVERY_S, seconds))
    try:
        yield
    except TooLong:
        raise SlowModule(
            f"describing it took {seconds:g} s of processor time, the limit; raise it with"
            f" describe_seconds: {4 * seconds:g} in the dataset's config"
        ) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
