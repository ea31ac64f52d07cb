"""Servers with a journal, killed with SIGKILL and restarted, seen from a trainer and from the command line."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import threading
import urllib.request
from pathlib import Path
from typing import Any

import hone
import hone.aio
import pytest

from conftest import ROOT, RealServer, free_port

GOLDEN = ROOT / "envs" / "kernel_refine" / "tasks" / "add_relu" / "golden"
WRONG = (GOLDEN / "demo_1_wrong.cpp").read_text()
FAST = (GOLDEN / "demo_4_fused.cpp").read_text()

pytestmark = pytest.mark.real


class Journalled:
    """A server on one port and one journal, however often it is started."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.journal, self.port = folder, folder / "run.db", free_port()
        self.server: RealServer | None = None
        self.start()

    def start(self, *arguments: str) -> None:
        journal = f"journal.path={self.journal}"
        self.server = RealServer(self.folder / "serve.log", self.port, "--set", journal, *arguments)

    def kill(self) -> None:
        assert self.server is not None
        self.server.stop(signal.SIGKILL)

    @property
    def endpoint(self) -> str:
        return f"tcp://127.0.0.1:{self.port}"

    def ran(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        binary = os.environ["HONE_BINARY"]
        return subprocess.run([binary, *arguments, "--journal", str(self.journal)], capture_output=True, text=True)

    def command(self, *arguments: str) -> Any:
        ran = self.ran(*arguments)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout


@pytest.fixture
def journalled(tmp_path: Path) -> Any:
    server = Journalled(tmp_path)
    yield server
    assert server.server is not None
    if server.server.process.poll() is None:
        server.server.stop()


def test_an_episode_outlives_its_server(journalled: Journalled) -> None:
    with hone.connect(journalled.endpoint) as client:
        start = client.reset("add_relu")
        first = start.episode.step(WRONG)
        assert first.info["verdict"]["outcome"] == "wrong"
        journalled.kill()
        journalled.start()
        second = start.episode.step(FAST)
        assert second.info["verdict"]["outcome"] == "correct"
        assert len(second.observation["history"]) == 2
    listed = json.loads(journalled.command("episodes", "--json"))
    assert [(one["turns"], one["task"]) for one in listed] == [(2, "tasks/add_relu")]
    assert journalled.command("journal", "check").strip() == "sound, with 1 episode"


def test_view_says_how_to_show_the_prompts_of_other_datasets(journalled: Journalled) -> None:
    journalled.kill()
    datasets = "datasets: [{name: mine, plugin: tasks, config: {path: builtin}}]\n"
    config = journalled.folder / "mine.yaml"
    config.write_text(datasets)
    journalled.start("-c", str(config))
    with hone.connect(journalled.endpoint) as client:
        name = client.reset("mine/add_relu").episode.id
    for arguments in ([], ["-c", str(config)]):
        command = [os.environ["HONE_BINARY"], "view", str(journalled.journal), "--json", "--port", "0", *arguments]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as view:
            assert view.stdout is not None
            url = json.loads(view.stdout.readline())["url"]
            with urllib.request.urlopen(f"{url}/api/episodes/{name}") as reply:
                shown = json.load(reply)
            view.terminate()
        if arguments:
            assert "prompt_note" not in shown
            assert [one["role"] for one in shown["prompt"]][-1] == "user"
        else:
            assert shown["prompt"] == []
            assert "'mine/add_relu'" in shown["prompt_note"]
            assert shown["prompt_note"].endswith("; to show prompts, give a configuration that has the task: -c FILE")


def test_a_journal_may_be_named_without_an_option(journalled: Journalled) -> None:
    with hone.connect(journalled.endpoint) as client:
        name = client.reset("add_relu").episode.id
    hone_binary, journal = os.environ["HONE_BINARY"], str(journalled.journal)
    listed = json.loads(subprocess.check_output([hone_binary, "episodes", journal, "--json"]))
    assert [one["episode"] for one in listed] == [name]
    same = [hone_binary, "episodes", journal, "--journal", journal, "--json"]
    assert json.loads(subprocess.check_output(same)) == listed
    two = [hone_binary, "episodes", journal, "--journal", "other.db"]
    ran = subprocess.run(two, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert f"--journal: found other.db and JOURNAL {journal}, expected one of them" in ran.stderr


def test_a_step_that_is_pending_when_the_server_dies_is_answered(journalled: Journalled) -> None:
    with hone.connect(journalled.endpoint) as client:
        start = client.reset("add_relu")
        results: list[Any] = []
        evaluating = threading.Event()
        pending = threading.Thread(
            target=lambda: results.append(start.episode.step(FAST, on_progress=lambda _: evaluating.set()))
        )
        pending.start()
        assert evaluating.wait(30)
        journalled.kill()
        journalled.start()
        pending.join(timeout=60)
        assert len(results) == 1
        assert results[0].info["verdict"]["outcome"] == "correct"
    exported = [json.loads(line) for line in journalled.command("export").splitlines()]
    assert [len(one["turns"]) for one in exported] == [1], "nothing is done twice"
    assert exported[0]["messages"][0]["role"] == "system"
    assert exported[0]["turns"][0]["reward"] == results[0].reward


def test_another_reward_is_applied_to_an_old_journal(journalled: Journalled) -> None:
    with hone.connect(journalled.endpoint) as client:
        start = client.reset("add_relu")
        start.episode.step(WRONG)
    journalled.kill()
    now = json.loads(journalled.command("rescore", "--reward", "kevin", "--json"))
    assert now[0]["then"]["reward"] == "tritonforge"
    assert now[0]["rewards"] == [0.0], "kevin gives nothing for what is wrong"
    assert now[0]["then"]["return_to_date"] == 0.1


def test_a_branch_tries_another_answer_to_the_same_state(journalled: Journalled) -> None:
    with hone.connect(journalled.endpoint) as client:
        parent = client.reset("add_relu").episode
        first = parent.step(WRONG)
        parent.step(FAST)
        start = parent.branch(1, group="tries")
        assert (start.episode.turn, start.info["parent"], start.info["parent_turn"]) == (1, parent.id, 1)
        assert start.info["group"] == "tries"
        assert start.observation["history"] == first.observation["history"]
        again = client.call("step", {"episode": start.episode.id, "turn": 1, "action": {"code": WRONG}})
        assert again["reward"] == first.reward
        assert again["episode"] == start.episode.id
        assert start.episode.step(FAST).turn == 2
        assert parent.branch().episode.turn == 2
        with pytest.raises(hone.FailedPrecondition, match="found turn 7, expected at most 2"):
            parent.branch(7)


def test_branch_on_the_command_line(journalled: Journalled) -> None:
    with hone.connect(journalled.endpoint) as client:
        parent = client.reset("add_relu").episode
        parent.step(WRONG)
        made = json.loads(journalled.command("branch", parent.id, "1", "--endpoint", journalled.endpoint, "--json"))
        assert client.resume(made["episode"], made["token"]).episode.turn == 1
        journalled.kill()
        offline = json.loads(journalled.command("branch", parent.id, "1", "--json"))
        journalled.start()
        branch = client.resume(offline["episode"], offline["token"]).episode
        assert branch.step(FAST).turn == 2
    parents = {one["parent"] for one in map(json.loads, journalled.command("export").splitlines())}
    assert parents == {None, parent.id}


def test_replay_judges_again_and_reports_differences(journalled: Journalled) -> None:
    with hone.connect(journalled.endpoint) as client:
        episode = client.reset("add_relu", options={"tools": {"compile": 1}}).episode
        episode.tool("compile", WRONG)
        for code in (WRONG, FAST):
            episode.step(code)
    journalled.kill()
    exported = json.loads(journalled.command("export"))
    assert [call["turn_reward"] for call in exported["calls"]] == [exported["turns"][0]["reward"]]
    replayed = journalled.ran("replay", episode.id, "--json")
    [shown] = json.loads(replayed.stdout)
    assert shown["calls_not_repeated"] == 1
    assert [turn["now"]["verdict"]["outcome"] for turn in shown["turns"]] == ["wrong", "correct"]
    assert shown["turns"][0]["differences"] == []
    # Two measurements may differ, and then it says so; nothing else can.
    assert all(line.startswith("speedup: ") for line in shown["turns"][1]["differences"])
    assert replayed.returncode == (1 if shown["turns"][1]["differences"] else 0)
    worst = shown["turns"][0]
    assert worst["then"]["verdict"]["mismatch"] == worst["now"]["verdict"]["mismatch"], "the same inputs"
    missing = journalled.ran("replay", "0" * 15 + "1")
    assert missing.returncode == 2
    assert "the journal has no episode" in missing.stderr


def test_export_reports_and_skips_damaged_records(journalled: Journalled) -> None:
    with hone.connect(journalled.endpoint) as client:
        episodes = [client.reset("add_relu").episode for _ in range(3)]
        for episode in episodes:
            episode.step(response="no code")
    journalled.kill()
    number = int.from_bytes(bytes.fromhex(episodes[1].id), "big", signed=True)
    with sqlite3.connect(journalled.journal) as database:
        database.execute("UPDATE turns SET reward = 9 WHERE episode = ?", (number,))
    exported = journalled.ran("export")
    assert exported.returncode == 1
    assert f"episode {episodes[1].id}, turn 1 does not match its checksum" in exported.stderr
    left = {json.loads(line)["episode"] for line in exported.stdout.splitlines()}
    assert left == {episodes[0].id, episodes[2].id}
    assert journalled.ran("journal", "check").returncode == 1


def test_truncated_journal_is_reported_as_damaged(journalled: Journalled, tmp_path: Path) -> None:
    with hone.connect(journalled.endpoint) as client:
        client.reset("add_relu").episode.step(response="no code")
    copy, cut = tmp_path / "copy.db", tmp_path / "cut.db"
    journalled.command("journal", "backup", "--to", str(copy))
    assert copy.stat().st_mode & 0o777 == 0o600
    again = journalled.ran("journal", "backup", "--to", str(copy))
    assert (again.returncode, "the file exists; name a new file" in again.stderr) == (2, True)
    cut.write_bytes(copy.read_bytes()[:20000])
    command = [os.environ["HONE_BINARY"], "journal", "check", "--journal", str(cut)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 1
    assert "it is damaged" in checked.stdout
    assert "restore a backup" in checked.stdout


def test_a_branch_in_asyncio(journalled: Journalled) -> None:
    async def play() -> tuple[int, str]:
        async with hone.aio.connect(journalled.endpoint) as client:
            parent = (await client.reset("add_relu")).episode
            await parent.step(WRONG)
            start = await parent.branch()
            return start.episode.turn, start.info["parent"] if start.info["parent"] != parent.id else "the parent"

    assert asyncio.run(play()) == (1, "the parent")
