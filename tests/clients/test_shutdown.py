"""Servers that shut down gracefully: a client waits for the next one, as after a kill."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import hone
import hone.aio
import pytest

from scripted import ScriptedServer
from servers import RealServer, free_port
from test_journal import FAST, Journalled, journalled

__all__ = ["journalled"]


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    """A server whose port the kernel gives to no connection, so a successor can use it."""
    server = ScriptedServer(free_port())
    yield server
    server.stop()


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


def test_a_client_that_is_told_sends_nothing_new_to_the_server_that_leaves(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client, ThreadPoolExecutor() as pool:
        first, second = (client.reset("add_relu").episode for _ in range(2))
        scripted.hold_steps.set()
        under_way = pool.submit(first.step, "x")
        scripted.wait_for("step")
        scripted.go_away(drain_ms=60_000)
        scripted.wait_for("going_away")
        scripted.hold_steps.clear()
        assert under_way.result().turn == 1
        later = pool.submit(second.step, "x")
        scripted.wait_for("hello", 2)  # it looks for the next server
        assert scripted.seen["step"] == 1
        scripted.stop()
        next_server = successor(scripted)
        try:
            assert later.result().turn == 1
        finally:
            next_server.stop()


def test_the_time_limit_of_a_reconnection_begins_when_the_server_has_drained(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint, reconnect_timeout=0.2) as client, ThreadPoolExecutor() as pool:
        episode = client.reset("add_relu").episode
        scripted.go_away(drain_ms=60_000)
        step = pool.submit(episode.step, "x")
        scripted.wait_for("hello", 7)  # the last one is more than 0.3 s after the announcement
        assert not step.done()
        scripted.stop()
        next_server = successor(scripted)
        try:
            assert step.result().turn == 1
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


SPINS = """#include <cstdint>
extern "C" void add_relu(const float*, const float*, float*, int64_t) { for (volatile int i = 0;; i = i + 1) {} }
"""


@pytest.mark.real
def test_a_second_signal_ends_a_draining_server_at_once(journalled: Journalled) -> None:
    server = journalled.server
    assert server is not None
    checking = threading.Event()

    def on_progress(progress: dict[str, Any]) -> None:
        if progress["stage"] == "checking":
            checking.set()

    with ThreadPoolExecutor() as pool, hone.connect(journalled.endpoint) as client:
        episode = client.reset("add_relu").episode
        step = pool.submit(episode.step, SPINS, on_progress=on_progress)
        assert checking.wait(60)
        server.process.send_signal(signal.SIGTERM)
        status = [os.environ["HONE_BINARY"], "status", "--endpoint", server.announced["control"]]
        while "draining" not in (said := subprocess.run(status, capture_output=True, text=True)).stdout:
            assert server.process.poll() is None
        assert said.returncode == 1
        assert "draining: ends within " in said.stdout
        server.process.send_signal(signal.SIGINT)  # another one than the first
        assert server.process.wait(30) == -signal.SIGINT
        client.close()
        assert isinstance(step.exception(), hone.Cancelled)


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
@pytest.mark.parametrize(
    ("stop", "drain_s", "clients"), [(RealServer.stop, 60, 16), (RealServer.stop, 0, 8), (stop_all_processes, 60, 8)]
)
def test_no_client_is_lost_by_graceful_restarts(
    journalled: Journalled, stop: Callable[[RealServer], None], drain_s: int, clients: int
) -> None:
    threads, restarts = clients // 2, 2  # the other half in asyncio
    assert journalled.server is not None
    journalled.server.stop()
    journalled.start("--set", f"server.drain_s={drain_s}")
    going = [threading.Event() for _ in range(clients)]
    ended = threading.Event()

    def source(number: int) -> str:
        return f"{FAST} // {uuid.uuid4()}" if number % 8 == 0 else f"#error {uuid.uuid4()}"

    def check(number: int, step: hone.Step) -> None:
        verdict = step.info["verdict"]
        assert verdict["outcome"] == ("correct" if number % 8 == 0 else "build_failed"), verdict
        going[number].set()

    async def play_in_asyncio(number: int) -> int:
        steps = 0
        async with await hone.aio.connect(journalled.endpoint, reconnect_timeout=300) as client:
            while not ended.is_set():
                episode = (await client.reset("add_relu", options={"max_turns": 20})).episode
                while not episode.ended and not ended.is_set():
                    check(number, await episode.step(source(number)))
                    steps += 1
        return steps

    async def play_tasks() -> list[int]:
        return await asyncio.gather(*(play_in_asyncio(number) for number in range(threads, clients)))

    def play(number: int) -> int:
        steps = 0
        with hone.connect(journalled.endpoint, name=f"worker-{number}", reconnect_timeout=300) as client:
            while not ended.is_set():
                episode = client.reset("add_relu", options={"max_turns": 20}).episode
                while not episode.ended and not ended.is_set():
                    check(number, episode.step(source(number)))
                    steps += 1
        return steps

    with ThreadPoolExecutor(threads + 1) as pool:
        playing = [pool.submit(play, number) for number in range(threads)]
        in_asyncio = pool.submit(asyncio.run, play_tasks())
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
        assert all(steps > 0 for steps in [*(one.result() for one in playing), *in_asyncio.result()])
