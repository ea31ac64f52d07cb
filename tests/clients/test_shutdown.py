"""Servers that shut down gracefully: a client waits for the next one, as after a kill."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import hone
import hone.aio
import pytest

from scripted import ScriptedServer
from servers import RealServer
from test_journal import FAST, Journalled, journalled

__all__ = ["journalled"]


def successor(first: ScriptedServer) -> ScriptedServer:
    """A server on the same port that has the episodes of the first, as one with a journal does."""
    second = ScriptedServer(first.port)
    second.incarnation, second.episodes = first.incarnation, first.episodes
    return second


def test_a_step_refused_by_a_shutdown_is_done_by_the_next_server(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client, ThreadPoolExecutor() as pool:
        episode = client.reset("add_relu").episode
        scripted.shutting_down.set()
        step = pool.submit(episode.step, "x")
        reset = pool.submit(client.reset, "add_relu")
        scripted.wait_for("hello", 3)  # it was refused, and looks whether another server is there
        scripted.stop()
        second = successor(scripted)
        try:
            assert step.result().turn == 1
            assert reset.result().episode.step("x").turn == 1
            assert second.evaluations == 2
        finally:
            second.stop()


def test_a_step_under_way_is_answered_while_new_ones_wait(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client, ThreadPoolExecutor() as pool:
        first, second = (client.reset("add_relu").episode for _ in range(2))
        scripted.hold_steps.set()
        under_way = pool.submit(first.step, "x")
        scripted.wait_for("step")
        scripted.shutting_down.set()
        refused = pool.submit(second.step, "x")
        scripted.wait_for("step", 2)
        scripted.hold_steps.clear()
        assert under_way.result().turn == 1
        assert not refused.done()
        scripted.wait_for("hello", 3)
        scripted.stop()
        next_server = successor(scripted)
        try:
            assert refused.result().turn == 1
        finally:
            next_server.stop()


def test_a_shutdown_without_another_server_is_given_up(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint, reconnect_timeout=0.5) as client:
        episode = client.reset("add_relu").episode
        scripted.shutting_down.set()
        gone = r"no server at .* for \d+\.\d s \(reconnect_timeout\), the last one shut down$"
        with pytest.raises(hone.Unavailable, match=gone) as caught:
            episode.step("x")
        assert caught.value.retryable


def test_a_shutdown_without_another_server_is_given_up_in_asyncio(scripted: ScriptedServer) -> None:
    async def main() -> None:
        async with await hone.aio.connect(scripted.endpoint, reconnect_timeout=0.5) as client:
            scripted.shutting_down.set()
            with pytest.raises(hone.Unavailable, match=r"the last one shut down$"):
                await client.reset("add_relu")

    asyncio.run(main())


def test_a_request_given_up_while_its_server_shuts_down_ends_at_once(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client:
        episode = client.reset("add_relu").episode
        scripted.shutting_down.set()
        body = {"episode": episode.id, "turn": 1, "action": {"code": "x"}}
        ticket = client.submit("step", body)
        scripted.wait_for("hello", 2)
        ticket.cancel()
        _, failure = ticket.result()
        assert failure is not None
        assert failure[0] == "cancelled"


def test_the_timeout_of_a_request_counts_while_its_server_shuts_down(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client:
        episode = client.reset("add_relu").episode
        scripted.shutting_down.set()
        with pytest.raises(hone.DeadlineExceeded):
            episode.step("x", timeout=0.5)


def test_connecting_to_a_server_that_shuts_down_is_an_error(scripted: ScriptedServer) -> None:
    scripted.shutting_down.set()
    with pytest.raises(hone.Unavailable, match=rf"^{scripted.endpoint}: the server is shutting down$"):
        hone.connect(scripted.endpoint, connect_timeout=5)


def descendants(pid: int) -> list[int]:
    """All processes below one, those that end meanwhile left out."""
    found: list[int] = []
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            below = [int(child) for child in children.read_text().split()]
            found += below + [one for child in below for one in descendants(child)]
    return found


def stop_all_processes(server: RealServer) -> None:
    """As a service manager does by default: the server and all that it started are told to end."""
    for pid in [server.process.pid, *descendants(server.process.pid)]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    server.process.wait(timeout=90)


@pytest.mark.real
@pytest.mark.parametrize(("stop", "drain_s"), [(RealServer.stop, 60), (RealServer.stop, 0), (stop_all_processes, 60)])
def test_no_client_is_lost_by_graceful_restarts(
    journalled: Journalled, stop: Callable[[RealServer], None], drain_s: int
) -> None:
    clients, restarts = 8, 2
    assert journalled.server is not None
    journalled.server.stop()
    journalled.start("--set", f"server.drain_s={drain_s}")
    going = [threading.Event() for _ in range(clients)]
    ended = threading.Event()

    def play(number: int) -> int:
        steps = 0
        with hone.connect(journalled.endpoint, name=f"worker-{number}", reconnect_timeout=300) as client:
            while not ended.is_set():
                episode = client.reset("add_relu", options={"max_turns": 20}).episode
                while not episode.ended and not ended.is_set():
                    code = f"{FAST} // {uuid.uuid4()}" if number < 2 else f"#error {uuid.uuid4()}"
                    verdict = episode.step(code).info["verdict"]
                    assert verdict["outcome"] == ("correct" if number < 2 else "build_failed"), verdict
                    steps += 1
                    going[number].set()
        return steps

    with ThreadPoolExecutor(clients) as pool:
        playing = [pool.submit(play, number) for number in range(clients)]
        try:
            for _ in range(restarts):
                for one in going:
                    assert one.wait(300)
                    one.clear()
                stop(journalled.server)
                journalled.start("--set", f"server.drain_s={drain_s}")
            for one in going:
                assert one.wait(300)
        finally:
            ended.set()
        assert all(one.result() > 0 for one in playing)
