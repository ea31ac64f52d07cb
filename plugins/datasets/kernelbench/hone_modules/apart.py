"""Describes one module in a process of its own, which may hang, exit or crash without harm to others."""

import json
import os
import selectors
import signal
import time
from collections.abc import Callable
from typing import Any

from hone_modules.problems import Late, Mistake, UnfitTask

# Time limit of one description (s). Real problems take a few seconds. plugins.start_seconds (60) limits the plugin.
SECONDS_MAX = 50.0
SECONDS_SPARE = 5  # after the limit, the process' own alarm ends it if its parent is gone
ANSWER_BYTES_MAX = 32 << 20
DESCRIPTORS_MAX = 4096


class NoAnswer(Exception):
    """A process ended without an answer. The message has the reason."""


def write_answer(pipe: int, work: Callable[[], Any]) -> None:
    """In the new process: writes the result of the work, or its error."""
    try:
        answer = {"task": work()}
    except Mistake as mistake:
        answer = {"mistake": str(mistake), "unfit": isinstance(mistake, UnfitTask)}
    except BaseException as error:
        answer = {"mistake": f"describing it fails: {type(error).__name__}: {error}"[:300], "unfit": False}
    rest = memoryview(json.dumps(answer).encode())
    while rest:
        rest = rest[os.write(pipe, rest) :]


def read_answer(pipe: int, process: int, seconds: float) -> bytes:
    """The output of the process until it ends. Its children may keep the pipe open longer."""
    end = time.monotonic() + seconds
    parts: list[bytes] = []
    own = os.pidfd_open(process)
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(pipe, selectors.EVENT_READ)
            selector.register(own, selectors.EVENT_READ)
            while (left := end - time.monotonic()) > 0:
                ready = [key.fd for key, _ in selector.select(left)]
                if pipe in ready:
                    parts.append(os.read(pipe, 1 << 16))
                    if not parts[-1]:
                        selector.unregister(pipe)
                    if sum(map(len, parts)) > ANSWER_BYTES_MAX:
                        raise NoAnswer(f"its description is longer than {ANSWER_BYTES_MAX >> 20} MB")
                elif own in ready:
                    return b"".join(parts)
    finally:
        os.close(own)
    raise Late(f"running it to describe it took longer than {seconds:g} s, the limit")


def how_it_ended(status: int) -> str:
    """A wait status as text."""
    if os.WIFSIGNALED(status):
        return f"was ended by {signal.Signals(os.WTERMSIG(status)).name}"
    return f"exited with status {os.WEXITSTATUS(status)}"


def run_apart(work: Callable[[], Any], seconds: float = SECONDS_MAX) -> Any:
    """Runs the work in a fork and returns its result as plain data.

    Raises NoAnswer if the process exits or crashes, and Late if it takes too long. Rationale: a fork, because importing
    torch takes seconds. This process computes nothing before, so it has no threads that a fork would lose.
    """
    pipe, far = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(int(seconds) + SECONDS_SPARE)
            os.closerange(3, far)  # also the connection to hone
            os.closerange(far + 1, DESCRIPTORS_MAX)
            write_answer(far, work)
        finally:
            os._exit(0)
    os.close(far)
    status = None
    try:
        text = read_answer(pipe, process, seconds)
        status = os.waitpid(process, 0)[1]
    finally:
        os.close(pipe)
        if status is None:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
    try:
        answer = json.loads(text)
    except ValueError:
        raise NoAnswer(f"the process that ran it to describe it {how_it_ended(status)}") from None
    if "mistake" in answer:
        raise (UnfitTask if answer["unfit"] else Mistake)(answer["mistake"])
    return answer["task"]
