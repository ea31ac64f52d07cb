"""Servers for the tests: the real one where HONE_BINARY names it, and a scripted one for faults on demand."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from scripted import ScriptedServer

ROOT = Path(__file__).parents[2]


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    server = ScriptedServer()
    yield server
    server.stop()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def real_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    binary = os.environ.get("HONE_BINARY")
    if not binary:
        pytest.skip("HONE_BINARY names no server")
    port = free_port()
    endpoint = f"tcp://127.0.0.1:{port}"
    log = tmp_path_factory.mktemp("server") / "serve.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [binary, "serve", "--endpoint", endpoint, "--control", f"tcp://127.0.0.1:{free_port()}"],
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        yield endpoint
    finally:
        process.terminate()
        process.wait(timeout=30)
        print(log.read_text(errors="replace")[-4000:])


@pytest.fixture(params=["scripted", pytest.param("real", marks=pytest.mark.real)])
def endpoint(request: pytest.FixtureRequest) -> str:
    """Every server there is: a test that uses this one runs against each."""
    if request.param == "real":
        found: str = request.getfixturevalue("real_endpoint")
        return found
    server: ScriptedServer = request.getfixturevalue("scripted")
    return server.endpoint
