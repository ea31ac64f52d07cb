"""verifiers' own runner plays episodes of hone with a model that answers from a script."""

from __future__ import annotations

import asyncio
import http.server
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import verifiers.v1 as vf
from hone.adapters import verifiers as adapter

from scripted import ScriptedServer
from servers import ROOT, SECONDS_MAX, RealServer, free_port

FUSED = (ROOT / "envs/kernel_refine/tasks/add_relu/golden/demo_4_fused.cpp").read_text()


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"id": f"call-{tool}", "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}


class Model:
    """An OpenAI-compatible endpoint; `answer` makes a reply of the conversation.

    A reply is a text, a list of tool calls, or None for a fault of the provider.
    """

    def __init__(self) -> None:
        self.answer: Callable[[list[dict[str, Any]]], str | list[dict[str, Any]] | None] = lambda _: "no code"
        self.asked: list[list[dict[str, Any]]] = []
        self.bodies: list[dict[str, Any]] = []
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                model.bodies.append(body)
                model.asked.append(body["messages"])
                said = model.answer(body["messages"])
                calls = said if isinstance(said, list) else None
                message = {"role": "assistant", "content": None if calls else said, "tool_calls": calls}
                finish = "tool_calls" if calls else "stop"
                reply = {
                    "id": "1",
                    "object": "chat.completion",
                    "created": 0,
                    "model": body["model"],
                    "choices": [{"index": 0, "finish_reason": finish, "message": message}],
                    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
                }
                data = json.dumps(reply if said is not None else {"error": {"message": "no"}}).encode()
                self.send_response(200 if said is not None else 400)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    monkeypatch.setenv("TEST_API_KEY", "none")
    made = Model()
    yield made
    made.close()


def environment(endpoint: str | list[str], **settings: Any) -> adapter.HoneEnv:
    taskset = {"id": "hone-kernels", "endpoint": endpoint, **settings.pop("taskset", {})}
    return adapter.HoneEnv(adapter.HoneEnvConfig(taskset=taskset, **settings))


def play(env: adapter.HoneEnv, model: Model, count: int = 1) -> list[vf.Episode]:
    async def main() -> list[vf.Episode]:
        config = vf.EvalClientConfig(base_url=model.url, api_key_var="TEST_API_KEY")
        context = vf.ModelContext(model="scripted", client=config)
        task = next(task for task in env.taskset if task.data.id.endswith("add_relu"))
        async with env.serving():
            return list(await asyncio.gather(*(env.run_slot(slot, context) for slot in env.slots(task, count))))

    return asyncio.run(asyncio.wait_for(main(), SECONDS_MAX))


def test_an_episode(model: Model, real: RealServer) -> None:
    model.answer = lambda messages: "no code" if len(messages) < 4 else f"```cpp\n{FUSED}\n```"
    env = environment(real.endpoint, taskset={"options": {"max_turns": 2}})
    (episode,) = play(env, model)
    assert episode.ok, episode.errors
    (trace,) = episode.traces
    assert trace.agent.name == "player"
    reward = trace.rewards["hone"]
    assert (reward.score > 0, reward.weight) == (True, 1.0)
    details = trace.info["hone"]
    assert details["outcomes"] == ["no_code", "correct"]
    assert len(details["turn_rewards"]) == len(details["returns"]) == 2
    assert trace.metrics["turns"] == 2.0
    assert trace.metrics["speedup"] > 0
    first, second = model.asked
    assert [m["role"] for m in first] == ["system", "user"]
    assert "# Add, then ReLU" in first[1]["content"]
    assert [m["role"] for m in second] == ["system", "user", "assistant", "user"]
    assert second[3]["content"].startswith("No code was found")


def test_a_list_of_servers(model: Model, scripted: ScriptedServer) -> None:
    model.answer = lambda _: "slow"
    servers = [scripted.endpoint, f"tcp://127.0.0.1:{free_port()}"]
    (episode,) = play(environment(servers, taskset={"options": {"max_turns": 1}}), model)
    assert episode.ok, episode.errors
    assert episode.traces[0].rewards["hone"].score == 0.4


def test_a_fault_fails_the_episode_and_has_no_reward(model: Model, scripted: ScriptedServer) -> None:
    model.answer = lambda _: "fault"
    (episode,) = play(environment(scripted.endpoint), model)
    assert not episode.ok
    assert [error.type for error in episode.errors] == ["EnvError"]
    assert "turn 1: the judge's process died" in episode.errors[0].message
    (trace,) = episode.traces
    assert "hone" not in trace.rewards
    assert trace.info["hone"]["fault"] == "turn 1: the judge's process died"


def test_a_fault_is_retried_where_that_is_asked_for(model: Model, scripted: ScriptedServer) -> None:
    model.answer = lambda _: "fault" if len(model.asked) == 1 else "slow"
    env = environment(scripted.endpoint, taskset={"options": {"max_turns": 1}}, retries={"max_retries": 1})
    (episode,) = play(env, model)
    assert episode.ok
    assert episode.traces[-1].rewards["hone"].score == pytest.approx(0.4)
    assert len(model.asked) == 2


def test_a_lost_server_fails_the_episode(model: Model, scripted: ScriptedServer) -> None:
    def stop(_: list[dict[str, Any]]) -> str:
        scripted.stop()
        return "slow"

    model.answer = stop
    (episode,) = play(environment(scripted.endpoint, taskset={"reconnect_timeout": 0.2}), model)
    assert not episode.ok
    assert "turn 1: unavailable: " in episode.errors[0].message
    assert "hone" not in episode.traces[0].rewards


def test_a_models_failure_is_not_scored(model: Model, scripted: ScriptedServer) -> None:
    model.answer = lambda messages: "slow" if len(messages) < 3 else None
    (episode,) = play(environment(scripted.endpoint), model)
    assert not episode.ok
    assert "hone" not in episode.traces[0].rewards
    scripted.wait_for("close")


def test_an_episode_that_is_dropped_is_ended(model: Model, scripted: ScriptedServer) -> None:
    asked, may_answer = threading.Event(), threading.Event()

    def wait(_: list[dict[str, Any]]) -> str:
        asked.set()
        may_answer.wait(60)
        return "slow"

    model.answer = wait
    env = environment(scripted.endpoint)

    async def main() -> None:
        config = vf.EvalClientConfig(base_url=model.url, api_key_var="TEST_API_KEY")
        context = vf.ModelContext(model="scripted", client=config)
        async with env.serving():
            (slot,) = env.slots(next(iter(env.taskset)), 1)
            episode = asyncio.create_task(env.run_slot(slot, context))
            await asyncio.to_thread(asked.wait, 60)
            episode.cancel()
            await asyncio.wait([episode], timeout=60)
            assert episode.done()
            scripted.wait_for("close")
            may_answer.set()

    asyncio.run(main())
    assert scripted.open() == []


def test_player_calls_tools_of_hone(model: Model, real: RealServer) -> None:
    wanted: list[Any] = [
        [call("compile", code=FUSED, language="c++"), call("hardware")],
        [call("profile", code=FUSED)],
        "no code",
        [call("compile", code="int x;")],
        [call("hardware")],
        "no code",
    ]
    model.answer = lambda _: wanted[len(model.asked) - 1]
    options = {"max_turns": 3, "tools": {"compile": 2, "hardware": 1}}
    (episode,) = play(environment(real.endpoint, taskset={"options": options}), model)
    assert episode.ok, episode.errors
    (trace,) = episode.traces
    assert len(model.asked) == len(wanted)
    assert trace.rewards["hone"].score == 0.0
    details = trace.info["hone"]
    assert (details["outcomes"], details["tool_calls"]) == (["no_code"] * 3, {"compile": 2, "hardware": 1})
    functions = {tool["function"]["name"]: tool["function"] for tool in model.bodies[0]["tools"]}
    assert list(functions) == ["compile", "hardware"]
    assert functions["compile"]["parameters"]["properties"]["language"]["enum"] == ["c++", "c"]
    # The tools are spent after the fourth answer: the fifth is judged, and its call is answered.
    assert [body["tool_choice"] for body in model.bodies] == ["auto"] * 4 + ["none"] * 2
    last = model.asked[-1]
    called, turn = ["assistant", "tool"], ["assistant", "user"]
    expected = ["system", "user", *called, "tool", *called, *turn, *called, *called, "user"]
    assert [m["role"] for m in last] == expected
    answers = [m["content"] for m in last if m["role"] == "tool"]
    starts = [
        "The kernel builds.",
        "Device: ",
        "error: tool profile: unknown",
        "Your code did not",
        "error: no tool can",
    ]
    assert [answer[: len(start)] for answer, start in zip(answers, starts, strict=True)] == starts
    assert [m["tool_call_id"] for m in last if m["role"] == "tool"][:3] == [
        "call-compile",
        "call-hardware",
        "call-profile",
    ]


def test_without_the_option_there_are_no_tools(model: Model, scripted: ScriptedServer) -> None:
    model.answer = lambda _: "slow"
    play(environment(scripted.endpoint, taskset={"options": {"max_turns": 1}}), model)
    assert "tools" not in model.bodies[0]


def test_player_whose_calls_all_fail_finishes_the_episode(model: Model, scripted: ScriptedServer) -> None:
    model.answer = lambda _: [call("check", kode="x")]
    options = {"max_turns": 2, "tools": {"check": 1}}
    (episode,) = play(environment(scripted.endpoint, taskset={"options": options}), model)
    assert episode.ok, episode.errors
    assert len(model.asked) == 4 * 2 + 1 + 2  # 4 failed calls for each of 2 turns, one more, then 2 submissions
    assert episode.traces[0].metrics["turns"] == 2.0


def test_a_fault_of_a_tool_fails_the_episode_and_has_no_reward(model: Model, scripted: ScriptedServer) -> None:
    model.answer = lambda _: [call("check", code="fault")]
    (episode,) = play(environment(scripted.endpoint, taskset={"options": {"tools": {"check": 1}}}), model)
    assert not episode.ok
    assert "turn 1: tool check: unavailable: the builder's process died" in episode.errors[0].message
    (trace,) = episode.traces
    assert "hone" not in trace.rewards
    assert trace.info["hone"]["reward_valid"] is False


def test_episodes_at_the_same_time(model: Model, scripted: ScriptedServer) -> None:
    model.answer = lambda _: "slow"
    episodes = play(environment(scripted.endpoint, taskset={"options": {"max_turns": 3}}), model, count=8)
    assert [episode.traces[0].rewards["hone"].score for episode in episodes] == pytest.approx([1.2] * 8)


def test_the_example(model: Model, real: RealServer) -> None:
    example = ROOT / "clients/python/examples/trainers/verifiers_eval.py"
    assert len(example.read_text().splitlines()) < 60
    command = [sys.executable, example, model.url, "scripted", "--endpoint", real.endpoint, "--count", "2"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_MAX)
    assert done.returncode == 0, done.stderr
    assert "2 of 2 episodes were judged; mean reward 0.000" in done.stdout


def test_the_block_of_its_page(model: Model, scripted: ScriptedServer) -> None:
    page = (ROOT / "docs/trainers/verifiers.md").read_text().replace("tcp://127.0.0.1:5917", scripted.endpoint)
    (block,) = re.findall(r"^```python name=verifiers\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    exec(block, names)
    assert [task.data.hone_task for task in names["env"].taskset] == ["tasks/add_relu"]
    assert names["env"].config.retries.max_retries == 2


def test_vf_eval_finds_the_environment(model: Model, real: RealServer, tmp_path: Any) -> None:
    program = [sys.executable, "-c", "from verifiers.v1.cli.eval.main import main; main()", "hone-kernels"]
    options = ["--no-push", "-m", "scripted", "--client.base-url", model.url, "--client.api-key-var", "TEST_API_KEY"]
    mine = ["--env.taskset.endpoint", real.endpoint, "--env.taskset.options", '{"max_turns": 1}']
    rest = ["-n", "1", "-r", "2", "--output-dir", str(tmp_path), "--no-rich"]
    command = [*program, *options, *mine, *rest]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_MAX, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    (stored,) = tmp_path.rglob("traces.jsonl")
    episodes = [json.loads(line) for line in stored.read_text().splitlines()]
    traces = [trace for episode in episodes for trace in episode["traces"]]
    assert [trace["info"]["hone"]["outcomes"] for trace in traces] == [["no_code"]] * 2


def test_the_command_of_its_page_works_as_printed(model: Model, real: RealServer, tmp_path: Any) -> None:
    page = (ROOT / "docs/trainers/verifiers.md").read_text()
    (command,) = re.findall(r"^```sh no-run\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    command = command.replace("http://127.0.0.1:8000/v1", model.url).replace("tcp://127.0.0.1:5917", real.endpoint)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    environment = {name: value for name, value in environment.items() if not name.endswith("_API_KEY")}
    shell = ["bash", "-euc", command]
    done = subprocess.run(
        shell,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (stored,) = tmp_path.rglob("traces.jsonl")
    episodes = [json.loads(line) for line in stored.read_text().splitlines()]
    assert len(episodes) == 8
    outcomes = {outcome for e in episodes for t in e["traces"] for outcome in t["info"]["hone"]["outcomes"]}
    assert outcomes == {"no_code"}
