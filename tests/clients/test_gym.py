"""The Gymnasium environment."""

from __future__ import annotations

import gc
import inspect
import subprocess
import sys
import warnings
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

import gymnasium
import hone
import hone.gym
import pytest
from gymnasium.utils.env_checker import check_env
from hone.gym_vector import AutotuneVectorEnv, KernelRefineVectorEnv

from conftest import ROOT, RealServer, free_port
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


@pytest.mark.real
def test_tools_leave_the_turn_open(real: RealServer) -> None:
    code = (ROOT / "envs/kernel_refine/tasks/add_relu/baseline.cpp").read_text()
    env = make(real.endpoint, action="code", options={"max_turns": 1, "tools": {"compile": 1}}, render_mode="ansi")
    refine = env.unwrapped
    assert isinstance(refine, hone.gym.KernelRefineEnv)
    with pytest.raises(gymnasium.error.ResetNeeded, match="call_tool needs an open episode"):
        refine.call_tool("compile", code)
    _, info = env.reset(seed=5)
    assert [tool["name"] for tool in info["observation"]["tools"]] == ["compile"]
    found = refine.call_tool("compile", code)
    assert (found.text.splitlines()[0], found.left) == ("The kernel builds.", {"compile": 0})
    assert "The kernel builds." in str(env.render())
    with pytest.raises(hone.FailedPrecondition, match="its 1 use is spent"):
        refine.call_tool("compile", code)
    observation, _, _, truncated, info = env.step(code)
    assert (int(observation["turn"][0]), truncated, info["verdict"]["outcome"]) == (1, True, "correct")
    with pytest.raises(gymnasium.error.ResetNeeded):
        refine.call_tool("compile", code)
    env.close()


def test_unscored_step_is_a_finite_zero_and_is_marked(scripted: ScriptedServer) -> None:
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


def test_old_gymnasium_raises_one_line() -> None:
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


def pair(endpoint: str) -> list[Callable[[], gymnasium.Env[Any, Any]]]:
    return [lambda: make(endpoint), lambda: make(endpoint)]


VECTORS: dict[str, Callable[[str], Any]] = {
    "SyncVectorEnv": lambda endpoint: gymnasium.vector.SyncVectorEnv(pair(endpoint)),
    "AsyncVectorEnv": lambda endpoint: gymnasium.vector.AsyncVectorEnv(pair(endpoint)),
    "AsyncVectorEnv, spawned": lambda endpoint: gymnasium.vector.AsyncVectorEnv(pair(endpoint), context="spawn"),
    "AsyncVectorEnv without shared memory": lambda endpoint: gymnasium.vector.AsyncVectorEnv(
        pair(endpoint), shared_memory=False
    ),
    "AsyncVectorEnv, observations not copied": lambda endpoint: gymnasium.vector.AsyncVectorEnv(
        pair(endpoint), copy=False
    ),
    **{
        f"make_vec, {mode}": partial(
            gymnasium.make_vec, hone.gym.ENV_ID, num_envs=2, vectorization_mode=mode, task="add_relu"
        )
        for mode in ("sync", "async", "vector_entry_point", None)
    },
}


@pytest.mark.parametrize("name", VECTORS)
def test_all_vector_environments_of_gymnasium_agree(scripted: ScriptedServer, name: str) -> None:
    make_vector = VECTORS[name]
    by_keyword = isinstance(make_vector, partial)
    envs = make_vector(endpoint=scripted.endpoint) if by_keyword else make_vector(scripted.endpoint)
    observations, _ = envs.reset(seed=3)
    assert observations["text"] == ("Write a kernel.",) * 2
    assert list(observations["turns_left"][:, 0]) == [4, 4]
    observations, rewards, _, _, infos = envs.step(("slow \U0001f600", "wrong"))
    assert list(rewards) == [0.4, 0.1]
    assert list(infos["reward_valid"]) == [True, True]
    assert observations["feedback"] == ("Your kernel was judged: correct.", "Your kernel was judged: wrong.")
    assert envs.observation_space.contains(deepcopy(observations))
    kept = deepcopy(observations["text"])
    envs.step(("slow", "slow"))
    assert kept == ("Your kernel was judged: correct.", "Your kernel was judged: wrong.")
    envs.close()
    assert scripted.open() == []


WRAPPERS: dict[str, Callable[[gymnasium.Env[Any, Any]], gymnasium.Env[Any, Any]]] = {
    "FlattenObservation": gymnasium.wrappers.FlattenObservation,
    "FilterObservation": lambda env: gymnasium.wrappers.FilterObservation(env, ["text"]),
    "FrameStackObservation": lambda env: gymnasium.wrappers.FrameStackObservation(env, 2),
    "TimeAwareObservation": lambda env: gymnasium.wrappers.TimeAwareObservation(
        gymnasium.wrappers.TimeLimit(env, 3), flatten=False
    ),
    "TimeAwareObservation, flat": lambda env: gymnasium.wrappers.TimeAwareObservation(
        gymnasium.wrappers.TimeLimit(env, 3), flatten=True
    ),
    "DelayObservation": lambda env: gymnasium.wrappers.DelayObservation(env, 1),
    "RecordEpisodeStatistics": gymnasium.wrappers.RecordEpisodeStatistics,
    "TimeLimit": lambda env: gymnasium.wrappers.TimeLimit(env, 3),
    "NormalizeReward": gymnasium.wrappers.NormalizeReward,
    "Autoreset": gymnasium.wrappers.Autoreset,
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_wrappers_of_gymnasium_work(scripted: ScriptedServer, name: str) -> None:
    env = WRAPPERS[name](make(scripted.endpoint))
    observation, _ = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    observation, _, _, _, info = env.step("slow")
    assert env.observation_space.contains(observation)
    assert info["reward_valid"]
    env.close()


@pytest.mark.parametrize("text", ["", "plain", "π ≈ 3 \0\n", "\U0010ffff\uffff", "\ud800", "x" * (1 << 18)])
def test_text_keeps_every_character_when_it_is_flattened(text: str) -> None:
    space = hone.gym.Unicode(1 << 18)
    flat = gymnasium.spaces.flatten(space, text)
    assert gymnasium.spaces.flatten_space(space).contains(flat)
    assert gymnasium.spaces.unflatten(space, flat) == text
    assert flat.shape == (gymnasium.spaces.flatdim(space),)


def test_an_observation_that_is_too_long_for_its_space_is_cut_in_the_middle(scripted: ScriptedServer) -> None:
    env = make(scripted.endpoint)
    env.reset()
    form = env.unwrapped._form  # type: ignore[attr-defined]
    longest = hone.gym.TEXT_CHARACTERS_MAX
    for length in (longest, longest + 1, 3 * longest):
        text = "a" * (length // 2) + "b" * (length - length // 2)
        seen = form.observe({"messages": [{"role": "user", "content": text}], "feedback": text})
        assert env.observation_space.contains(seen)
        assert (seen["text"][0], seen["text"][-1]) == ("a", "b")
        assert (seen["text"] == text) == (length == longest)
    env.close()


def test_make_takes_the_parameters_of_the_constructor(scripted: ScriptedServer) -> None:
    for name in (hone.gym.ENV_ID, hone.gym.AUTOTUNE_ID):
        env = gymnasium.make(name, endpoint=scripted.endpoint, max_turns=1, connect_timeout=2)
        observation, _ = env.reset()
        assert observation["turns_left"][0] == 1
        env.close()
        envs = gymnasium.make_vec(name, 2, endpoint=scripted.endpoint, max_turns=2, connect_timeout=2)
        observations, _ = envs.reset()
        assert list(observations["turns_left"][:, 0]) == [2, 2]
        envs.close()
    for kind in (hone.gym.KernelRefineEnv, hone.gym.AutotuneEnv, KernelRefineVectorEnv, AutotuneVectorEnv):
        parameters = inspect.signature(kind).parameters
        assert {"endpoint", "task", "max_turns", "options", "connect_timeout", "key"} <= set(parameters)
        assert not [p for p in parameters.values() if p.kind is p.VAR_KEYWORD]
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_turn'"):
        make(scripted.endpoint, max_turn=1)
    with pytest.raises(ValueError, match="max_turns: found 1, and 2 in options; give it once"):
        make(scripted.endpoint, max_turns=1, options={"max_turns": 2})
    with pytest.raises(hone.Unavailable, match="within 200 ms"):
        make(f"tcp://127.0.0.1:{free_port()}", connect_timeout=0.2)
