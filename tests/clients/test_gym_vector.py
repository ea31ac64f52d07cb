"""Vector environments on one connection, compared with Gymnasium's vector environments on several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import hone
import hone.gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

from scripted import ScriptedServer

MODES = list(AutoresetMode)


def vector(endpoint: str, count: int = 3, **given: Any) -> VectorEnv[Any, Any, Any]:
    envs = gymnasium.make_vec("hone/KernelRefine-v0", num_envs=count, endpoint=endpoint, task="add_relu", **given)
    assert type(envs).__name__ == "KernelRefineVectorEnv"
    return envs


def gymnasiums_own(endpoint: str, count: int, mode: AutoresetMode) -> VectorEnv[Any, Any, Any]:
    def one(turns: int) -> Callable[[], gymnasium.Env[Any, Any]]:
        return lambda: hone.gym.KernelRefineEnv(endpoint, "add_relu", options={"max_turns": turns})

    return SyncVectorEnv([one(2)] * count, autoreset_mode=mode)


def play(envs: VectorEnv[Any, Any, Any], mode: AutoresetMode) -> list[Any]:
    """Six steps; everything that was said, in plain values."""
    told = [envs.reset(seed=[5, None, 9], options={"max_turns": 2})]
    for actions in (("slow", "x", "fault"), ("wrong", "x", "slow")) * 3:
        told.append(envs.step(actions))
        over = told[-1][2] | told[-1][3]
        if mode is AutoresetMode.DISABLED and over.any():
            told.append(envs.reset(options={"reset_mask": over}))
    envs.close()
    return told


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        # Seeds of places that were given none differ from run to run.
        return {key: plain(one) for key, one in value.items() if key not in ("seed", "max_turns")}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_vector_plays_like_gymnasiums_own(scripted: ScriptedServer, mode: AutoresetMode) -> None:
    ours = play(vector(scripted.endpoint, options={"max_turns": 2}, autoreset_mode=mode), mode)
    theirs = play(gymnasiums_own(scripted.endpoint, 3, mode), mode)
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        assert plain(one) == plain(other)
    for place in (0, 2):  # these were given seeds, and go on from them
        seeds = [[told[-1]["seed"][place] for told in run if "seed" in told[-1]] for run in (ours, theirs)]
        assert seeds[0] == seeds[1]
        assert len(set(seeds[0]) - {0}) >= 2
    assert scripted.open() == []


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_spaces_and_metadata(scripted: ScriptedServer, mode: AutoresetMode) -> None:
    envs = vector(scripted.endpoint, autoreset_mode=mode.value)
    assert envs.metadata["autoreset_mode"] is mode
    assert "autoreset_mode" not in type(envs.unwrapped).metadata
    observations, _ = envs.reset(seed=1)
    assert envs.observation_space.contains(observations)
    assert envs.action_space.contains(("a", "b", "c"))
    assert observations["turns_left"].tolist() == [[4]] * 3
    envs.close()
    envs.close()


def test_missing_rewards_are_reported(scripted: ScriptedServer) -> None:
    envs = vector(scripted.endpoint)
    envs.reset(seed=1)
    _, rewards, _, _, infos = envs.step(("slow", "fault", "x"))
    assert rewards.tolist() == [0.4, 0.0, 1.3]
    assert infos["reward_valid"].tolist() == [True, False, True]
    assert infos["_reward_valid"].tolist() == [True] * 3
    assert infos["fault"][1] == "the judge's process died"
    envs.close()


def test_same_seeds_same_episodes(endpoint: str) -> None:
    seen = []
    for _ in range(2):
        envs = vector(endpoint, options={"max_turns": 1})
        _, first = envs.reset(seed=40)
        envs.step(["wrong: no code"] * 3)
        _, _, _, _, second = envs.step([""] * 3)
        seen.append((first["seed"].tolist(), second["seed"].tolist()))
        envs.close()
    assert seen[0] == seen[1]
    assert seen[0][0] == [40, 41, 42]
    assert len(set(seen[0][1])) == 3


def test_renders_every_episode(scripted: ScriptedServer) -> None:
    envs = vector(scripted.endpoint, render_mode="ansi")
    envs.reset(seed=1)
    envs.step(("slow", "wrong", "x"))
    assert envs.render() == tuple(
        f"Write a kernel.\nYour kernel was judged: {outcome}." for outcome in ("correct", "wrong", "correct")
    )
    envs.close()


def test_256_episodes_from_one_process(endpoint: str) -> None:
    envs = vector(endpoint, 256, options={"max_turns": 2}, autoreset_mode=AutoresetMode.SAME_STEP)
    _, infos = envs.reset(seed=0)
    assert infos["seed"].tolist() == list(range(256))
    for turn in (1, 2):
        observations, rewards, terminated, truncated, infos = envs.step(["wrong: there is no code in this"] * 256)
        assert truncated.all() == (turn == 2)
        assert not terminated.any()
        assert len(rewards) == len(observations["text"]) == 256
    assert infos["final_info"]["reward_valid"].all()
    assert (observations["turn"] == 0).all()
    envs.close()


def test_autotune_takes_an_array(scripted: ScriptedServer) -> None:
    envs = gymnasium.make_vec("hone/Autotune-v0", num_envs=4, endpoint=scripted.endpoint)
    envs.reset(seed=3)
    observations, rewards, *_ = envs.step(np.array([1, 2, 3, 11]))
    assert observations["choice"].tolist() == [1, 2, 3, 11]
    assert rewards.tolist() == [1.3] * 4
    envs.close()


def test_misuse(scripted: ScriptedServer) -> None:
    with pytest.raises(ValueError, match="num_envs: found 0"):
        vector(scripted.endpoint, 0)
    with pytest.raises(ValueError, match="is not a valid AutoresetMode"):
        vector(scripted.endpoint, autoreset_mode="sometimes")
    envs = vector(scripted.endpoint, autoreset_mode=AutoresetMode.DISABLED, options={"max_turns": 1})
    with pytest.raises(gymnasium.error.ResetNeeded, match="places 0, 1, 2"):
        envs.step(["x"] * 3)
    envs.reset(seed=[1, 2, 3])
    with pytest.raises(ValueError, match="found 2 actions, expected 3"):
        envs.step(["x"] * 2)
    with pytest.raises(ValueError, match="found 2 seeds, expected 3"):
        envs.reset(seed=[1, 2])
    for mask in ([True, False], [0, 1, 1], [False] * 3):
        with pytest.raises(ValueError, match="reset_mask: found"):
            envs.reset(options={"reset_mask": np.array(mask)})
    envs.step(["x"] * 3)
    with pytest.raises(gymnasium.error.ResetNeeded):
        envs.step(["x"] * 3)
    with pytest.raises(hone.NotFound):
        envs.reset(options={"task": "none"})
    envs.close()
    with pytest.raises(gymnasium.error.ClosedEnvironmentError):
        envs.reset()
