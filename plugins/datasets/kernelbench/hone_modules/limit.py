"""Limits the time in which a module is run to describe it, and logs progress."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from hone_modules.problems import Mistake

SECONDS_MAX = 50.0  # the default; real problems take at most a few
PROGRESS_EVERY_S = 10.0


class TooLong(BaseException):
    """Derives from BaseException, so that a module's `except Exception` does not catch it."""


class SlowModule(Mistake):
    """A module whose description takes too long; another try would, too."""


@contextmanager
def limited(task: str, seconds: float) -> Iterator[None]:
    """Raises SlowModule once the body has used this many seconds of the thread's processor time; load of the machine
    does not count. It ends a loop in Python at once. The plugin host's limit ends a native call that never returns."""
    began, began_cpu = time.monotonic(), time.thread_time()
    told = began

    def ring(_number: int, _frame: FrameType | None) -> None:
        nonlocal told
        used, now = time.thread_time() - began_cpu, time.monotonic()
        if used >= seconds:
            raise TooLong
        if now - told >= PROGRESS_EVERY_S:
            told = now
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
