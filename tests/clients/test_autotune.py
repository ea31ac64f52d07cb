"""The environment autotune: a real server with configs/autotune.yaml, and the example that learns in it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import hone
import hone.vector
import pytest

from servers import ROOT, RealServer

EXAMPLE = ROOT / "clients/python/examples/autotune_learns.py"
RECORDED = Path(__file__).parent / "data/autotune_rewards.json"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    log = tmp_path_factory.mktemp("autotune") / "serve.log"
    serving = RealServer(log, 0, str(ROOT / "configs/autotune.yaml"))
    yield serving
    serving.stop()


def learn(*arguments: str) -> list[str]:
    command = [sys.executable, str(EXAMPLE), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.real
def test_choices_are_judged_as_any_submission_is(server: RealServer) -> None:
    with hone.connect(server.endpoint) as client:
        assert client.server["environments"] == ["autotune", "kernel_refine"]
        size = client.describe()["environment"]["space"]["size"]
        # One of every vector width, row count and layout, tiles that the tasks' shapes do not divide among them.
        tried = [*range(0, 24), size - 1, size - 2]
        episodes = hone.vector.Episodes(client, len(tried))
        assert {start.info["task"] for start in episodes.reset()} == {"tasks/matmul"}
        for index, result in zip(tried, episodes.step([{"index": i} for i in tried]), strict=True):
            assert result is not None
            observation = result.observation
            assert result.info["verdict"]["outcome"] == "correct", observation["feedback"]
            assert observation["index"] == index
            speedup = result.info["verdict"]["speedup"]  # of one that noise makes doubtful the lower end counts
            assert result.reward == (speedup["low"] if speedup["flags"] else observation["facts"]["speedup"]) > 0
            assert result.truncated


@pytest.mark.real
def test_choices_by_name_and_by_text(server: RealServer) -> None:
    with hone.connect(server.endpoint) as client:
        choice = {"tile_m": 64, "tile_n": 64, "tile_k": 64, "unroll": 4, "vector": 8, "layout": "packed"}
        result = client.step(client.reset().episode, action={"choice": choice})
        assert result.observation["choice"] == choice
        result = client.step(client.reset().episode, response=f"I would take {choice}.".replace("'", '"'))
        assert result.observation["choice"] == choice
        result = client.step(client.reset().episode, response="whatever is best")
        assert (result.reward, result.info["verdict"]["outcome"]) == (0, "no_code")
        episode = client.reset().episode
        with pytest.raises(hone.InvalidArgument, match="expected 0 to 647"):
            client.step(episode, action={"index": 648})
        assert episode.turn == 0


@pytest.mark.real
def test_kernel_refine_works_with_another_environment_loaded(server: RealServer) -> None:
    with hone.connect(server.endpoint) as client:
        source = (ROOT / "envs/kernel_refine/tasks/add_relu/golden/correct_fast.cpp").read_text()
        start = client.reset("add_relu", environment="kernel_refine")
        assert start.episode.step(source).info["verdict"]["outcome"] == "correct"
        with pytest.raises(hone.InvalidArgument, match="'add_relu' cannot be used in the environment 'autotune'"):
            client.reset("add_relu")


@pytest.mark.real
def test_examples_of_the_document_hold(server: RealServer) -> None:
    text = (ROOT / "docs/environments.md").read_text()
    found = re.search(r"^```python name=autotune\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    program = found[1].replace("tcp://127.0.0.1:5917", server.endpoint)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=False)
    assert "times as fast as the baseline" in done.stdout, done.stderr


@pytest.mark.real
def test_the_example_measures(server: RealServer) -> None:
    lines = learn(server.endpoint, "--updates", "2", "--group", "3", "--plot")
    assert [line[:10] for line in lines[:2]] == ["update   1", "update   2"]
    assert re.fullmatch("[▁-█]{2}", lines[2])


@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_the_example_learns(seed: str) -> None:
    """From rewards that were measured once, so that nothing here is a matter of time."""
    lines = learn("--recorded", str(RECORDED), "--seed", seed)
    assert lines == learn("--recorded", str(RECORDED), "--seed", seed)
    found = re.fullmatch(r"first quarter ([\d.]+), last quarter ([\d.]+)", lines[-1])
    assert found is not None
    first, last = float(found[1]), float(found[2])
    assert last > 1.3 * first


def test_the_example_is_short() -> None:
    assert len(EXAMPLE.read_text().splitlines()) < 100
