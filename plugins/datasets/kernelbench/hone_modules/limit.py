"""Limits how long a module may be run to describe it, and says meanwhile how long that has taken."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from hone_modules.problems import Mistake

SECONDS_MAX = 50.0  # the default; real problems take at most a few
PROGRESS_EVERY_S = 10.0


class TooLong(BaseException):
    """No Exception: what a module catches is not for it."""


class SlowModule(Mistake):
    """A module whose description takes too long, and would again."""


@contextmanager
def limited(task: str, seconds: float) -> Iterator[None]:
    """Ends a body that takes more than so many seconds of this thread's processor time, which a busy machine does not
    use up, as a Mistake. A loop in Python is ended at once; a call that never returns is the plugin host's to end."""
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
                f"warning: {task}: describing it has taken {now - began:.0f} s, {used:.0f} s of them of the processor;"
                f" the limit is {seconds:g} s (describe_seconds)",
                flush=True,
            )
        signal.setitimer(signal.ITIMER_REAL, min(PROGRESS_EVERY_S, max(seconds - used, 0.05)))

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, min(PROGRESS_EVERY_S, seconds))
    try:
        yield
    except TooLong:
        raise SlowModule(
            f"describing it took {seconds:g} s of processor time, the limit; give it more with describe_seconds:"
            f" {4 * seconds:g} in the dataset's config"
        ) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
