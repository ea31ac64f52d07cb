"""The recorded episodes of ../shared/data: answers for a stub endpoint, verdicts for a scripted server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chat_stub import Body, Reply
from scripted import ScriptedServer
from servers import ROOT

FILE = ROOT.parent / "shared/data/traces/reasoning_traces_qwen3_multiturn.json"


def traces() -> list[dict[str, Any]]:
    if not FILE.exists():
        pytest.skip(f"{FILE} is not there")
    found: list[dict[str, Any]] = json.loads(FILE.read_text())
    return found


def task_of(trace: dict[str, Any]) -> str:
    if trace["source"] == "kernelbench":
        return f"kernelbench/level{trace['level']}/{trace['problem_id']}"
    return f"kernelbook/{trace['sample_key'].rpartition('_')[2]}"


def answer(recorded: list[dict[str, Any]], body: Body, request_id: str) -> Reply:
    """What the model said in that turn of that episode."""
    key, _, turn = request_id.split("/", 1)[1].rpartition("#")[0], 0, int(request_id.rpartition("/")[2])
    trace = next(trace for trace in recorded if task_of(trace).split("/", 1)[1] == key)
    assert len(body["messages"]) == 2 * turn
    return Reply(trace["turns"][turn - 1]["full_completion"])


class RecordedServer(ScriptedServer):
    """Serves the tasks of the recorded episodes, and judges each answer as it was judged then."""

    def __init__(self, recorded: list[dict[str, Any]]) -> None:
        self.traces = {task_of(trace): trace for trace in recorded}
        self.turns = {turn["full_completion"]: turn for trace in recorded for turn in trace["turns"]}
        super().__init__()

    def _describe(self, identity: bytes, body: dict[str, Any]) -> dict[str, Any]:
        tasks = [
            {"id": name, "title": trace["name"], "split": "train", "backends": ["cpu"]}
            for name, trace in self.traces.items()
        ]
        return {"environment": {"name": "kernel_refine", "options": {"reward": "scripted"}}, "tasks": tasks}

    def _reset(self, identity: bytes, body: dict[str, Any]) -> dict[str, Any]:
        reply = super()._reset(identity, body)
        trace = self.traces[body["task"]]
        self.episodes[reply["episode"]]["stop"] = body["options"]["stop_speedup"]
        reply["info"]["task"] = body["task"]
        reply["observation"]["task"] = {
            "title": trace["name"],
            "description": f"Faster.\n\nReference:\n\n````python\n{trace['pytorch_code']}\n````",
            "backend": "cpu",
        }
        reply["observation"]["messages"] = trace["full_messages"][:2]
        return reply

    def _step(self, identity: bytes, body: dict[str, Any]) -> dict[str, Any]:
        reply = super()._step(identity, body)
        said = body["action"]["response"]
        result = self.turns[said]["result"]
        speedup = None
        if result["correctness"]:
            measured = {"baseline_us": result["reference_time_ms"] * 1e3, "time_us": result["kernel_time_ms"] * 1e3}
            speedup = {"value": result["speedup"], **measured}
        outcome = "correct" if result["correctness"] else "crashed" if result["error"] else "wrong"
        # The script takes words of an answer for its own.
        reply["reward"], reply["reward_valid"], reply["info"]["fault"] = float(result["correctness"]), True, None
        reply["info"]["verdict"] = {"outcome": outcome, "reason": result["error"], "speedup": speedup}
        feedback = {"role": "user", "content": reply["observation"]["feedback"]}
        reply["observation"]["messages"] = [{"role": "assistant", "content": said}, feedback]
        reply["observation"]["code"] = self.turns[said]["triton_code"]
        stop = self.episodes[body["episode"]]["stop"]
        if stop is not None and result["speedup"] >= stop:
            reply["terminated"], reply["info"]["stop_reason"] = True, "correct and fast enough"
        return reply
