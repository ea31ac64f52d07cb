"""EnvPool: results are received in the order in which they finish, and none is lost."""

from __future__ import annotations

import gc

import hone
import pytest
from hone.pool import Pool

from scripted import ScriptedServer
from servers import RealServer


def test_every_environment_is_received_once(endpoint: str) -> None:
    with hone.connect(endpoint) as client, Pool(client, 6, 2, task="add_relu", options={"max_turns": 2}) as pool:
        pool.async_reset()
        received = []
        for _ in range(3):
            observations, rewards, terminated, truncated, info = pool.recv()
            assert [o["turn"] for o in observations] == info["elapsed_step"] == [0, 0]
            assert (rewards, terminated, truncated) == ([0.0] * 2, [False] * 2, [False] * 2)
            assert info["reward_valid"] == [False] * 2  # nothing was done: nothing to train on
            received += info["env_id"]
        assert sorted(received) == list(range(6))
        pool.send(["wrong: there is no code in this"] * 6, received)
        steps = [pool.recv() for _ in range(3)]
        assert sorted(i for batch in steps for i in batch.info["env_id"]) == list(range(6))
        assert [batch.info["elapsed_step"] for batch in steps] == [[1, 1]] * 3


def test_an_ended_episode_starts_anew_with_the_next_action(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client:
        pool = Pool(client, 2, task="add_relu", options={"max_turns": 1})
        pool.reset()
        batch = pool.step(["slow", "x"])
        by_id = dict(zip(batch.info["env_id"], batch.rewards, strict=True))
        assert by_id == {0: 0.4, 1: 1.3}
        assert batch.truncated == [True, True]
        evaluations = scripted.evaluations
        batch = pool.step(["not looked at"] * 2)
        assert scripted.evaluations == evaluations
        assert (batch.info["elapsed_step"], batch.truncated) == ([0, 0], [False, False])
        pool.close()
        pool.close()
        assert scripted.open() == []


def test_first_finished_is_received_first(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client, Pool(client, 2, 1, task="add_relu") as pool:
        pool.async_reset()
        assert sorted(pool.recv().info["env_id"] + pool.recv().info["env_id"]) == [0, 1]
        del scripted.episodes[next(iter(scripted.episodes))]  # whichever place that was
        pool.send(["x", "x"], [0, 1])
        first, second = pool.recv(), pool.recv()
        lost = (first if first.info["error"][0] else second).info["env_id"][0]
        scripted.hold_steps.set()
        pool.send(["x", "x"], [1 - lost, lost])  # a step that is held, and a reset that is not
        assert pool.recv().info["env_id"] == [lost]
        scripted.hold_steps.clear()
        batch = pool.recv()
        assert (batch.info["env_id"], batch.rewards) == ([1 - lost], [1.3])


def test_a_fault_and_a_lost_episode_are_not_trained_on(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client, Pool(client, 1, task="add_relu") as pool:
        pool.reset()
        batch = pool.step(["fault"])
        assert (batch.rewards, batch.truncated, batch.info["reward_valid"]) == ([0.0], [False], [False])
        assert batch.info["result"][0].info["fault"] == "the judge's process died"
        scripted.episodes.clear()
        batch = pool.step(["x"])
        assert (batch.rewards, batch.truncated, batch.info["reward_valid"]) == ([0.0], [True], [False])
        assert isinstance(batch.info["error"][0], hone.NotFound)
        assert pool.step(["x"]).info["elapsed_step"] == [0]
        assert pool.step(["x"]).rewards == [1.3]


@pytest.mark.real
def test_a_malformed_action_takes_no_other_answer_along(real: RealServer) -> None:
    with hone.connect(real.endpoint) as client, Pool(client, 2, task="add_relu", responses=True) as pool:
        pool.reset()
        pool.send([{"nonsense": 1}, "there is no code in this"], [0, 1])
        with pytest.raises(hone.InvalidArgument, match="nonsense"):
            pool.recv()
        with pytest.raises(hone.FailedPrecondition, match="env_id 1: its last result was not received"):
            pool.send(["again"], [1])
        pool.send(["no code in this either"], [0])  # the turn is open still
        batch = pool.recv()
        assert sorted(batch.info["env_id"]) == [0, 1]
        assert batch.info["elapsed_step"] == [1, 1]
        assert batch.info["reward_valid"] == [True, True]


def test_seeds_make_the_same_draws(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client:
        drawn = []
        for _ in range(2):
            with Pool(client, 3, task="add_relu", seed=7) as pool:
                pool.reset()
                drawn.append([reply["info"]["seed"] for reply in scripted.reset_replies()[-3:]])
        assert sorted(drawn[0]) == sorted(drawn[1])
        assert len(set(drawn[0])) == 3


def test_closing_leaves_nothing_open(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client:
        pool = Pool(client, 4, task="add_relu")
        pool.async_reset()
        pool.close()  # nothing was received
        assert scripted.open() == []


def test_a_pool_that_is_dropped_leaves_nothing_open(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client:
        pool = Pool(client, 3, task="add_relu")
        pool.reset()
        assert len(scripted.open()) == 3
        del pool
        gc.collect()
        assert scripted.open() == []


def test_misuse(scripted: ScriptedServer) -> None:
    with hone.connect(scripted.endpoint) as client:
        for size in (0, 3):
            with pytest.raises(ValueError, match=f"batch_size: found {size}, expected 1 to 2"):
                Pool(client, 2, size)
        pool = Pool(client, 2, 1, task="add_relu")
        with pytest.raises(hone.FailedPrecondition, match="found 0 pending requests, expected at least 1"):
            pool.recv()
        pool.async_reset()
        pool.recv()
        pool.recv()
        with pytest.raises(ValueError, match="env_id: found 2, expected 0 to 1"):
            pool.send(["x"], [2])
        with pytest.raises(ValueError, match="found 1 actions, expected 2"):
            pool.send(["x"], [0, 1])
        scripted.hold_steps.set()
        pool.send(["x"], [0])
        with pytest.raises(hone.FailedPrecondition, match="env_id 0: its last request is still pending"):
            pool.send(["x"], [0])
        scripted.hold_steps.clear()
        pool.recv()
        pool.close()
        with pytest.raises(hone.NotFound):
            Pool(client, 1, task="none").reset()
