"""Tests that need the real server: real kernels with a lost connection, a cancel, a kill."""

from __future__ import annotations

import asyncio
import contextlib
import re
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_args

import hone
import hone.aio
import hone.vector
import pytest
from hone.pool import Pool

from conftest import ROOT, RealServer
from proxy import CuttableProxy
from test_documents import run

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


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ({"code": FUSED, "lang": "c++"}, "unknown key 'lang'"),
        ({"code": FUSED, "timeout": 3}, "unknown key 'timeout'"),
        ({"source": FUSED}, "unknown key 'source'"),
        ({"code": FUSED, "response": FUSED}, "expected either 'code' or 'response'"),
        ({"code": FUSED, "language": 7}, "language: expected text"),
        ({"code": FUSED, "language": "rust"}, "unknown language 'rust'.*this task takes"),
        ({"response": FUSED, "language": "python"}, "unknown language 'python'.*this task takes"),
        ({"code": 7}, "code: expected text"),
        ({}, "expected either 'code' or 'response'"),
    ],
)
def test_a_malformed_action_is_an_error_and_no_turn(real: RealServer, action: dict[str, Any], said: str) -> None:
    async def from_asyncio() -> None:
        async with hone.aio.connect(real.endpoint) as client:
            episode = (await client.reset("add_relu")).episode
            with pytest.raises(hone.InvalidArgument, match=said):
                await episode.step(action=action)
            assert (await episode.step("int x;")).turn == 1

    asyncio.run(from_asyncio())
    with hone.connect(real.endpoint) as client:
        episode = client.reset("add_relu").episode
        with pytest.raises(hone.InvalidArgument, match=said):
            episode.step(action=action)
        assert episode.step("int x;").turn == 1
        episodes = hone.vector.Episodes(client, 2)
        episodes.reset("add_relu")
        done = {one.index: one for one in episodes.as_completed(["int x;", action])}
        assert done[0].result is not None
        assert isinstance(done[1].error, hone.InvalidArgument)
        assert [one.turn for one in episodes.step(["int y;", "int y;"]) if one] == [2, 1]
        episodes.close()
        with Pool(client, 2, task="add_relu") as pool:
            pool.reset()
            pool.send(["int x;", action], [0, 1])
            with pytest.raises(hone.InvalidArgument, match=said):
                pool.recv()
            pool.send(["int x;"], [1])
            batch = pool.recv()
            assert dict(zip(batch.info["env_id"], batch.info["elapsed_step"], strict=True)) == {0: 1, 1: 1}


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


def test_server_killed_in_a_step_raises_in_bounded_time(tmp_path: Path) -> None:
    server = RealServer(tmp_path / "serve.log")
    with hone.connect(server.endpoint, reconnect_timeout=0.3) as client:
        episode = client.reset("add_relu").episode
        with pytest.raises(hone.Unavailable, match=f"turn 1: no server at {server.endpoint} for"):
            episode.step(FUSED, on_progress=lambda _: server.stop(signal.SIGKILL))


def test_episode_lost_in_a_restart_raises(tmp_path: Path) -> None:
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


def test_types_name_the_keys_that_the_server_sends(real: RealServer) -> None:
    with hone.connect(real.endpoint) as client:
        start = client.reset("add_relu", options={"max_turns": 3})
        optional = {"choice", "index", "facts", "tools", "tools_left"}  # of autotune, and of episodes with tools
        assert set(start.observation) | optional | {"code"} == set(hone.Observation.__annotations__)
        assert set(start.observation["task"]) == set(hone.TaskFacts.__annotations__)
        assert set(start.info) == set(hone.ResetInfo.__annotations__) - {"parent", "parent_turn"}
        wrong = start.episode.step(FUSED.replace("v > 0", "v < 0"))
        assert set(wrong.info) == set(hone.StepInfo.__annotations__)
        assert set(wrong.observation) | optional == set(hone.Observation.__annotations__)
        assert set(wrong.observation["history"][0]) == set(hone.TurnLine.__annotations__)
        of_calls = {"tool_calls", "tool_call_id", "name"}
        assert set(wrong.observation["messages"][0]) | of_calls == set(hone.Message.__annotations__)
        verdict = wrong.info["verdict"]
        assert verdict is not None
        assert set(verdict) == set(hone.Verdict.__annotations__)
        assert verdict["outcome"] in get_args(hone.Outcome)
        if verdict["mismatch"] is not None:
            assert set(verdict["mismatch"]) <= set(hone.Mismatch.__annotations__)
        verdict = start.episode.step(FUSED).info["verdict"]
        assert verdict is not None
        assert verdict["speedup"] is not None
        assert set(verdict["speedup"]) <= set(hone.Speedup.__annotations__)
        branch = start.episode.branch(1)
        assert set(branch.info) == set(hone.ResetInfo.__annotations__)
        tuned = client.reset(environment="autotune").observation
        assert set(tuned) | {"code", "tools", "tools_left"} == set(hone.Observation.__annotations__)


TOOLS = {"tools": {"check": 2, "sanitize": 1, "profile": 1, "hardware": 1}}
BEYOND = """#include <cstdint>
extern "C" void add_relu(const float* x, const float* y, float* out, int64_t n) {
  for (int64_t i = 0; i <= n; ++i)
    out[i] = x[i] + y[i] > 0 ? x[i] + y[i] : 0;
}
"""


def test_tools_leave_the_turn_open(real: RealServer) -> None:
    with hone.connect(real.endpoint) as client:
        start = client.reset("add_relu", options=TOOLS)
        assert {tool["name"] for tool in start.observation["tools"]} == set(TOOLS["tools"])
        episode = start.episode
        found = episode.tool("sanitize", BEYOND)
        assert (found.turn, found.call, found.left["sanitize"]) == (1, 1, 0)
        assert "Line 4: heap-buffer-overflow: READ of size 4, 0 bytes after tensor" in found.text
        stages: list[str] = []
        checked = episode.tool("check", FUSED, on_progress=lambda body: stages.append(body["stage"]))
        assert checked.verdict is not None
        assert checked.verdict["outcome"] == "correct"
        assert checked.verdict["speedup"] is None
        assert "checking" in stages
        with pytest.raises(hone.FailedPrecondition, match="its 1 use is spent"):
            episode.tool("sanitize", FUSED)
        profiled = episode.tool("profile", FUSED)
        assert profiled.verdict is not None
        assert profiled.verdict["speedup"] is not None
        assert profiled.facts["findings"]
        assert episode.step(FUSED).turn == 1
        assert episode.calls == 0
        assert "Clock (GHz)" in episode.tool("hardware").text


def test_the_example_of_the_document(real: RealServer) -> None:
    (example,) = re.findall(r"^```python tools\n(.*?)^```$", (ROOT / "docs/tools.md").read_text(), re.M | re.S)
    assert "Your kernel compiled and ran, but its results are wrong" in run(example, real.endpoint)


def test_a_tool_call_survives_a_cut_and_a_resume(real: RealServer) -> None:
    proxy = CuttableProxy(real.port)
    seen: list[str] = []

    def cut_once(body: dict[str, Any]) -> None:
        if not seen:
            proxy.cut()
        seen.append(str(body))

    with contextlib.closing(proxy), hone.connect(proxy.endpoint) as client, hone.connect(real.endpoint) as other:
        episode = client.reset("add_relu", options=TOOLS).episode
        found = episode.tool("check", FUSED, on_progress=cut_once)
        assert seen
        assert found.left["check"] == 1
        resumed = other.resume(episode.id, episode.token)
        assert resumed.episode.calls == 1
        assert resumed.observation["messages"][-1]["role"] == "tool"
        assert resumed.episode.tool("check", FUSED).left["check"] == 0


def test_tools_of_the_asyncio_client(real: RealServer) -> None:
    async def examine() -> hone.ToolResult:
        async with hone.aio.connect(real.endpoint) as client:
            start = await client.reset("add_relu", options=TOOLS)
            return await start.episode.tool("check", "no kernel")

    found = asyncio.run(examine())
    assert found.verdict is not None
    assert found.verdict["outcome"] == "build_failed"
    assert "does not name a type" in found.text
