"""The processes, control groups and files of a server: targets of kills, and leftovers."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
GONE_WITHIN_S = 30.0  # what a dead server's processes have to end in; a launcher gives its own ten seconds
COMPILERS = ("cc1plus", "cc1", "as", "ld", "collect2", "g++", "gcc")


@dataclass(frozen=True)
class Process:
    pid: int
    parent: int
    name: str
    state: str
    started: int  # clock ticks after boot: tells two processes of one pid apart


def become_reaper() -> None:
    """Whatever loses its parent becomes a child of this process, and so is found."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def all_processes() -> dict[int, Process]:
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            text = Path(f"/proc/{name}/stat").read_text()
            head, tail = text.rsplit(")", 1)
            rest = tail.split()
            pid = int(name)
            found[pid] = Process(pid, int(rest[1]), head.split("(", 1)[1], rest[0], int(rest[19]))
    return found


def descendants(of: int, known: dict[int, Process] | None = None) -> list[Process]:
    processes = all_processes() if known is None else known
    children: dict[int, list[Process]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    left = [of]
    while left:
        for child in children.get(left.pop(), []):
            found.append(child)
            left.append(child.pid)
    return sorted(found, key=lambda one: one.pid)


def is_plugin_host(process: Process) -> bool:
    with contextlib.suppress(OSError):
        return b"run_plugin.py" in Path(f"/proc/{process.pid}/cmdline").read_bytes()
    return False


def victims(server: int, kind: str) -> list[Process]:
    """The server's processes of one kind that run now."""
    found = [one for one in descendants(server) if one.state not in "ZX"]
    if kind == "plugin":
        return [one for one in found if one.parent == server and is_plugin_host(one)]
    if kind == "launcher":
        return [one for one in found if one.parent == server and one.name == "hone-launcher"]
    names = COMPILERS if kind == "compiler" else (f"hone-{kind}",)
    return [one for one in found if one.name in names]


class Remains:
    """What dead servers have left. One for a run; `own` is what the harness itself started and waits for."""

    def __init__(self) -> None:
        become_reaper()
        self._since: dict[tuple[int, int], float] = {}  # of processes of dead servers
        self.launchers: set[int] = set()  # of all servers

    def note_launchers(self, server: int) -> None:
        self.launchers.update(one.pid for one in victims(server, "launcher"))

    def alive(self, living: set[int]) -> list[Process]:
        """Processes of dead servers; reaps those that have ended. `living`: the server that is up, and own children."""
        processes = all_processes()
        found = []
        spared = set(living)
        for pid in living:
            spared.update(one.pid for one in descendants(pid, processes))
        for process in descendants(os.getpid(), processes):
            if process.pid in spared:
                continue
            if process.state in "ZX":
                if process.parent == os.getpid():
                    with contextlib.suppress(ChildProcessError):
                        os.waitpid(process.pid, os.WNOHANG)
                continue
            found.append(process)
        return found

    def overdue(self, living: set[int]) -> list[str]:
        """Those that are still there long after their server's end."""
        now = time.monotonic()
        seen = {(one.pid, one.started): one for one in self.alive(living)}
        self._since = {key: self._since.get(key, now) for key in seen}
        return [
            f"process {one.pid} ({one.name}, {one.state}) was there {now - self._since[key]:.0f} s after its server"
            for key, one in seen.items()
            if now - self._since[key] > GONE_WITHIN_S
        ]

    def end_all(self, living: set[int]) -> None:
        """After a violation: leaves nothing behind on this machine."""
        for process in self.alive(living):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)

    def groups(self) -> list[str]:
        """Control groups named after one of our launchers."""
        prefixes = tuple(f"hone-{pid}-" for pid in self.launchers)
        # Rationale: Path.glob raises when a group of somebody else's goes while it looks.
        return [
            os.path.join(folder, name)
            for folder, names, _ in os.walk("/sys/fs/cgroup")
            for name in names
            if prefixes and name.startswith(prefixes)
        ]
