"""What only the real server can show: real kernels across a cut, a cancel, a kill."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import hone
import hone.aio
import pytest

from conftest import ROOT, RealServer
from proxy import CuttableProxy

pytestmark = pytest.mark.real
FUSED = (ROOT / "envs/kernel_refine/tasks/add_relu/golden/demo_4_fused.cpp").read_text()


def test_a_cut_mid_step_is_not_noticed(real: RealServer) -> None:
    proxy = CuttableProxy(real.port)
    seen: list[str] = []

    def cut_once(body: dict[str, Any]) -> None:
        if not seen:
            proxy.cut()
        seen.append(str(body))

    with contextlib.closing(proxy), hone.connect(proxy.endpoint) as client:
        episode = client.reset("add_relu").episode
        result = episode.step(FUSED, on_progress=cut_once)
        assert seen
        assert proxy.accepted == 2
        assert result.info["verdict"]["outcome"] == "correct"
        assert result.reward_valid
        assert episode.step("int x;").turn == 2


def test_cancel_leaves_the_turn_open(real: RealServer) -> None:
    with hone.connect(real.endpoint) as client, ThreadPoolExecutor() as pool:
        episode = client.reset("add_relu").episode
        cancelled: list[bool] = []

        def cancel_once(_: dict[str, Any]) -> None:
            if not cancelled:
                cancelled.append(pool.submit(client.cancel, episode, 1).result())

        spinning = FUSED.replace("{\n", "{\n  for (volatile int go = 1; go != 0;) {}\n", 1)
        with pytest.raises(hone.Cancelled, match="cancelled"):
            episode.step(spinning, on_progress=cancel_once)
        assert cancelled == [True]
        assert episode.step(FUSED).turn == 1


def test_cancelling_a_task_frees_the_turn(real: RealServer) -> None:
    async def main() -> int:
        async with hone.aio.connect(real.endpoint) as client:
            episode = (await client.reset("add_relu")).episode
            step = asyncio.create_task(episode.step(FUSED))
            await client.ping()  # answered after the step was taken in: one connection keeps its order
            step.cancel()
            with pytest.raises(asyncio.CancelledError):
                await step
            return (await episode.step("int x;")).turn

    assert asyncio.run(asyncio.wait_for(main(), 60)) == 1


def test_a_kill_mid_step_is_told_in_bounded_time(tmp_path: Path) -> None:
    server = RealServer(tmp_path / "serve.log")
    with hone.connect(server.endpoint, reconnect_timeout=0.3) as client:
        episode = client.reset("add_relu").episode
        with pytest.raises(hone.Unavailable, match=f"turn 1: no server at {server.endpoint} for"):
            episode.step(FUSED, on_progress=lambda _: server.stop(signal.SIGKILL))


def test_kill_and_restart_says_so(tmp_path: Path) -> None:
    first = RealServer(tmp_path / "first.log")
    with hone.connect(first.endpoint) as client:
        episode = client.reset("add_relu").episode
        first.stop(signal.SIGKILL)
        second = RealServer(tmp_path / "second.log", first.port)
        try:
            with pytest.raises(hone.Unavailable, match="the server was restarted"):
                episode.step(FUSED)
            assert client.reset("add_relu").episode.step("int x;").turn == 1
        finally:
            second.stop()
