"""A Python environment from `hone new`: episodes on a real server, and mistakes in the plugin."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import hone
import pytest

from conftest import RealServer

BROKEN = """
import os
import time


class Environment:
    def start(self, episode):
        return {"feedback": "Pick.", "messages": [{"role": "system", "content": "Pick."}], "space": [1, 2]}

    def prepare(self, episode, action):
        pick = action.get("pick")
        if pick == "raise":
            raise ValueError("no pick is called 'raise'")
        if pick == "fail":
            return 1 / 0
        if pick == "exit":
            os._exit(3)
        if pick == "answer":
            return {"outcome": "fast"}
        while pick.startswith("/") and not os.path.exists(pick):
            time.sleep(0.01)
        return {"outcome": "rejected", "reason": f"turn {len(episode['turns']) + 1}: {pick}"}

    def observe(self, episode, action, result):
        if action["pick"] == "unseen":
            return 1 / 0
        return f"{result['verdict']['outcome']}, reward {result['reward']}"
"""


def made(folder: Path) -> Path:
    """What hone new writes."""
    subprocess.run([os.environ["HONE_BINARY"], "new", "environment", "my_env"], cwd=folder, check=True)
    return folder / "my_env.py"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("environments")
    broken = folder / "broken.py"
    broken.write_text(BROKEN)
    named = ["--set", f"environment.name={made(folder)}", "--set", f"plugins.paths=[{broken}]"]
    named += ["--set", "plugins.call_seconds=200"]
    server = RealServer(folder / "serve.log", 0, *named)
    yield server.endpoint
    server.stop()


@pytest.mark.real
def test_the_environment_that_hone_new_writes_is_the_default_and_plays(served: str) -> None:
    with hone.connect(served) as client:
        assert set(client.server["environments"]) == {"my_env", "kernel_refine", "autotune", "broken"}
        about = client.describe(environment="my_env")["environment"]
        assert about["space"]["tile"] == [16, 64, 256]
        assert about["name"] == "my_env"
        start = client.reset(options={"max_turns": 3})
        assert "`tile`: one of [16, 64, 256]" in start.observation["messages"][0]["content"]
        choice = {"tile": 64, "unroll": 4, "order": "rows"}
        result = start.episode.step(action={"choice": choice})
        assert result.info["verdict"]["outcome"] == "correct"
        assert result.observation["choice"] == choice
        assert "correct: " in result.observation["feedback"]
        assert (result.observation["turn"], result.observation["turns_left"]) == (1, 2)
        result = start.episode.step("I would rather not.")
        assert result.info["verdict"]["outcome"] == "no_code"
        result = start.episode.step(action={"response": 'So: {"tile": 17, "unroll": 4, "order": "rows"}'})
        assert result.info["verdict"]["outcome"] == "rejected"
        assert "tile: found 17, expected one of [16, 64, 256]" in result.info["verdict"]["reason"]
        assert result.truncated


@pytest.mark.real
def test_a_task_without_its_tags_is_refused(served: str) -> None:
    with hone.connect(served) as client, pytest.raises(hone.InvalidArgument, match="cannot be used in the environment"):
        client.reset("add_relu")


@pytest.mark.real
def test_a_mistake_leaves_the_turn_open_and_a_failure_costs_a_call(served: str) -> None:
    with hone.connect(served) as client:
        start = client.reset("add_relu", environment="broken")
        assert start.observation["space"] == [1, 2]
        for pick, error, words in (
            ("raise", hone.InvalidArgument, "no pick is called 'raise'"),
            ("fail", hone.HoneError, "broken.py:[0-9]+: ZeroDivisionError: division by zero"),
            ("exit", hone.HoneError, "its plugin host exited with status 3"),
            ("answer", hone.HoneError, "expected 'source', or an 'outcome' of no_code or rejected"),
        ):
            with pytest.raises(error, match=words):
                start.episode.step(action={"pick": pick})
        result = start.episode.step(action={"pick": "first"})
        assert result.info["verdict"]["reason"] == "turn 1: first"
        assert result.observation["feedback"] == f"rejected, reward {result.reward}"
        result = start.episode.step(action={"pick": "unseen"})
        assert result.reward_valid
        assert "The environment broken failed: " in result.observation["feedback"]
        assert "ZeroDivisionError" in result.observation["feedback"]


@pytest.mark.real
def test_waiting_environment_does_not_delay_others(served: str, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    with hone.connect(served) as client, ThreadPoolExecutor(1) as pool:
        waiting = client.reset("add_relu", environment="broken").episode
        other = client.reset("add_relu", environment="kernel_refine").episode
        late = pool.submit(waiting.step, action={"pick": str(gate)})
        try:
            assert other.step(action={"response": "no code here"}).info["verdict"]["outcome"] == "no_code"
            assert client.describe(environment="kernel_refine")["environment"]["name"] == "kernel_refine"
            assert not late.done()
        finally:
            gate.touch()
        assert late.result(200).info["verdict"]["outcome"] == "rejected"


@pytest.mark.real
def test_a_journal_is_exported_and_replayed_with_its_environment(tmp_path: Path) -> None:
    binary, journal = os.environ["HONE_BINARY"], tmp_path / "run.db"
    named = ["--set", f"environment.name={made(tmp_path)}"]
    server = RealServer(tmp_path / "serve.log", 0, *named, "--set", f"journal.path={journal}")
    try:
        with hone.connect(server.endpoint) as client:
            start = client.reset(options={"max_turns": 1})
            start.episode.step(action={"response": '{"tile": 17, "unroll": 1, "order": "depth"}'})
    finally:
        server.stop()

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [binary, *arguments, "--journal", str(journal)], capture_output=True, text=True, check=False
        )

    exported = run("export", *named)
    assert exported.returncode == 0, exported.stderr
    assert json.loads(exported.stdout)["messages"][0]["content"].count("`tile`") == 1
    replayed = run("replay", json.loads(exported.stdout)["episode"], *named, "--json")
    assert replayed.returncode == 0, replayed.stderr
    without = run("export")
    assert without.returncode != 0
    assert "my_env" in without.stderr


@pytest.mark.real
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("class Environment:\n    def start(self, e): return ''\n", "class Environment has no method prepare()"),
        ("class Environment(: pass\n", "SyntaxError"),
        (
            BROKEN.replace("class Environment:", "class Environment:\n    tags = 'autotune'"),
            "tags: expected a list of texts",
        ),
    ],
)
def test_unusable_environment_is_an_error_at_the_start(tmp_path: Path, source: str, said: str) -> None:
    (tmp_path / "mine.py").write_text(source)
    ran = subprocess.run(
        [os.environ["HONE_BINARY"], "config", "--set", f"environment.name={tmp_path}/mine.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert said in ran.stderr


@pytest.mark.real
def test_unknown_name_is_reported_with_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "hone.yaml").write_text("environment:\n  name: autotone\n")
    binary = os.environ["HONE_BINARY"]
    ran = subprocess.run([binary, "config", tmp_path / "hone.yaml"], capture_output=True, text=True, check=False)
    assert f"{tmp_path}/hone.yaml:2: unknown environment 'autotone'; did you mean 'autotune'?" in ran.stderr


@pytest.mark.real
def test_output_of_hone_new_is_valid(tmp_path: Path) -> None:
    binary = os.environ["HONE_BINARY"]
    ran = subprocess.run([binary, "validate", made(tmp_path)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "environment.name=" in ran.stdout
