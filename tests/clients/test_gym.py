"""The Gymnasium environment."""

from __future__ import annotations

import gc
import subprocess
import sys
import warnings
from typing import Any

import gymnasium
import hone
import hone.gym
import pytest
from gymnasium.utils.env_checker import check_env

from scripted import ScriptedServer


def make(endpoint: str, **given: object) -> gymnasium.Env[dict[str, object], str]:
    return gymnasium.make("hone/KernelRefine-v0", endpoint=endpoint, task="add_relu", **given)


def test_check_env(endpoint: str) -> None:
    check(make(endpoint, render_mode="ansi"))


def test_check_env_of_autotune(scripted: ScriptedServer) -> None:
    """A real one measures: the same choice does not give the same figures twice."""
    check(gymnasium.make("hone/Autotune-v0", endpoint=scripted.endpoint, render_mode="ansi"))


def check(env: gymnasium.Env[Any, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # A Dict of text and counts is what this environment means; the check only knows images.
        warnings.filterwarnings("ignore", message=".*observation space.*")
        check_env(env.unwrapped)
    env.close()


def test_an_episode(endpoint: str) -> None:
    env = make(endpoint, options={"max_turns": 2}, render_mode="ansi")
    observation, info = env.reset(seed=5)
    assert env.observation_space.contains(observation)
    assert info["task"] == "tasks/add_relu"
    assert info["seed"] == 5
    ended = []
    for _ in range(2):
        observation, reward, terminated, truncated, info = env.step("wrong: there is no code in this")
        assert env.observation_space.contains(observation)
        assert isinstance(reward, float)
        assert info["reward_valid"]
        ended.append(terminated or truncated)
    assert ended == [False, True]
    assert str(observation["feedback"]) in str(env.render())
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.unwrapped.step("x")
    env.close()
    env.close()


def test_unscored_step_is_a_finite_zero_and_says_so(scripted: ScriptedServer) -> None:
    env = make(scripted.endpoint, action="code")
    env.reset()
    _, reward, _, _, info = env.step("fault")
    assert reward == 0.0
    assert info["reward_valid"] is False
    assert info["fault"] == "the judge's process died"
    env.close()


def test_reset_options_override(scripted: ScriptedServer) -> None:
    env = make(scripted.endpoint, options={"max_turns": 9})
    observation, _ = env.reset(options={"max_turns": 3, "task": "tasks/add_relu"})
    assert observation["turns_left"][0] == 3
    with pytest.raises(hone.NotFound):
        env.reset(options={"task": "none"})
    env.close()


def test_reset_closes_the_open_episode(scripted: ScriptedServer) -> None:
    env = make(scripted.endpoint)
    env.reset()
    env.reset()
    assert len(scripted.episodes) == 1
    env.close()
    assert scripted.episodes == {}


@pytest.mark.parametrize("steps", [0, 1, 4])  # four end the episode
def test_a_dropped_environment_leaves_no_episode(scripted: ScriptedServer, steps: int) -> None:
    env = make(scripted.endpoint, action="code")
    env.reset()
    for _ in range(steps):
        env.step("slow")
    del env
    gc.collect()
    assert scripted.open() == []


def test_a_vector_that_is_dropped_leaves_no_episode(scripted: ScriptedServer) -> None:
    envs = gymnasium.make_vec(hone.gym.ENV_ID, num_envs=3, endpoint=scripted.endpoint, task="add_relu")
    envs.reset(seed=1)
    assert len(scripted.open()) == 3
    del envs
    gc.collect()
    assert scripted.open() == []


def test_an_old_gymnasium_is_one_line() -> None:
    program = "from importlib import metadata; metadata.version = lambda _: '0.29.1'; import hone.gym"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    said = "hone.gym supports gymnasium >= 1.1, < 2; found 0.29.1: pip install 'gymnasium>=1.1,<2'"
    assert done.stderr.splitlines()[-1] == f"ImportError: {said}"


def test_autotune_is_a_choice_of_numbers(scripted: ScriptedServer) -> None:
    env = gymnasium.make("hone/Autotune-v0", endpoint=scripted.endpoint)
    observation, _ = env.reset(seed=1)
    assert env.action_space == gymnasium.spaces.Discrete(12)
    assert observation["choice"] == 12
    observation, reward, _, _, info = env.step(7)
    assert env.observation_space.contains(observation)
    assert (observation["choice"], observation["speedup"][0], observation["gflops"][0]) == (7, 1.3, 9.0)
    assert (reward, info["observation"]["index"]) == (1.3, 7)
    env.close()


def test_registered_nondeterministic() -> None:
    for name in ("KernelRefine", "Autotune"):
        assert gymnasium.spec(f"hone/{name}-v0").nondeterministic


def test_spaces_take_any_text(scripted: ScriptedServer) -> None:
    env = make(scripted.endpoint)
    assert "naïve π ≤ 4\n" in env.action_space
    assert "" in env.action_space
    assert "x" * 65_537 not in env.action_space
    assert env.action_space.sample() in env.action_space
    env.close()


def test_vector_env_keeps_text_whole(scripted: ScriptedServer) -> None:
    envs = gymnasium.make_vec(
        "hone/KernelRefine-v0", num_envs=2, vectorization_mode="sync", endpoint=scripted.endpoint, task="add_relu"
    )
    observations, _ = envs.reset(seed=1)
    assert observations["text"] == ("Write a kernel.",) * 2
    _, rewards, _, _, info = envs.step(("slow", "fault"))
    assert list(rewards) == [0.4, 0.0]
    assert list(info["reward_valid"]) == [True, False]
    envs.close()


def test_bad_arguments(scripted: ScriptedServer) -> None:
    with pytest.raises(ValueError, match="action: found 'both'"):
        make(scripted.endpoint, action="both")
