"""Limits of the machine: the server serves as many clients as fit, and tells the others the limit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import hone
import msgpack
import pytest
import zmq

from conftest import RealServer
from test_journal import FAST

pytestmark = pytest.mark.real
OPEN_FILES = 256
SERVED = 114  # of half of the open files, eight ninths


@pytest.fixture
def small(tmp_path: Path) -> Iterator[RealServer]:
    server = RealServer(tmp_path / "serve.log", open_files=OPEN_FILES)
    yield server
    server.stop()


def test_a_server_with_few_open_files_judges(small: RealServer) -> None:
    with hone.connect(small.endpoint) as client:
        assert client.reset("add_relu").episode.step(FAST).info["verdict"]["outcome"] == "correct"


def test_refused_client_gets_the_limit_in_the_error(small: RealServer, tmp_path: Path) -> None:
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    ping = [b"hone/1", b"ping", msgpack.packb({"id": 1}), msgpack.packb({})]
    told = rf" connections, at most {SERVED} \(with {OPEN_FILES} open files\) allowed$"
    try:
        kinds, dealers = [], []
        for _ in range(SERVED + 2):
            dealer = context.socket(zmq.DEALER)
            dealers.append(dealer)  # without a reference it is closed
            dealer.linger = 0
            dealer.connect(small.endpoint)
            dealer.send_multipart(ping)
            assert dealer.poll(30_000)
            kinds.append(dealer.recv_multipart()[1])
        assert set(kinds[:100]) == {b"result"}
        with pytest.raises(hone.Unavailable, match=told):
            hone.connect(small.endpoint, connect_timeout=5)
    finally:
        context.destroy(linger=0)
    with hone.connect(small.endpoint) as client:
        assert client.ping()["incarnation"], "there is room again"
    assert "new clients are answered BUSY" in (tmp_path / "serve.log").read_text()
