"""Rollouts end to end, with a stub endpoint and a server: interrupted, resumed, refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hone import trajectories
from hone.rollout._attempt import Attempt, Turn
from hone.rollout._summary import fast_p

from chat_stub import Body, ChatStub, Reply
from conftest import ROOT, RealServer
from recorded import RecordedServer, answer, traces
from scripted import ScriptedServer

GOLDEN = ROOT / "envs/kernel_refine/tasks/add_relu/golden"
Serve = Callable[[Callable[[Body, str], Reply]], ChatStub]
Json = dict[str, Any]
ADD = ("--tasks", "add_relu", "--model", "stub", "--retry-wait", "0.01")


@pytest.fixture
def serve() -> Iterator[Serve]:
    stubs: list[ChatStub] = []

    def start(say: Callable[[Body, str], Reply]) -> ChatStub:
        stubs.append(ChatStub(say))
        return stubs[-1]

    yield start
    for stub in stubs:
        stub.stop()


@pytest.fixture
def recorded() -> Iterator[RecordedServer]:
    server = RecordedServer(traces())
    yield server
    server.stop()


def start(url: str, endpoint: str, output: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "hone.rollout", "--url", url, "--endpoint", endpoint, "--output", str(output)]
    environment = {**os.environ, "NO_PROXY": "127.0.0.1"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([*command, "--json", *arguments], text=True, env=environment, **pipes)


def rollout(url: str, endpoint: str, output: Path, *arguments: str, status: int = 0) -> tuple[Json, str]:
    """The summary, and what was said on standard error."""
    process = start(url, endpoint, output, *arguments)
    said, errors = process.communicate(timeout=100)
    assert process.returncode == status, errors
    return json.loads(said) if said else {}, errors


def rows(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def without_times(trace: Json) -> Json:
    """A trace's own words and figures, less when they were noted and in whose words."""

    def plain(result: Json) -> Json:
        figures = {key: round(value, 9) for key, value in result.items() if isinstance(value, float)}
        return {**result, **figures, "timestamp": "", "error": bool(result["error"])}

    turns = [{**turn, "result": plain(turn["result"])} for turn in trace["turns"]]
    return {**trace, "turns": turns, "final_result": plain(trace["final_result"]), "timestamp": ""}


RECORDED = ("--kernelbook-samples", "7", "--kernelbench-samples", "2", "--multi-turn", "--batch-size", "3")


def test_recorded_episodes_come_out_as_they_went_in(serve: Serve, recorded: RecordedServer, tmp_path: Path) -> None:
    stub = serve(partial(answer, traces()))
    prices = ("--price-input", "1000", "--price-output", "0")
    told, _ = rollout(stub.url, recorded.endpoint, tmp_path / "out.json", *RECORDED, *prices)
    assert (told["samples"], told["finished"], told["correct"], told["answers"]) == (9, 9, 9, 31)
    assert told["fast_p"] == pytest.approx({"0": 1, "0.5": 7 / 9, "0.8": 7 / 9, "1": 4 / 9, "1.5": 2 / 9, "2": 2 / 9})
    assert told["by_dataset"]["kernelbench"]["1"] == 0.5
    assert told["stop_reasons"] == {"max_turns_reached": 6, "success_fast": 3}
    assert (told["tokens"]["prompt"], told["spend"]) == (3100, pytest.approx(3.1))
    assert told["kept"] == 9
    written = {trace["sample_key"]: trace for trace in json.loads((tmp_path / "out.json").read_text())}
    for trace in traces():
        mine, theirs = without_times(written[trace["sample_key"]]), without_times(trace)
        for turn in (*mine["turns"], *theirs["turns"]):
            turn["feedback_given"] = bool(turn["feedback_given"])  # the words are hone's own
        assert list(mine) == list(theirs)
        assert len(mine.pop("full_messages")) == len(theirs.pop("full_messages"))
        for part in (mine, theirs):  # what surrounds the code is taken off alike
            part["final_triton_code"] = part["final_triton_code"].strip()
            part["pytorch_code"] = part["pytorch_code"].strip("\n")
            for turn in part["turns"]:
                turn["triton_code"] = turn["triton_code"].strip()
        for key in mine:
            assert mine[key] == theirs[key], key


def test_killed_run_repeats_no_request(serve: Serve, recorded: RecordedServer, tmp_path: Path) -> None:
    whole = serve(partial(answer, traces()))
    rollout(whole.url, recorded.endpoint, tmp_path / "whole.json", *RECORDED)
    held: list[str] = []
    done = threading.Event()

    def until_half(body: Body, request_id: str) -> Reply:
        if sum(stub.answered.values()) >= 15 and not done.is_set():
            with stub.changed:
                held.append(request_id)
                stub.changed.notify_all()
            assert done.wait(60)
        return answer(traces(), body, request_id)

    stub = serve(until_half)
    process = start(stub.url, recorded.endpoint, tmp_path / "cut.json", *RECORDED)
    stub.wait_for(lambda: len(held) == 3)  # every worker waits, so that each answer that was sent is recorded
    process.kill()
    process.communicate()
    done.set()
    before = {key for key in stub.asked if key not in held}
    with (tmp_path / "cut.ledger.jsonl").open("a") as ledger:
        ledger.write('{"event": "answer", "key": "kern')  # a line that the kill cut
    recorded.episodes.clear()  # and the server has forgotten its episodes, too
    told, _ = rollout(stub.url, recorded.endpoint, tmp_path / "cut.json", *RECORDED)
    assert told["finished"] == 9
    assert {key: stub.asked[key] for key in before} == dict.fromkeys(before, 1)
    assert {key: stub.asked[key] for key in held} == dict.fromkeys(held, 2)  # for these had no answer
    assert set(stub.asked) == set(whole.asked)
    one, other = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("whole", "cut"))
    assert [without_times(trace) for trace in one] == [without_times(trace) for trace in other]
    again, _ = rollout(stub.url, recorded.endpoint, tmp_path / "cut.json", *RECORDED)
    assert again["answers"] == 31
    assert sum(stub.asked.values()) == 31 + len(held)


def fenced(name: str) -> str:
    return f"<think>Hm.</think>Here:\n```cpp\n{(GOLDEN / name).read_text()}```\n"


@pytest.mark.real
def test_a_real_server_and_a_kill(serve: Serve, real: RealServer, tmp_path: Path) -> None:
    script = {1: "demo_1_wrong.cpp", 2: "build_typo.cpp", 3: "demo_3_slow.cpp"}
    stopped = threading.Event()

    def say(body: Body, request_id: str) -> Reply:
        turn = int(request_id.rpartition("/")[2])
        assert [message["role"] for message in body["messages"]][2:] == ["assistant", "user"] * (turn - 1)
        if turn == 3 and not stopped.is_set():
            assert stopped.wait(60)
        return Reply(fenced(script[turn]))

    stub = serve(say)
    arguments = (*ADD, "--samples", "2", "--multi-turn", "--max-turns", "3", "--reward", "kevin")
    process = start(stub.url, real.endpoint, tmp_path / "out.json", *arguments)
    last = ["tasks/add_relu#0/1/3", "tasks/add_relu#1/1/3"]
    stub.wait_for(lambda: all(stub.asked[key] for key in last))  # so the answers of the others are recorded
    process.kill()
    process.communicate()
    stopped.set()
    episodes = [row["episode"] for row in rows(tmp_path / "out.ledger.jsonl") if row["event"] == "start"]
    told, _ = rollout(stub.url, real.endpoint, tmp_path / "out.json", *arguments)
    assert (told["samples"], told["finished"], told["correct"], told["answers"]) == (2, 2, 2, 6)
    assert {key: count for key, count in stub.asked.items() if count > 1} == dict.fromkeys(last, 2)
    for trace in json.loads((tmp_path / "out.json").read_text()):
        assert [turn["result"]["correctness"] for turn in trace["turns"]] == [False, False, True]
        assert trace["turns"][1]["result"]["error"].startswith("build_failed: ")
        assert trace["turns"][2]["triton_code"] == (GOLDEN / "demo_3_slow.cpp").read_text().strip()
        assert trace["turns"][2]["result"]["kernel_time_ms"] > 0
        assert trace["stop_reason"] == "max_turns_reached"
    mine = rows(tmp_path / "out.hone.jsonl")
    assert sorted(row["episode"] for row in mine) == sorted(episodes)  # taken over, not begun anew
    assert [turn["verdict"]["outcome"] for turn in mine[0]["turns"]] == ["wrong", "build_failed", "correct"]
    assert mine[0]["reward"]["name"] == "kevin"
    assert len(mine[0]["returns"]) == 3
    assert mine[0]["messages"][mine[0]["turns"][2]["message"]]["content"] == fenced("demo_3_slow.cpp")
    assert trajectories.to_parquet(tmp_path / "out.hone.jsonl", tmp_path / "out.parquet") == 2
    assert trajectories.to_parquet(tmp_path / "out.sft.jsonl", tmp_path / "sft.parquet", form="sft") == 2
    sft = rows(tmp_path / "out.sft.jsonl")[0]
    assert [message["role"] for message in sft["messages"]] == [
        "system",
        "user",
        *["assistant", "user"] * 2,
        "assistant",
    ]


@pytest.mark.real
def test_a_refusal_and_a_very_long_answer_are_turns(serve: Serve, real: RealServer, tmp_path: Path) -> None:
    def say(_: Body, request_id: str) -> Reply:
        if request_id.endswith("/1"):
            return Reply("", message={"refusal": "I cannot help with that."})
        return Reply("```cpp\n" + "// a comment that goes on\n" * 8_000 + "```")

    told, _ = rollout(serve(say).url, real.endpoint, tmp_path / "out.json", *ADD, "--multi-turn", "--max-turns", "2")
    assert (told["finished"], told["correct"], told["tried_again"]) == (1, 0, 1)
    (trace,) = json.loads((tmp_path / "out.json").read_text())
    errors = [turn["result"]["error"].partition(":")[0] for turn in trace["turns"]]
    assert errors == ["no_code", "build_failed"]
    assert len(trace["turns"][1]["full_completion"]) > 200_000


def called(number: int, name: str, **arguments: str) -> Body:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": f"c{number}", "type": "function", "function": function}


@pytest.mark.real
@pytest.mark.parametrize("stream", [False, True])
def test_model_uses_tools_until_they_are_spent(serve: Serve, real: RealServer, tmp_path: Path, stream: bool) -> None:
    wrong, right = ((GOLDEN / name).read_text() for name in ("demo_1_wrong.cpp", "demo_3_slow.cpp"))
    script = [
        [called(1, "check", code=wrong), called(2, "compile", code=right)],
        [called(3, "check", code=right), called(4, "profil", code=right)],
        [called(5, "hardware")],  # no use is left, but this model calls on
    ]

    def say(body: Body, request_id: str) -> Reply:
        number = sum(message["role"] == "assistant" for message in body["messages"])
        assert [tool["function"]["name"] for tool in body["tools"]] == ["check", "compile"]
        if number < 3:
            calls = [{**call, "index": i} for i, call in enumerate(script[number])]
            return Reply("I look first." if number == 0 else "", message={"tool_calls": calls}, finish="tool_calls")
        return Reply(fenced("demo_3_slow.cpp"))

    stub = serve(say)
    arguments = (*ADD, "--tools", "check=2,compile=1", "--multi-turn", "--max-turns", "2", "--once")
    told, _ = rollout(stub.url, real.endpoint, tmp_path / "out.json", *arguments, *(["--stream"] if stream else []))
    assert (told["finished"], told["correct"], told["answers"]) == (1, 1, 2)
    assert told["tool_calls"] == {"check": 2, "compile": 1}
    assert told["tokens"]["prompt"] == 400, "answers that call tools count"
    assert [body["tool_choice"] for body in stub.bodies] == ["auto", "auto", "none", "none"]
    key = "tasks/add_relu#0/1/"
    assert set(stub.asked) == {f"{key}1", f"{key}1.1", f"{key}1.2", f"{key}2"}
    (row,) = rows(tmp_path / "out.hone.jsonl")
    roles = "system user assistant tool tool assistant tool tool assistant user assistant user"
    assert [message["role"] for message in row["messages"]] == roles.split()
    first, compiled, second, unknown = (m["content"] for m in row["messages"] if m["role"] == "tool")
    assert "wrong" in first.lower()
    assert compiled.startswith("The kernel builds.")
    assert "correct" in second.lower()
    assert unknown == "error: tool profil: unknown, or no use left; tools with uses left: none"
    assert [call["tool"] for call in row["calls"]] == ["check", "compile", "check"]
    assert [call["call"] for call in row["calls"]] == [1, 2, 3]
    assert [row["messages"][call["message"]]["role"] for call in row["calls"]] == ["assistant"] * 3
    assert [turn["verdict"]["outcome"] for turn in row["turns"]] == ["no_code", "correct"]
    assert trajectories.to_parquet(tmp_path / "out.hone.jsonl", tmp_path / "out.parquet") == 1


@pytest.mark.real
def test_killed_run_repeats_no_tool_call(serve: Serve, real: RealServer, tmp_path: Path) -> None:
    right = (GOLDEN / "demo_3_slow.cpp").read_text()
    stopped = threading.Event()

    def say(body: Body, request_id: str) -> Reply:
        if request_id.endswith("/1"):
            return Reply("", message={"tool_calls": [called(1, "compile", code=right)]})
        if not stopped.is_set():
            assert stopped.wait(60)
        return Reply(fenced("demo_3_slow.cpp"))

    stub = serve(say)
    arguments = (*ADD, "--tools", "compile=1")
    process = start(stub.url, real.endpoint, tmp_path / "out.json", *arguments)
    stub.wait_for(lambda: stub.asked["tasks/add_relu#0/1/1.1"] == 1)
    process.kill()
    process.communicate()
    stopped.set()
    told, _ = rollout(stub.url, real.endpoint, tmp_path / "out.json", *arguments)
    assert (told["finished"], told["correct"], told["tool_calls"]) == (1, 1, {"compile": 1})
    assert stub.asked["tasks/add_relu#0/1/1"] == 1
    assert [row["event"] for row in rows(tmp_path / "out.ledger.jsonl")][1:] == [
        *("start", "answer", "called", "answer", "judged"),
    ]


def test_once_asks_for_no_second_attempt(serve: Serve, scripted: ScriptedServer, tmp_path: Path) -> None:
    stub = serve(lambda _, request_id: Reply("wrong"))
    told, _ = rollout(stub.url, scripted.endpoint, tmp_path / "out.json", *ADD, "--samples", "3", "--once")
    assert (told["finished"], told["correct"], told["tried_again"], told["answers"]) == (3, 0, 0, 3)


def test_unmeasured_result_makes_fast_p_unknown() -> None:
    def attempt(outcome: str, speedup: float | None) -> Attempt:
        verdict = {"outcome": outcome, "speedup": None if speedup is None else {"value": speedup}}
        result = {"reward_valid": True, "info": {"verdict": verdict}, "terminated": True, "truncated": False}
        return Attempt("tasks/add_relu", 0, 1, 1, turns=[Turn({"text": ""}, 0.0, result)])

    measured = [attempt("correct", 1.5), attempt("wrong", None)]
    assert [fast_p(measured, p) for p in (0.0, 1.0, 2.0)] == [0.5, 0.5, 0.0]
    unmeasured = [*measured, attempt("correct", None)]
    assert [fast_p(unmeasured, p) for p in (0.0, 1.0)] == [2 / 3, None]


def test_a_wholly_failed_sample_is_queued_once_more(serve: Serve, scripted: ScriptedServer, tmp_path: Path) -> None:
    stub = serve(lambda _, request_id: Reply("slow" if "#1/2/2" in request_id else "wrong"))
    arguments = (*ADD, "--samples", "3", "--multi-turn", "--max-turns", "2", "--batch-size", "1")
    told, _ = rollout(stub.url, scripted.endpoint, tmp_path / "out.json", *arguments)
    assert (told["finished"], told["correct"], told["tried_again"]) == (3, 1, 3)
    assert list(stub.asked) == [f"tasks/add_relu#{s}/{a}/{t}" for a in (1, 2) for s in (0, 1, 2) for t in (1, 2)]
    again, _ = rollout(stub.url, scripted.endpoint, tmp_path / "out.json", *arguments)
    assert again["answers"] == 12  # a third attempt there is not
    kept = rows(tmp_path / "out.sft.jsonl")
    assert [row["messages"][-1]["content"] for row in kept] == ["slow"]
    assert len(rows(tmp_path / "out.hone.jsonl")) == 6


def test_a_fault_is_no_failure_of_the_model(serve: Serve, scripted: ScriptedServer, tmp_path: Path) -> None:
    stub = serve(
        lambda _, request_id: Reply("fault" if request_id.endswith(("#0/1/1", "#1/1/1", "#1/2/1")) else "good")
    )
    told, _ = rollout(stub.url, scripted.endpoint, tmp_path / "out.json", *ADD, "--samples", "2")
    assert (told["finished"], told["correct"], told["unscored"]) == (2, 1, 1)
    assert told["fast_p"]["0"] == 1.0  # of the one that was scored
    first, second = json.loads((tmp_path / "out.json").read_text())
    assert (first["stop_reason"], second["stop_reason"]) == ("max_turns_reached", "fault")
    assert second["final_result"]["error"] == "not scored: the judge's process died"


def test_a_conversation_that_the_endpoint_refuses_is_over(
    serve: Serve, scripted: ScriptedServer, tmp_path: Path
) -> None:
    stub = serve(lambda _, request_id: Reply("too long", 400) if request_id.endswith("#0/1/2") else Reply("wrong slow"))
    arguments = (*ADD, "--samples", "2", "--multi-turn", "--max-turns", "2", "--batch-size", "1")
    told, _ = rollout(stub.url, scripted.endpoint, tmp_path / "out.json", *arguments)
    assert told["stop_reasons"]["request_refused"] == 1
    assert stub.asked["tasks/add_relu#0/1/2"] == 1


@pytest.mark.parametrize(("status", "said"), [(401, "401 Unauthorized: no"), (400, "400 Bad Request: no")])
def test_an_endpoint_that_takes_nothing_ends_the_run(
    serve: Serve, scripted: ScriptedServer, tmp_path: Path, status: int, said: str
) -> None:
    stub = serve(lambda *_: Reply("no", status))
    told, errors = rollout(
        stub.url, scripted.endpoint, tmp_path / "o.json", *ADD, "--samples", "9", "--batch-size", "1", status=3
    )
    assert told == {}
    assert said in errors
    assert "the same command goes on from here" in errors
    assert sum(stub.asked.values()) == 1


def test_failed_run_can_be_continued(serve: Serve, scripted: ScriptedServer, tmp_path: Path) -> None:
    broken = True
    stub = serve(lambda _, key: Reply("down", 500) if broken and key.endswith("#1/1/2") else Reply("slow"))
    arguments = (*ADD, "--samples", "2", "--retries", "1", "--multi-turn", "--max-turns", "2")
    told, errors = rollout(stub.url, scripted.endpoint, tmp_path / "o.json", *arguments, status=3)
    assert (told["samples"], told["finished"], told["retries"]) == (2, 1, 1)
    assert "tasks/add_relu#1: 500 Internal Server Error: down (asked 2 times)" in errors
    broken = False
    told, _ = rollout(stub.url, scripted.endpoint, tmp_path / "o.json", *arguments)
    assert told["finished"] == 2
    assert stub.answered == {f"tasks/add_relu#{s}/1/{t}": 1 for s in (0, 1) for t in (1, 2)} | {
        key: count for key, count in stub.answered.items() if not count
    }


def test_ctrl_c_keeps_finished_results(serve: Serve, scripted: ScriptedServer, tmp_path: Path) -> None:
    never = threading.Event()
    stub = serve(lambda _, key: Reply("slow") if "#0/" in key or never.is_set() or never.wait(60) else Reply(""))
    arguments = (*ADD, "--samples", "2", "--batch-size", "1")
    process = start(stub.url, scripted.endpoint, tmp_path / "out.json", *arguments)
    stub.wait_for(lambda: stub.asked["tasks/add_relu#1/1/1"] == 1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    never.set()
    assert process.returncode == 130
    assert "interrupted; the same command goes on" in errors
    assert len(json.loads((tmp_path / "out.json").read_text())) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--kernelbench-samples", "5"), "has no dataset 'kernelbench' for its backend; it has: tasks (1 tasks)."),
        (("--kernelbook-samples", "5"), "datasets: [{name: kernelbook, …}]"),
        (("--dataset", "tasks:2"), "found 1 tasks in the dataset 'tasks', expected 2"),
        (("--dataset", "tasks:x"), "--dataset: found 'tasks:x', expected NAME or NAME:COUNT"),
        (("--tasks", "softmax"), "the server has no task 'softmax'; it has: tasks (1 tasks)."),
        ((), "name what to play: --tasks, --dataset, --kernelbench-samples or --kernelbook-samples"),
        (("--tasks", "*", "--max-turns", "2"), "--max-turns is for --multi-turn"),
        (("--tasks", "*", "--api-key-file", "/nonexistent"), "--api-key-file: /nonexistent: "),
        (("--tasks", "*", "--url", "127.0.0.1:8000"), "--url: found '127.0.0.1:8000', expected something like http://"),
        (("--tasks", "*", "--samples", "0"), "argument --samples: found 0, expected at least 1"),
    ],
)
def test_wrong_usage_is_reported(
    arguments: tuple[str, ...], said: str, scripted: ScriptedServer, tmp_path: Path
) -> None:
    _, errors = rollout("http://127.0.0.1:9", scripted.endpoint, tmp_path / "o.json", *arguments, status=2)
    assert said in errors
    assert "Traceback" not in errors


def test_a_wrong_option_is_reported_once_and_can_be_corrected(serve: Serve, real: RealServer, tmp_path: Path) -> None:
    stub = serve(lambda *_: Reply("no kernel"))
    words = (*ADD, "--samples", "3")
    _, errors = rollout(stub.url, real.endpoint, tmp_path / "o.json", *words, "--tools", "chek=1", status=2)
    assert errors.count("unknown key 'chek'; did you mean 'check'?") == 1
    told, _ = rollout(stub.url, real.endpoint, tmp_path / "o.json", *words, "--tools", "check=1")
    assert told["finished"] == 3


@pytest.mark.parametrize("refused", [{1}, {6}, set(range(1, 11))], ids=["first", "later", "ten"])
def test_refused_samples_do_not_end_the_run(
    serve: Serve, scripted: ScriptedServer, tmp_path: Path, refused: set[int]
) -> None:
    """Whether the first or a later sample is refused, all others are played."""
    scripted.refused_resets = refused
    stub = serve(lambda *_: Reply("slow"))
    words = (*ADD, "--samples", "12", "--batch-size", "1")
    told, errors = rollout(stub.url, scripted.endpoint, tmp_path / "o.json", *words, status=3)
    assert told["finished"] == 12 - len(refused)
    assert errors.count("options: unknown key 'x'") == len(refused)
    told, _ = rollout(stub.url, scripted.endpoint, tmp_path / "o.json", *words)
    assert told["finished"] == 12


def test_a_run_of_which_all_samples_are_refused_is_wrong_usage(
    serve: Serve, scripted: ScriptedServer, tmp_path: Path
) -> None:
    scripted.refused_resets = set(range(1, 13))
    stub = serve(lambda *_: Reply("slow"))
    told, errors = rollout(stub.url, scripted.endpoint, tmp_path / "o.json", *ADD, "--samples", "12", status=2)
    assert told == {}
    assert errors.count("options: unknown key 'x'") == 1
    assert scripted.seen["reset"] == 12


def test_a_ledger_is_of_one_rollout_at_a_time(serve: Serve, scripted: ScriptedServer, tmp_path: Path) -> None:
    release = threading.Event()
    stub = serve(lambda *_: Reply("slow") if release.wait(60) else Reply(""))
    process = start(stub.url, scripted.endpoint, tmp_path / "o.json", *ADD)
    stub.wait_for(lambda: bool(stub.asked))
    _, errors = rollout(stub.url, scripted.endpoint, tmp_path / "o.json", *ADD, status=2)
    assert "o.ledger.jsonl: another rollout is writing to it" in errors
    release.set()
    process.communicate(timeout=60)
    ledger = tmp_path / "o.ledger.jsonl"
    assert ledger.stat().st_mode & 0o777 == 0o600
    _, errors = rollout(stub.url, scripted.endpoint, tmp_path / "o.json", *ADD, "--samples", "2", status=2)
    assert "belongs to a rollout with samples = 1, found 2: name another --output" in errors
    lines = ledger.read_text().splitlines()
    ledger.write_text("\n".join([lines[0], "spoilt", *lines[1:]]) + "\n")
    _, errors = rollout(stub.url, scripted.endpoint, tmp_path / "o.json", *ADD, status=2)
    assert "o.ledger.jsonl:2: expected a JSON object; the file is damaged" in errors


def test_missing_server_is_reported(tmp_path: Path, serve: Serve) -> None:
    stub = serve(lambda *_: Reply("slow"))
    _, errors = rollout(stub.url, "ipc:///nonexistent/hone", tmp_path / "o.json", *ADD, status=3)
    assert "hone rollout: ipc:///nonexistent/hone: " in errors
    assert not stub.asked


@pytest.mark.real
def test_hone_rollout_is_the_same_program(real: RealServer, tmp_path: Path) -> None:
    environment = {**os.environ, "HONE_PYTHON": sys.executable}
    command = [os.environ["HONE_BINARY"], "rollout", "--url", "http://127.0.0.1:9", "--output", "o.json"]
    command += ["--endpoint", real.endpoint, "--kernelbench-samples", "5"]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=60, check=False, cwd=tmp_path
    )
    assert done.returncode == 2
    assert "hone rollout: the server has no dataset 'kernelbench' for its backend; it has: tasks (" in done.stderr


def test_missing_httpx_prints_one_line_with_the_command() -> None:
    program = "import sys; sys.modules['httpx'] = None\nimport hone.rollout"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    said = "ModuleNotFoundError: hone.rollout needs httpx, which is not installed: pip install 'hone-rl[rollout]'"
    assert said in done.stderr
