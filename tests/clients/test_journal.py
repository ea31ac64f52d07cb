"""Servers with a journal, killed with -9 and started again, as a trainer and the command line see it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import hone
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

    def start(self) -> None:
        self.server = RealServer(self.folder / "serve.log", self.port, "--set", f"journal.path={self.journal}")

    def kill(self) -> None:
        assert self.server is not None
        self.server.stop(signal.SIGKILL)

    @property
    def endpoint(self) -> str:
        return f"tcp://127.0.0.1:{self.port}"

    def command(self, *arguments: str) -> Any:
        binary = os.environ["HONE_BINARY"]
        ran = subprocess.run([binary, *arguments, "--journal", str(self.journal)], capture_output=True, text=True)
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
    assert journalled.command("journal", "check").strip() == "sound"


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
