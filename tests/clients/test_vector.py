"""Many episodes over one connection."""

from __future__ import annotations

import hone
import hone.vector
import pytest

from scripted import ScriptedServer


def test_reset_and_step_all(endpoint: str) -> None:
    with hone.connect(endpoint) as client:
        episodes = hone.vector.Episodes(client, 8)
        starts = episodes.reset("add_relu", seed=10, group="g", options={"max_turns": 2})
        assert [start.info["seed"] for start in starts] == list(range(10, 18))
        results = episodes.step(["wrong, no code"] * 8, responses=True)
        assert [r.turn for r in results if r] == [1] * 8
        assert len({start.episode.id for start in starts}) == 8
        episodes.close()
        assert all(episodes[i].ended for i in range(8))


def test_results_come_with_their_place(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client:
        episodes = hone.vector.Episodes(client, 4)
        episodes.reset("add_relu")
        actions = ["x", "crash", None, "slow"]
        rewards = {done.index: done.result and done.result.reward for done in episodes.as_completed(actions)}
        assert rewards == {0: 1.3, 1: 0.0, 3: 0.4}
        assert [episodes[i].turn for i in range(4)] == [1, 1, 0, 1]


def test_one_failure_does_not_end_the_others(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client:
        episodes = hone.vector.Episodes(client, 3)
        episodes.reset("add_relu")
        del scripted.episodes[episodes[1].id]
        done = {c.index: c for c in episodes.as_completed(["x"] * 3)}
        assert isinstance(done[1].error, hone.NotFound)
        assert [done[i].result is not None for i in range(3)] == [True, False, True]
        with pytest.raises(hone.NotFound, match="unknown episode"):
            episodes.step(["x"] * 3)
        assert [episodes[i].turn for i in range(3)] == [2, 0, 2]


def test_a_failed_reset_leaves_nothing_open(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client:
        episodes = hone.vector.Episodes(client, 3)
        with pytest.raises(hone.NotFound, match="ad_relu"):
            episodes.reset(["add_relu", "ad_relu", "add_relu"])
        assert scripted.episodes == {}


def test_misuse(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client:
        with pytest.raises(ValueError, match="count: found 0"):
            hone.vector.Episodes(client, 0)
        episodes = hone.vector.Episodes(client, 2)
        with pytest.raises(hone.FailedPrecondition, match="reset comes before step"):
            episodes.step(["x", "y"])
        episodes.reset()
        with pytest.raises(ValueError, match="found 1 actions, expected 2"):
            episodes.step(["x"])
