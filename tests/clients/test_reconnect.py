"""Lost connections and servers: continued requests, and errors if they cannot continue."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import hone
import hone.aio
import pytest

from conftest import free_port
from proxy import CuttableProxy
from scripted import ScriptedServer, cancel_and_find_no_episode
from servers import wait_until


@pytest.fixture
def proxy(scripted: ScriptedServer) -> Iterator[CuttableProxy]:
    between = CuttableProxy(scripted.port)
    yield between
    between.close()


def test_a_cut_mid_step_is_not_noticed(scripted: ScriptedServer, proxy: CuttableProxy) -> None:
    with hone.connect(proxy.endpoint) as client, ThreadPoolExecutor() as pool:
        episode = client.reset("add_relu").episode
        scripted.hold_steps.set()
        step = pool.submit(episode.step, "slow")
        scripted.wait_for("step")
        proxy.cut()
        scripted.wait_for("resume")
        scripted.wait_for("step", 2)
        scripted.hold_steps.clear()
        assert step.result().reward == 0.4
        assert scripted.evaluations == 1
        assert scripted.seen["hello"] == 2


def test_lost_answer_is_sent_again(scripted: ScriptedServer, proxy: CuttableProxy) -> None:
    with hone.connect(proxy.endpoint) as client:
        episode = client.reset("add_relu", options={"max_turns": 8}).episode
        for turn in range(1, 9):
            proxy.cut()
            assert episode.step(f"slow {turn}").turn == turn
        assert scripted.evaluations == 8


def test_a_cut_mid_reset_makes_one_episode(scripted: ScriptedServer, proxy: CuttableProxy) -> None:
    with hone.connect(proxy.endpoint) as client, ThreadPoolExecutor() as pool:
        scripted.mute.set()
        reset = pool.submit(client.reset, "add_relu")
        scripted.wait_for("reset")
        scripted.mute.clear()
        proxy.cut()
        episode = reset.result().episode
        assert len(scripted.episodes) == 1
        assert scripted.seen["reset"] == 2
        assert scripted.seen["resume"] == 1
        assert episode.step("x").turn == 1


def test_many_episodes_go_on_after_a_cut(scripted: ScriptedServer, proxy: CuttableProxy) -> None:
    scripted.limits = {"frame_bytes": 1 << 20, "in_flight": 8}
    with hone.connect(proxy.endpoint) as client:
        episodes = [client.reset("add_relu").episode for _ in range(100)]
        proxy.cut()
        assert [e.step("x").turn for e in episodes] == [1] * 100
        assert scripted.seen["resume"] == 100
        assert scripted.refused == 0


def test_a_half_open_connection_is_found_by_its_silence(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client, ThreadPoolExecutor() as pool:
        episode = client.reset("add_relu").episode
        scripted.mute.set()
        step = pool.submit(episode.step, "x")
        scripted.wait_for("hello", 2)
        scripted.mute.clear()
        assert step.result().turn == 1


def cut_at_each_step(scripted: ScriptedServer, proxy: CuttableProxy, over: Callable[[int], bool]) -> int:
    """Cuts the connection whenever the step has come again, until `over` says so; how often that was."""
    cuts = 0
    end = time.monotonic() + 60
    while not over(cuts) and time.monotonic() < end:
        if scripted.seen["step"] > cuts:
            cuts += 1
            proxy.cut()
        scripted._stopping.wait(0.005)
    return cuts


def test_a_connection_that_is_always_lost_is_given_up(scripted: ScriptedServer, proxy: CuttableProxy) -> None:
    with hone.connect(proxy.endpoint, reconnect_timeout=2) as client, ThreadPoolExecutor() as pool:
        episode = client.reset("add_relu").episode
        scripted.hold_steps.set()
        step = pool.submit(episode.step, "x")
        cut_at_each_step(scripted, proxy, lambda cuts: step.done())
        with pytest.raises(hone.Unavailable, match=rf"^step of episode {episode.id}, turn 1: .*\(reconnect_timeout\)$"):
            step.result()


@pytest.mark.parametrize("reconnect_timeout", [60, 0])
def test_a_connection_that_is_lost_often_is_waited_for_as_promised(
    scripted: ScriptedServer, proxy: CuttableProxy, reconnect_timeout: float
) -> None:
    with hone.connect(proxy.endpoint, reconnect_timeout=reconnect_timeout) as client, ThreadPoolExecutor() as pool:
        episode = client.reset("add_relu").episode
        scripted.hold_steps.set()
        step = pool.submit(episode.step, "slow")
        assert cut_at_each_step(scripted, proxy, lambda cuts: cuts == 8 or step.done()) == 8
        scripted.hold_steps.clear()
        assert step.result().reward == 0.4
        assert scripted.evaluations == 1


def test_a_reset_given_up_while_a_new_connection_takes_its_episode_leaves_none(
    scripted: ScriptedServer, proxy: CuttableProxy
) -> None:
    async def main() -> None:
        async with hone.aio.connect(proxy.endpoint) as client:
            scripted.holding.update(("reset", "resume"))
            reset = asyncio.create_task(client.reset("add_relu"))
            await asyncio.to_thread(scripted.wait_for, "reset")
            proxy.cut()
            await asyncio.to_thread(scripted.wait_for, "reset", 2)
            scripted.holding.discard("reset")
            await asyncio.to_thread(scripted.wait_for, "resume")
            await cancel_and_find_no_episode(reset, client, scripted)

    asyncio.run(main())


def test_server_restart_raises() -> None:
    first = ScriptedServer(free_port())
    client = hone.connect(first.endpoint)
    episode = client.reset("add_relu").episode
    first.stop()
    second = ScriptedServer(first.port)
    try:
        with pytest.raises(hone.Unavailable, match="the server was restarted") as caught:
            episode.step("x")
        assert first.incarnation in str(caught.value)
        assert second.incarnation in str(caught.value)
        assert not caught.value.retryable
        assert client.reset("add_relu").episode.step("x").turn == 1
    finally:
        client.close()
        second.stop()


def test_lost_server_raises(scripted: ScriptedServer) -> None:
    client = hone.connect(scripted.endpoint)
    scripted.hold_steps.set()
    episode = client.reset("add_relu").episode
    with ThreadPoolExecutor() as pool:
        step = pool.submit(episode.step, "x", timeout=10)
        scripted.wait_for("step")
        scripted._stopping.set()
        scripted._thread.join()
        scripted._main.close()
        with pytest.raises(hone.DeadlineExceeded, match="not connected to tcp://"):
            step.result()
    client.close()


def test_absent_server_raises_and_works_again_after_its_return() -> None:
    first = ScriptedServer(free_port())
    first.hold_steps.set()
    with hone.connect(first.endpoint, timeout=60, reconnect_timeout=0.3) as client, ThreadPoolExecutor() as pool:
        episode = client.reset("add_relu").episode
        step = pool.submit(episode.step, "x")
        first.wait_for("step")
        first.stop()
        gone = rf"no server at {first.endpoint} for \d+\.\d s \(reconnect_timeout\)"
        with pytest.raises(hone.Unavailable, match=rf"^step of episode {episode.id}, turn 1: {gone}$") as caught:
            step.result()
        assert caught.value.retryable
        with pytest.raises(hone.Unavailable, match=f"^reset: {gone}$"):
            client.reset("add_relu")
        with pytest.raises(hone.Unavailable, match=r"^metrics: no server at tcp://127\.0\.0\.1:\d+ for"):
            client.metrics()
        second = ScriptedServer(first.port)
        try:
            second.incarnation, second.episodes = first.incarnation, first.episodes
            second.wait_for("ping")  # comes once the episodes are resumed
            assert episode.step("x").turn == 1
        finally:
            second.stop()


@pytest.mark.parametrize(
    ("limit", "end"),
    [(300, r"until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(reconnect_timeout\)"), (0, "until their timeouts")],
)
def test_the_log_says_once_that_requests_wait_for_the_server(
    limit: float, end: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("hone._server_watch.WATCH_S", 0.02)
    monkeypatch.setattr("hone._server_watch.WARN_S", 0.2)
    caplog.set_level(logging.INFO, "hone.client")
    first = ScriptedServer(free_port())

    def said() -> list[str]:
        # Connections that other tests of this process have left open may warn as well.
        return [text for one in caplog.records if f" {first.endpoint} " in (text := one.getMessage())]

    with hone.connect(first.endpoint, timeout=300, reconnect_timeout=limit) as client, ThreadPoolExecutor() as pool:
        episode = client.reset("add_relu").episode
        first.stop()
        time.sleep(0.5)  # no request waits
        assert said() == []
        step = pool.submit(episode.step, "x")
        wait_until(lambda: len(said()) == 1)
        time.sleep(0.5)  # the watch polls again
        second = ScriptedServer(first.port)
        try:
            second.incarnation, second.episodes = first.incarnation, first.episodes
            assert step.result().turn == 1
            wait_until(lambda: len(said()) == 2)
        finally:
            second.stop()
    waits, back = said()
    assert re.fullmatch(rf"no server at {first.endpoint} for \d+ s; requests wait for it {end}", waits)
    assert back == f"server {first.endpoint} answers now"


def test_a_server_that_stays_away_is_given_up_in_asyncio(scripted: ScriptedServer) -> None:
    async def main() -> None:
        async with hone.aio.connect(scripted.endpoint, timeout=60, reconnect_timeout=0.3) as client:
            episode = (await client.reset("add_relu")).episode
            scripted.hold_steps.set()
            step = asyncio.create_task(episode.step("x"))
            await asyncio.to_thread(scripted.wait_for, "step")
            await asyncio.to_thread(scripted.stop)
            with pytest.raises(hone.Unavailable, match=f"turn 1: no server at {scripted.endpoint} for"):
                await step

    asyncio.run(main())


def test_control_endpoint_without_a_server_times_out(scripted: ScriptedServer) -> None:
    unserved = f"tcp://127.0.0.1:{free_port()}"
    with hone.connect(scripted.endpoint, control=unserved, timeout=60, reconnect_timeout=0.3) as client:
        for _ in range(2):
            with pytest.raises(hone.Unavailable, match=f"^health: no server at {unserved} for"):
                client.health()
        assert client.reset("add_relu").episode.step("x").turn == 1


def test_an_episode_whose_lease_ran_out_while_away(scripted: ScriptedServer, proxy: CuttableProxy) -> None:
    with hone.connect(proxy.endpoint) as client:
        episode = client.reset("add_relu").episode
        del scripted.episodes[episode.id]
        proxy.cut()
        scripted.wait_for("resume")
        with pytest.raises(hone.Unavailable, match="while the connection was down the server let it go"):
            episode.step("x")
