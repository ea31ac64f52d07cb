"""The MCP server over stdio and HTTP, with the client of MCP's own SDK: episodes, faults, handles, tokens."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pytest
from hone.adapters import mcp as adapter
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from scripted import ScriptedServer
from servers import ROOT, SECONDS_MAX, RealServer

GOLDEN = ROOT / "envs/kernel_refine/tasks/add_relu/golden"
T = TypeVar("T")


def over_stdio(endpoint: str, *options: str) -> StdioServerParameters:
    arguments = ["-m", "hone", "mcp", "--endpoint", endpoint, *options]
    return StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))


def play(server: Any, agent: Callable[[Client], Awaitable[T]]) -> T:
    """What an agent says that uses this server."""

    async def run() -> T:
        async with Client(server) as client:
            return await agent(client)

    return asyncio.run(asyncio.wait_for(run(), SECONDS_MAX))


async def call(client: Client, tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    result = await client.call_tool(tool, arguments)
    text = result.content[0].text
    assert not result.is_error, text
    return text, result.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result
    return result.content[0].text


async def an_episode(client: Client) -> None:
    """Looks for a task, reads it, submits a wrong kernel and then a correct one."""
    names = {tool.name for tool in (await client.list_tools()).tools}
    assert names == {"list_tasks", "get_task", "submit", "history", *adapter.TOOL_USES}
    text, listed = await call(client, "list_tasks", contains="RELU")
    assert "tasks/add_relu" in [task["id"] for task in listed["tasks"]]
    assert "tasks/add_relu" in text
    text, described = await call(client, "get_task", task="add_relu")
    assert described["task"]["id"] == "add_relu"
    assert "```" in text
    prompt = await client.read_resource("hone://tasks/tasks/add_relu")
    assert prompt.contents[0].text == text

    text, first = await call(client, "submit", task="add_relu", code=(GOLDEN / "demo_1_wrong.cpp").read_text())
    assert (first["turn"]["outcome"], first["turn"]["turn"], first["ended"], first["turns_left"]) == (
        "wrong",
        1,
        False,
        1,
    )
    assert text.startswith("turn 1: wrong, reward 0.100\n")
    assert "its results are wrong" in text
    code = (GOLDEN / "demo_4_fused.cpp").read_text()
    text, second = await call(client, "submit", episode=first["episode"], code=code)
    assert (second["turn"]["outcome"], second["ended"]) == ("correct", True)
    assert second["turn"]["speedup_low"] <= second["turn"]["speedup"] <= second["turn"]["speedup_high"]
    assert "the episode has ended" in text
    _, history = await call(client, "history", episode=first["episode"])
    assert [turn["outcome"] for turn in history["turns"]] == ["wrong", "correct"]
    assert history["best_speedup"] == second["best_speedup"]
    feedback = await client.read_resource(f"hone://episodes/{first['episode']}/turns/1")
    assert feedback.contents[0].text == history["turns"][0]["feedback"]
    assert "ended" in await refused(client, "submit", episode=first["episode"], code=code)


def test_an_episode_over_stdio(real: RealServer) -> None:
    play(over_stdio(real.endpoint, "--max-turns", "2"), an_episode)


@pytest.fixture
def over_http(tmp_path: Path) -> Iterator[Callable[[str], tuple[str, str]]]:
    """Starts an MCP server and gives its address and its token."""
    running: list[subprocess.Popen[str]] = []

    def start(endpoint: str, *options: str) -> tuple[str, str]:
        file = tmp_path / "token"
        command = [sys.executable, "-m", "hone", "mcp", "--endpoint", endpoint, "--http", "127.0.0.1:0", *options]
        server = subprocess.Popen([*command, "--token-file", str(file)], stdout=subprocess.PIPE, text=True)
        running.append(server)
        assert server.stdout is not None
        announced = server.stdout.readline().split()
        assert announced[:3] == ["serving", "MCP", "on"]
        return announced[3], file.read_text().strip()

    yield start
    for server in running:
        server.terminate()
        server.wait(timeout=100)


def with_token(url: str, token: str) -> Any:
    client = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=SECONDS_MAX, trust_env=False)
    return streamable_http_client(url, http_client=client)


def test_tools_examine_a_kernel_and_leave_the_turn_open(real: RealServer) -> None:
    async def agent(client: Client) -> None:
        wrong = (GOLDEN / "demo_1_wrong.cpp").read_text()
        fused = (GOLDEN / "demo_4_fused.cpp").read_text()
        text, checked = await call(client, "check", task="add_relu", code=wrong)
        episode = checked["episode"]
        assert checked["left"] == {"check": 1, "profile": 1}
        assert text.startswith(f"episode {episode}; uses left of check: 1\n\n")
        assert "its results are wrong" in text
        _, profiled = await call(client, "profile", episode=episode, code=fused)
        assert profiled["facts"]["time_us"] > 0
        assert "its 1 use is spent" in await refused(client, "profile", episode=episode, code=fused)
        _, submitted = await call(client, "submit", episode=episode, code=fused)
        assert submitted["turn"]["turn"] == 1
        assert "exactly one of task and episode" in await refused(client, "check", code=fused)

    play(over_stdio(real.endpoint, "--tools", "check=2,profile=1"), agent)


def test_without_uses_there_are_no_tools(real: RealServer) -> None:
    async def agent(client: Client) -> set[str]:
        _, submitted = await call(client, "submit", task="add_relu", code="int x;")
        assert submitted["turn"]["outcome"] == "build_failed"
        return {tool.name for tool in (await client.list_tools()).tools}

    names = play(over_stdio(real.endpoint, "--tools", "none"), agent)
    assert names == {"list_tasks", "get_task", "submit", "history"}


def test_an_unknown_tool_is_refused_at_the_start(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        adapter.main(["--tools", "check=2,profle=1"])
    assert "found 'profle=1', expected NAME=N" in capsys.readouterr().err


def test_an_episode_over_http(over_http: Any, real: RealServer) -> None:
    url, token = over_http(real.endpoint, "--max-turns", "2")
    play(with_token(url, token), an_episode)


def test_requests_without_the_token_are_refused(over_http: Any, scripted: ScriptedServer) -> None:
    url, token = over_http(scripted.endpoint)
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for given in (
        {},
        {"Authorization": "Bearer "},
        {"Authorization": f"Bearer {token[:-1]}"},
        {"Authorization": token},
    ):
        for path in ("", "/../mcp", "?token=" + token):
            headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **given}
            request = urllib.request.Request(url + path, json.dumps(message).encode(), headers)
            with pytest.raises(urllib.error.HTTPError, match="401"):
                opener.open(request, timeout=20)
    names = play(with_token(url, token), lambda client: client.list_tools())
    assert len(names.tools) == 4 + len(adapter.TOOL_USES)


@pytest.mark.parametrize(
    ("contents", "mode", "said"),
    [
        ("short\n", 0o600, "at least 16"),
        ("a token with some spaces\n", 0o600, "with spaces"),
        ("x" * 32, 0o644, "chmod 600"),
    ],
)
def test_a_weak_token_is_refused(tmp_path: Path, contents: str, mode: int, said: str) -> None:
    file = tmp_path / "token"
    file.write_text(contents)
    file.chmod(mode)
    with pytest.raises(ValueError, match=said):
        adapter.read_token(file)


def test_http_needs_a_token_file(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        adapter.main(["--http", "127.0.0.1:0"])
    assert "expected --token-file" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        adapter.main(["--http", "8765"])
    assert "found '8765', expected HOST:PORT" in capsys.readouterr().err


def test_a_fault_is_no_reward_and_says_so(scripted: ScriptedServer) -> None:
    async def agent(client: Client) -> None:
        text, told = await call(client, "submit", task="add_relu", code="fault")
        assert (told["turn"]["reward"], told["turn"]["reward_valid"]) == (None, False)
        assert "the judge's process died" in told["turn"]["fault"]
        assert "the kernel is not to blame" in text or told["ended"]

    play(over_stdio(scripted.endpoint), agent)


def test_wrong_requests_say_what_to_do(scripted: ScriptedServer) -> None:
    async def agent(client: Client) -> None:
        assert "did you mean 'tasks/add_relu'" in await refused(client, "submit", task="ad_relu", code="slow")
        assert "exactly one of task and episode" in await refused(client, "submit", code="slow")
        assert "exactly one of task and episode" in await refused(client, "submit", code="slow", task="a", episode="b")
        assert "to start one" in await refused(client, "submit", episode="guessed", code="slow")
        assert "to start one" in await refused(client, "history", episode="guessed")
        with pytest.raises(MCPError, match="no open episode"):
            await client.read_resource("hone://episodes/guessed/turns/1")
        with pytest.raises(MCPError, match="did you mean 'tasks/add_relu'"):
            await client.read_resource("hone://tasks/ad_relu")
        _, told = await call(client, "submit", task="add_relu", code="wrong")
        with pytest.raises(MCPError, match="no turn '7'"):
            await client.read_resource(f"hone://episodes/{told['episode']}/turns/7")

    play(over_stdio(scripted.endpoint), agent)


def test_the_episode_used_least_recently_makes_room(scripted: ScriptedServer) -> None:
    async def agent(client: Client) -> None:
        handles = [(await call(client, "submit", task="add_relu", code="wrong"))[1]["episode"] for _ in range(2)]
        await call(client, "history", episode=handles[0])
        _, third = await call(client, "submit", task="add_relu", code="wrong")
        assert "no open episode" in await refused(client, "history", episode=handles[1])
        for handle in (handles[0], third["episode"]):
            await call(client, "history", episode=handle)

    play(over_stdio(scripted.endpoint, "--episodes", "2"), agent)


def test_no_server_is_one_line(tmp_path: Path) -> None:
    async def agent(client: Client) -> None:
        assert "unavailable" in await refused(client, "list_tasks")

    play(over_stdio("tcp://127.0.0.1:1"), agent)


def test_a_cancelled_turn_may_be_submitted_again(scripted: ScriptedServer) -> None:
    async def agent(client: Client) -> None:
        _, first = await call(client, "submit", task="add_relu", code="wrong")
        scripted.hold_steps.set()
        pending = asyncio.create_task(client.call_tool("submit", {"episode": first["episode"], "code": "slow"}))
        await asyncio.to_thread(scripted.wait_for, "step", 2)
        pending.cancel()
        await asyncio.to_thread(scripted.wait_for, "cancel")
        scripted.hold_steps.clear()
        text, second = await call(client, "submit", episode=first["episode"], code="temporary")
        assert (second["turn"]["turn"], second["turn"]["outcome"]) == (2, "correct"), text

    play(over_stdio(scripted.endpoint), agent)


def test_an_episode_whose_first_turn_is_cancelled_is_closed(scripted: ScriptedServer) -> None:
    async def agent(client: Client) -> None:
        scripted.hold_steps.set()
        pending = asyncio.create_task(client.call_tool("submit", {"task": "add_relu", "code": "slow"}))
        await asyncio.to_thread(scripted.wait_for, "step")
        pending.cancel()
        await asyncio.to_thread(scripted.wait_for, "cancel")
        scripted.hold_steps.clear()
        await asyncio.to_thread(scripted.wait_for, "closed")

    play(over_stdio(scripted.endpoint), agent)
    assert scripted.episodes == {}


def test_an_episode_that_was_lost_with_its_server_is_not_submitted_to_again(scripted: ScriptedServer) -> None:
    async def agent(client: Client) -> None:
        _, first = await call(client, "submit", task="add_relu", code="wrong")
        scripted.episodes.clear()
        _, told = await call(client, "submit", episode=first["episode"], code="slow")
        assert told["turn"]["fault"].startswith("not_found")
        assert "no longer exists on the server" in await refused(
            client, "submit", episode=first["episode"], code="slow"
        )
        assert "no open episode" in await refused(client, "submit", episode=first["episode"], code="slow")

    play(over_stdio(scripted.endpoint), agent)
