"""An OpenEnv server in front of hone, and its client: sessions, faults, tasks, lost connections."""

from __future__ import annotations

import asyncio
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import hone
import pytest
import requests
import uvicorn
from hone.adapters import openenv as adapter
from hone.adapters.openenv import HoneAction, HoneEnv
from openenv.cli._validation import validate_running_environment
from pydantic import ValidationError

from scripted import ScriptedServer
from servers import ROOT, SECONDS_MAX, RealServer, free_port

GOLDEN = ROOT / "envs/kernel_refine/tasks/add_relu/golden"
Serve = Callable[..., str]


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def serve() -> Iterator[Serve]:
    running: list[tuple[uvicorn.Server, threading.Thread]] = []

    def start(endpoint: str | list[str], **settings: Any) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(adapter.app(endpoint, **settings), log_level="warning")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        running.append((server, thread))
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    yield start
    for server, thread in running:
        server.should_exit = True
        thread.join(timeout=20)


def test_an_episode(serve: Serve, real: RealServer) -> None:
    with HoneEnv(base_url=serve(real.endpoint, options={"max_turns": 2}), message_timeout_s=100).sync() as env:
        start = env.reset(task="add_relu")
        assert (start.done, start.reward, start.observation.task) == (False, None, "tasks/add_relu")
        assert [message["role"] for message in start.observation.messages] == ["system", "user"]
        wrong = env.step(HoneAction(code=(GOLDEN / "demo_1_wrong.cpp").read_text()))
        assert (wrong.observation.outcome, wrong.done, wrong.observation.reward_valid) == ("wrong", False, True)
        assert wrong.reward == 0.1
        assert [message["role"] for message in wrong.observation.messages] == ["user"]
        answer = f"Here:\n```cpp\n{(GOLDEN / 'demo_4_fused.cpp').read_text()}```"
        last = env.step(HoneAction(response=answer))
        assert (last.observation.outcome, last.done) == ("correct", True)
        assert last.reward >= 0.3
        assert len(last.observation.returns) == 2
        state = env.state()
        assert (state.step_count, state.task) == (2, "tasks/add_relu")


def test_tools_leave_the_turn_open(serve: Serve, real: RealServer) -> None:
    url = serve(real.endpoint, options={"max_turns": 2, "tools": {"check": 1, "hardware": 1}})
    fused = (GOLDEN / "demo_4_fused.cpp").read_text()
    with HoneEnv(base_url=url, message_timeout_s=100).sync() as env:
        start = env.reset(task="add_relu").observation
        assert [tool["function"]["name"] for tool in start.tools] == ["check", "hardware"]
        assert (start.tools_left, start.turns_left) == ({"check": 1, "hardware": 1}, 2)
        checked = env.step(HoneAction(tool="check", response=f"Here:\n```cpp\n{fused}```"))
        assert (checked.reward, checked.done, checked.observation.turn) == (None, False, 0)
        assert "correct" in checked.observation.messages[0]["content"]
        assert checked.observation.tools_left == {"check": 0, "hardware": 1}
        assert checked.observation.turns_left == 2
        again = env.step(HoneAction(tool="check", code=fused)).observation
        assert again.messages[0]["content"].startswith("error: ")
        assert "Toolchain" in env.step(HoneAction(tool="hardware")).observation.messages[0]["content"]
        with pytest.raises(RuntimeError, match="exactly one of response and code"):
            env.step(HoneAction(tool="profile"))
        with pytest.raises(RuntimeError, match="neither response nor code"):
            env.step(HoneAction(tool="hardware", code=fused))
        submitted = env.step(HoneAction(code=fused)).observation
        assert (submitted.turn, submitted.turns_left) == (1, 1)


def test_a_tool_may_cost_turns(serve: Serve, real: RealServer) -> None:
    options = {"max_turns": 3, "tools": {"hardware": 2}, "tool_turns": {"hardware": 2}}
    with HoneEnv(base_url=serve(real.endpoint, options=options), message_timeout_s=100).sync() as env:
        assert env.reset(task="add_relu").observation.turns_left == 3
        assert env.step(HoneAction(tool="hardware")).observation.turns_left == 1
        assert env.step(HoneAction(response="no code")).observation.turns_left == 0


def test_openenv_validation_of_a_running_server_passes(serve: Serve, scripted: ScriptedServer) -> None:
    report = validate_running_environment(serve(scripted.endpoint))
    assert report["passed"], report
    metadata = requests.get(f"{serve(scripted.endpoint)}/metadata", timeout=20).json()
    assert (metadata["name"], metadata["version"]) == ("hone_env", hone.__version__)


def test_web_interface_without_gradio_is_an_error(scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENABLE_WEB_INTERFACE", "true")
    with pytest.raises(SystemExit, match="needs gradio: pip install gradio"):
        adapter.app(scripted.endpoint)


def test_a_fault_is_no_reward(serve: Serve, scripted: ScriptedServer) -> None:
    with HoneEnv(base_url=serve(scripted.endpoint)).sync() as env:
        env.reset(task="add_relu")
        result = env.step(HoneAction(code="fault"))
        assert (result.reward, result.done, result.observation.reward_valid) == (None, True, False)
        assert result.observation.turns_left == 0
        assert "the judge's process died" in result.observation.fault
        assert env.reset(task="add_relu").observation.reward_valid  # the session goes on


def test_a_reward_is_paid_once(serve: Serve, scripted: ScriptedServer) -> None:
    """Neither a fault in a later turn, nor a step after the end, returns an earlier turn's reward."""
    with HoneEnv(base_url=serve(scripted.endpoint, options={"max_turns": 2}, timeout=20)).sync() as env:
        env.reset(task="add_relu")
        first = env.step(HoneAction(code="wrong"))
        assert (first.reward, first.observation.outcome) == (0.1, "wrong")
        second = env.step(HoneAction(code="fault"))
        assert (second.reward, second.observation.reward_valid) == (None, False)
        env.reset(task="add_relu")
        env.step(HoneAction(code="wrong"))
        last = env.step(HoneAction(code="slow"))
        assert (last.done, last.observation.outcome) == (True, "correct")
        after = env.step(HoneAction(code="slow"))
        assert (after.reward, after.done, after.observation.outcome) == (None, True, "")


def test_invalid_request_is_an_error_and_the_session_goes_on(serve: Serve, scripted: ScriptedServer) -> None:
    with HoneEnv(base_url=serve(scripted.endpoint)).sync() as env:
        with pytest.raises(RuntimeError, match="call reset first"):
            env.step(HoneAction(code="slow"))
        with pytest.raises(RuntimeError, match="did you mean 'tasks/add_relu'"):
            env.reset(task="ad_relu")
        env.reset(task="add_relu")
        with pytest.raises(RuntimeError, match="exactly one of response and code"):
            env.step(HoneAction(code="slow", response="slow"))
        assert env.step(HoneAction(code="slow")).observation.outcome == "correct"


def test_sessions_at_the_same_time_and_one_too_many(serve: Serve, scripted: ScriptedServer) -> None:
    url = serve(scripted.endpoint, sessions=8)

    async def play(inside: asyncio.Barrier) -> float:
        async with HoneEnv(base_url=url) as env:
            await env.reset(task="add_relu")
            await inside.wait()
            rewards = [(await env.step(HoneAction(code=word))).reward for word in ("wrong", "slow")]
            await inside.wait()
            return sum(rewards)

    async def main() -> list[float]:
        inside = asyncio.Barrier(9)
        playing = [asyncio.create_task(play(inside)) for _ in range(8)]
        await inside.wait()
        with pytest.raises(Exception, match=r"(?i)capacity"):
            async with HoneEnv(base_url=url) as ninth:
                await ninth.reset(task="add_relu")
        await inside.wait()
        return await asyncio.gather(*playing)

    assert asyncio.run(main()) == [0.5] * 8


def test_a_client_that_is_gone_ends_its_episode(serve: Serve, scripted: ScriptedServer) -> None:
    env = HoneEnv(base_url=serve(scripted.endpoint)).sync()
    env.connect()
    env.reset(task="add_relu")
    assert len(scripted.episodes) == 1
    env.close()
    scripted.wait_for("closed")
    assert not scripted.episodes


def test_a_client_that_broke_off_ends_its_episode(serve: Serve, scripted: ScriptedServer) -> None:
    url = serve(scripted.endpoint)

    async def main() -> None:
        env = HoneEnv(base_url=url)
        await env.reset(task="add_relu")
        assert len(scripted.open()) == 1
        env._ws.transport.abort()  # as when its process is killed
        await asyncio.to_thread(scripted.wait_for, "closed")

    asyncio.run(main())
    assert scripted.open() == []


def test_a_plain_reset_leaves_no_episode(serve: Serve, scripted: ScriptedServer) -> None:
    said = requests.post(f"{serve(scripted.endpoint)}/reset", json={"task": "add_relu"}, timeout=20).json()
    assert said["observation"]["task"] == "tasks/add_relu"
    scripted.wait_for("closed")
    assert scripted.open() == []


def test_its_tools_find_the_tasks(serve: Serve, scripted: ScriptedServer) -> None:
    environment = adapter.HoneEnvironment(adapter.Settings(scripted.endpoint))
    assert environment.list_splits() == ["train"]
    assert environment.num_tasks("train") == 1
    assert environment.get_task("train", 0) == {"id": "tasks/add_relu", "index": 0, "title": "Add, then ReLU"}
    with pytest.raises(IndexError, match="split train: found index 1, expected 0 to 0"):
        environment.get_task("train", 1)
    assert environment.reset(split="train", index=0).task == "tasks/add_relu"
    for given in ({"split": "train"}, {"index": 0}, {"split": "train", "index": 0, "task": "add_relu"}):
        with pytest.raises(ValueError, match="expected a task, or split and index"):
            environment.reset(**given)
    environment.close()
    url = serve(scripted.endpoint)
    assert requests.get(f"{url}/health", timeout=20).json()["status"] == "healthy"
    schema = requests.get(f"{url}/schema", timeout=20).json()
    assert {"messages", "reward_valid", "fault"} <= set(schema["observation"]["properties"])


def test_health_is_that_of_the_server(serve: Serve, scripted: ScriptedServer) -> None:
    url = serve(scripted.endpoint)
    scripted.problems = ["journal: it is full"]
    failing = requests.get(f"{url}/health", timeout=20)
    assert (failing.status_code, failing.json()["detail"]) == (503, "journal: it is full")
    scripted.problems = []
    assert requests.get(f"{url}/health", timeout=20).json() == {"status": "healthy"}
    scripted.stop()
    gone = requests.get(f"{url}/health", timeout=20)
    assert (gone.status_code, gone.json()["status"]) == (503, "unhealthy")


def test_a_list_of_servers_is_healthy_while_one_answers(serve: Serve, scripted: ScriptedServer) -> None:
    unserved = f"tcp://127.0.0.1:{free_port()}"
    url = serve([scripted.endpoint, unserved])
    assert requests.get(f"{url}/health", timeout=20).json() == {"status": "healthy"}
    with HoneEnv(base_url=url).sync() as env:
        assert env.reset(task="add_relu").observation.task == "tasks/add_relu"
    scripted.stop()
    assert requests.get(f"{url}/health", timeout=20).status_code == 503


def test_health_without_a_server_is_bad(serve: Serve) -> None:
    unserved = f"tcp://127.0.0.1:{free_port()}"
    said = requests.get(f"{serve(unserved)}/health", timeout=20)
    assert said.status_code == 503
    assert unserved in said.json()["detail"]


def test_unknown_settings_are_errors() -> None:
    with pytest.raises(TypeError, match=r"unknown settings \['endpiont'\]"):
        adapter.app(endpiont="tcp://127.0.0.1:1")


def test_the_example_against_the_program(real: RealServer) -> None:
    example = ROOT / "clients/python/examples/trainers/openenv_client.py"
    assert len(example.read_text().splitlines()) < 60
    command = [sys.executable, "-m", "hone.adapters.openenv", "--endpoint", real.endpoint, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().split()[-1]  # comes once it serves; empty when it ended
            files = [str(GOLDEN / name) for name in ("demo_1_wrong.cpp", "demo_4_fused.cpp")]
            arguments = [sys.executable, str(example), url, "add_relu", *files]
            done = subprocess.run(arguments, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
            assert done.returncode == 0, done.stderr
            assert re.search(r"# Add, then ReLU\nturn 1: wrong, reward 0\.100\nturn 2: correct, reward", done.stdout)
        finally:
            server.terminate()


def test_the_block_of_its_page(serve: Serve, scripted: ScriptedServer) -> None:
    page = (ROOT / "docs/trainers/openenv.md").read_text()
    blocks = re.findall(r"^```python name=openenv\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1
    program = blocks[0].replace("http://127.0.0.1:8000", serve(scripted.endpoint))
    exec(compile(program, "openenv.md", "exec"), {"my_model": lambda messages: "slow"})
    assert scripted.seen["step"] == 4


@pytest.mark.parametrize("text", ["\ud83d cut", "\0", "", " \n", "x" * (5 << 20), "\U0001f600" * (1 << 20)])
def test_any_text_of_a_model_is_a_turn(serve: Serve, scripted: ScriptedServer, text: str) -> None:
    with HoneEnv(base_url=serve(scripted.endpoint, options={"max_turns": 2})).sync() as env:
        env.reset(task="add_relu")
        assert env.step(HoneAction(response=text)).observation.turn == 1
        assert env.step(HoneAction(code=text)).observation.turn == 2


def test_an_unknown_option_of_an_action_is_an_error() -> None:
    with pytest.raises(ValidationError, match="language"):
        HoneAction(code="x", language="rust")
