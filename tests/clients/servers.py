"""Servers for the tests: the real one if HONE_BINARY names it, and a scripted one for faults on demand."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import resource
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scripted import ScriptedServer

ROOT = Path(__file__).parents[2]
# These tests are about outcomes and messages, not about exact times.
QUICK = "evaluate.measure={pairs_min: 3, pairs_max: 3, seconds_max: 0.2, round_ms: 1, singles: 1, set_mb: 16}"

SECONDS_MAX = 600  # bounds a trainer that hangs; less than the limit of a whole test in tests/trainers/run

# Below the kernel's own range of ports. Each process that runs tests has a thousand of them: tests/trainers/run sets
# the first port, and each worker of pytest-xdist starts at another thousand.
PORTS = itertools.count(
    int(os.environ.get("HONE_TEST_PORTS", "20000"))
    + 1000 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
)


def free_port() -> int:
    """A port that nothing listens on and that no other test gets."""
    for port in PORTS:
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("unreachable")


class RealServer:
    """`hone serve` of HONE_BINARY on this host, ready once made."""

    def __init__(
        self,
        log: Path,
        port: int = 0,
        *arguments: str,
        open_files: int | None = None,
        quick: bool = True,
        program: Path | None = None,
    ) -> None:
        binary = str(program or os.environ.get("HONE_BINARY", ""))
        if not binary:
            pytest.skip("HONE_BINARY names no server")
        command = [binary, "serve", "--json", "--endpoint", f"tcp://127.0.0.1:{port}", "--control", "tcp://127.0.0.1:0"]
        # Other tests use the machine meanwhile: how steady its clock is then is not what these are about.
        command += ["--set", "evaluate.max_interval=0", *(["--set", QUICK] if quick else []), *arguments]
        with log.open("ab") as errors:
            limit = None if open_files is None else (open_files, open_files)
            self.process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=errors,
                preexec_fn=limit and (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit)),
            )
        assert self.process.stdout is not None
        announced = self.process.stdout.readline()  # comes once it serves; empty when it ended
        if not announced:
            pytest.fail(f"{binary} serve ended with {self.process.wait()}: {log.read_text(errors='replace')[-4000:]}")
        self.announced: dict[str, str] = json.loads(announced)
        self.endpoint: str = self.announced["endpoint"]
        self.port = int(self.endpoint.rpartition(":")[2])

    def stop(self, number: int = signal.SIGTERM) -> None:
        self.process.send_signal(number)
        self.process.wait(timeout=90)


def wait_until(holds: Callable[[], bool], seconds: float = 300) -> None:
    """Waits until something has come about."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.01)


class Script(list[Any]):
    """Answers of a model. The first answer of any script stops one server, preferably one with unfinished episodes."""

    def __init__(self, servers: list[ScriptedServer], *answers: Any) -> None:
        super().__init__(answers)
        self.servers = servers

    def pop(self, at: Any = -1) -> Any:
        if not any(one.stopped() for one in self.servers):
            next((one for one in self.servers if one.open()), self.servers[0]).stop()
        return super().pop(at)


@pytest.fixture
def scripted_pair() -> Iterator[list[ScriptedServer]]:
    servers = [ScriptedServer(), ScriptedServer()]
    yield servers
    for one in servers:
        one.stop()


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    server = ScriptedServer()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    log = tmp_path_factory.mktemp("server") / "serve.log"
    server = RealServer(log)
    yield server
    server.stop()
    print(log.read_text(errors="replace")[-4000:])
