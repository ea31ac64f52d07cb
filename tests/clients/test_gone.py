"""Clients that disconnect during steps: their steps leave the queue, and no result is lost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import hone
import pytest

from conftest import RealServer
from servers import wait_until
from test_journal import FAST

pytestmark = pytest.mark.real
SLOW = 'extern "C" void add_relu(const float* x, const float* y, float* out, long n) { volatile int k = 1; while (k); }'


@pytest.fixture
def quick(tmp_path: Path) -> Iterator[RealServer]:
    server = RealServer(tmp_path / "serve.log", 0, "--set", "server.disconnect_grace_s=0")
    yield server
    server.stop()


def steps_become(client: hone.Client, count: int) -> None:
    """Waits until this number of steps is pending."""
    end = time.monotonic() + 60
    while client.health()["steps"] != count:
        assert time.monotonic() < end


def test_steps_of_a_client_that_is_gone_are_dropped(quick: RealServer) -> None:
    with hone.connect(quick.endpoint) as watching:
        leaving = hone.connect(quick.endpoint)
        episodes = [leaving.reset("add_relu").episode for _ in range(4)]
        under_way = []  # a ticket that is dropped gives its step up
        for number, episode in enumerate(episodes):
            action = {"code": f"{SLOW} // {number}"}
            body = {"episode": episode.id, "turn": 1, "action": action}
            under_way.append(leaving.submit("step", body))
        steps_become(watching, 4)
        leaving.close()
        steps_become(watching, 0)
        wait_until(lambda: watching.metrics()["steps_dropped"] >= 1)  # counted after they have left the queue
        taken_over = watching.resume(episodes[-1].id, episodes[-1].token).episode
        assert taken_over.turn == 0, "the turn stayed open"
        assert taken_over.step(FAST).info["verdict"]["outcome"] == "correct"


def test_steps_that_another_connection_took_over_go_on(quick: RealServer) -> None:
    with hone.connect(quick.endpoint) as staying:
        leaving = hone.connect(quick.endpoint)
        episode = leaving.reset("add_relu").episode
        body = {"episode": episode.id, "turn": 1, "action": {"code": FAST}}
        ticket = leaving.submit("step", body)
        ticket.wait(or_progress=True)
        taken_over = staying.resume(episode.id, episode.token).episode
        leaving.close()
        assert taken_over.step(FAST).info["verdict"]["outcome"] == "correct"
        assert staying.metrics()["steps_dropped"] == 0
