"""Ray workers that share one hone through an actor: concurrently, with faults, and when one dies."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ray
from hone.adapters.ray import HoneActor, play

from calls import answers, call
from scripted import ScriptedServer
from servers import ROOT, SECONDS_MAX, RealServer, Script

GOLDEN = ROOT / "envs/kernel_refine/tasks/add_relu/golden"


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    ray.init(num_cpus=2, include_dashboard=False, logging_level="warning")
    yield
    ray.shutdown()


@ray.remote(num_cpus=0.2)
def worker(hone: Any, words: list[str], task: str | None) -> dict[str, Any]:
    answers = iter(words)
    return play(hone, lambda messages: next(answers), task, group="a group")


def test_workers_play_at_the_same_time(scripted: ScriptedServer) -> None:
    hone = HoneActor.remote(scripted.endpoint, {"max_turns": 3})
    assert ray.get(hone.tasks.remote()) == ["tasks/add_relu"]
    words = ["crash", "wrong", "slow"]
    played = ray.get([worker.remote(hone, words, "add_relu") for _ in range(8)])
    for one in played:
        assert (one["task"], one["turns"], one["reward_valid"]) == ("tasks/add_relu", 3, True)
        assert one["turn_rewards"] == [0.0, 0.1, 0.4]
        assert one["score"] == pytest.approx(0.5)
        assert one["outcomes"] == ["crashed", "wrong", "correct"]
    assert ray.get(hone.open.remote()) == 0
    assert scripted.seen["hello"] == 1  # one connection for them all


def test_a_real_verdict(real: RealServer) -> None:
    hone = HoneActor.remote(real.endpoint, {"max_turns": 1})
    answer = f"```cpp\n{(GOLDEN / 'demo_4_fused.cpp').read_text()}```"
    one = ray.get(worker.remote(hone, [answer], "add_relu"))
    assert (one["outcomes"], one["reward_valid"]) == (["correct"], True)
    assert [message["role"] for message in one["messages"]] == ["system", "user", "assistant", "user"]


def test_a_fault_has_no_score(scripted: ScriptedServer) -> None:
    hone = HoneActor.remote(scripted.endpoint)
    one = ray.get(worker.remote(hone, ["wrong", "fault"], "add_relu"))
    assert (one["score"], one["reward_valid"], one["turn_rewards"]) == (None, False, [0.1, None])
    assert "the judge's process died" in one["fault"]
    start = ray.get(hone.start.remote("add_relu"))
    turn = ray.get(hone.step.remote(start["episode"], "fault"))
    assert (turn["reward"], turn["reward_valid"], turn["ended"]) == (None, False, True)


def test_a_lost_episode_begins_again_elsewhere(scripted_pair: list[ScriptedServer]) -> None:
    settings: dict[str, Any] = {"reconnect_timeout": 2.0}
    hone = HoneActor.remote([one.endpoint for one in scripted_pair], {"max_turns": 1}, **settings)
    script = Script(scripted_pair, "wrong", "slow")
    asked: list[list[dict[str, Any]]] = []

    def model(messages: list[dict[str, Any]]) -> str:
        asked.append(list(messages))
        return str(script.pop(0))

    one = play(hone, model, "add_relu", group="a group")
    assert (one["score"], one["turn_rewards"], one["reward_valid"]) == (0.4, [0.4], True)
    assert asked[0] == asked[1], "the conversation begins again"
    assert ray.get(hone.open.remote()) == 0


def test_a_reward_is_paid_once(scripted: ScriptedServer) -> None:
    """A step after the end does not return the last turn's reward again."""
    hone = HoneActor.remote(scripted.endpoint, {"max_turns": 1})
    number = ray.get(hone.start.remote("add_relu"))["episode"]
    last = ray.get(hone.step.remote(number, "wrong"))
    assert (last["reward"], last["ended"]) == (0.1, True)
    after = ray.get(hone.step.remote(number, "wrong"))
    assert (after["reward"], after["ended"]) == (None, True)


TOOLS = {"max_turns": 1, "tools": {"check": 1, "hardware": 1}}


def test_model_calls_tools_in_its_text(scripted: ScriptedServer) -> None:
    hone = HoneActor.remote(scripted.endpoint, TOOLS)
    said = [f"First:\n{call('check', code='wrong')}\n{call('hardware')}", call("check", code="slow"), "slow"]
    seen: list[list[dict[str, Any]]] = []

    def model(messages: list[dict[str, Any]]) -> str:
        seen.append(list(messages))
        return said[len(seen) - 1]

    one = play(hone, model, "add_relu")
    assert (one["score"], one["turn_rewards"], one["tool_calls"]) == (0.4, [0.4], {"check": 1, "hardware": 1})
    assert '{"type": "function", "function": {"name": "check", ' in seen[0][-1]["content"]
    assert [message["role"] for message in seen[2]] == ["user", "assistant", "user", "assistant", "user"]
    spent = "error: tool check: unknown, or no use left; tools with uses left: none"
    assert seen[1][-1]["content"] == answers("check found: wrong", "hardware found: nothing")
    assert seen[2][-1]["content"] == answers(spent)


def test_worker_calls_a_tool(scripted: ScriptedServer) -> None:
    """For workers whose models have function calls."""
    hone = HoneActor.remote(scripted.endpoint, TOOLS)
    start = ray.get(hone.start.remote("add_relu"))
    assert [tool["function"]["name"] for tool in start["tools"]] == ["check", "hardware"]
    assert start["messages"] == [{"role": "user", "content": "Write a kernel."}]
    turn = ray.get(hone.call.remote(start["episode"], "check", '{"code": "wrong"}'))
    assert turn["messages"] == [{"role": "tool", "name": "check", "content": "check found: wrong"}]
    assert (turn["reward"], turn["reward_valid"], turn["ended"]) == (None, True, False)
    assert turn["tools_left"] == {"check": 0, "hardware": 1}
    again = ray.get(hone.call.remote(start["episode"], "check", {"code": "wrong"}))
    assert again["messages"][0]["content"].startswith("error: tool check: unknown, or no use left")
    # A step submits the whole answer, even if it has a call.
    assert ray.get(hone.step.remote(start["episode"], f"slow {call('hardware')}"))["reward"] == 0.4


def test_a_fault_of_a_tool_has_no_score(scripted: ScriptedServer) -> None:
    hone = HoneActor.remote(scripted.endpoint, TOOLS)
    one = play(hone, lambda _: call("check", code="fault"), "add_relu")
    assert (one["score"], one["reward_valid"], one["turn_rewards"]) == (None, False, [])
    assert one["fault"] == "turn 1: tool check: unavailable: the builder's process died"
    number = ray.get(hone.start.remote("add_relu"))["episode"]
    turn = ray.get(hone.call.remote(number, "check", {"code": "fault"}))
    assert (turn["messages"], turn["reward"], turn["reward_valid"], turn["ended"]) == ([], None, False, True)


def test_without_the_option_a_call_is_text(scripted: ScriptedServer) -> None:
    hone = HoneActor.remote(scripted.endpoint, {"max_turns": 1})
    one = play(hone, lambda _: f"slow {call('hardware')}", "add_relu")
    assert (one["score"], one["tool_calls"]) == (0.4, {})
    assert ray.get(hone.start.remote("add_relu"))["tools"] == []


def test_a_wrong_request_reaches_its_worker(scripted: ScriptedServer) -> None:
    hone = HoneActor.remote(scripted.endpoint)
    with pytest.raises(Exception, match="did you mean 'tasks/add_relu'"):
        ray.get(worker.remote(hone, [], "ad_relu"))
    with pytest.raises(KeyError, match="found no episode 7"):
        ray.get(hone.step.remote(7, "slow"))
    assert ray.get(worker.remote(hone, ["slow"] * 4, None))["turns"] == 4


def test_an_episode_whose_worker_died_is_ended(scripted: ScriptedServer) -> None:
    hone = HoneActor.remote(scripted.endpoint, idle_s=0.0)
    ray.get(hone.start.remote("add_relu"))
    ray.get(hone.start.remote("add_relu"))
    assert ray.get(hone.open.remote()) == 1
    assert scripted.seen["close"] == 1


def test_unknown_settings_are_errors(scripted: ScriptedServer) -> None:
    hone = HoneActor.remote(scripted.endpoint, splitt="train")
    with pytest.raises(Exception, match=r"unknown settings \['splitt'\]"):
        ray.get(hone.tasks.remote())


def test_the_example(real: RealServer, tmp_path: Path) -> None:
    example = ROOT / "clients/python/examples/trainers/ray_workers.py"
    assert len(example.read_text().splitlines()) < 60
    (tmp_path / "add_relu.md").write_text(f"```cpp\n{(GOLDEN / 'demo_4_fused.cpp').read_text()}```")
    (tmp_path / "saxpy.md").write_text("no code")
    arguments = [sys.executable, str(example), str(tmp_path), real.endpoint]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^add_relu: 0\.[3-9]|^add_relu: [12]\.", done.stdout, re.MULTILINE), done.stdout
    assert "saxpy: 0.000 (2 of 2 samples)" in done.stdout


def test_the_block_of_its_page(scripted: ScriptedServer) -> None:
    page = (ROOT / "docs/trainers/ray.md").read_text()
    blocks = re.findall(r"^```python name=ray\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1
    given: dict[str, Any] = {"my_model": lambda messages: "slow"}
    exec(compile(blocks[0].replace("tcp://127.0.0.1:5917", scripted.endpoint), "ray.md", "exec"), given)
    assert [one["score"] for one in given["played"]] == [pytest.approx(1.6)]
