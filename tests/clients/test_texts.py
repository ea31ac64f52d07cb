"""Any text of a model, of any size, results in a turn: in each client, pool and adapter."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import gymnasium
import hone
import hone.aio
import hone.gym
import hone.vector
import pytest
from hone._text import sendable
from hone.adapters import slime
from hone.adapters._play import AsyncPlay, Play, Settings
from hone.adapters.trl import KernelEnvironment
from hone.pool import Pool

from scripted import ScriptedServer
from servers import RealServer

HALF = "\ud83d"
TEXTS = {
    "half a pair": json.loads('"an emoji \\ud83d that was cut"'),
    "the other half": "\ude00 first",
    "halves in the wrong order": "\ude00\ud83d",
    "half at the end": "x" * 70_000 + HALF,
    "bytes that are no UTF-8": b"caf\xe9".decode("utf-8", "surrogateescape"),
    "nul": "int\0 main",
    "controls": "\x01\x02\x1b[31m\x7f",
    "empty": "",
    "white space": " \n\t\r\u2003\u00a0",
    "byte order mark": "\ufeff",
    "no characters": "\uffff\U0010ffff",
    "other directions": "\u202e\u0645\u200f",
    "5 MB": "x" * (5 << 20),
    "5 MB of emoji": "\U0001f600" * (5 << 18),
    "5 MB of halves": HALF * (5 << 18),
    "5 MB fenced": "```cpp\n" + "int x;\n" * (5 << 17) + "```",
}
EVERY_TEXT = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())


def test_half_a_pair_is_replaced_and_two_halves_are_joined(scripted: ScriptedServer) -> None:
    for text, sent in (
        (f"a{HALF}b", "a\ufffdb"),
        (HALF + "\ude00", "\U0001f600"),
        ("\ude00" + HALF, "\ufffd\ufffd"),
        (HALF * 2 + "\ude00" + HALF, "\ufffd\U0001f600\ufffd"),
        ("π ≈ 3 \U0001f600\0", "π ≈ 3 \U0001f600\0"),
    ):
        assert sendable(text) == sent
        with hone.connect(scripted.endpoint) as client:
            group = client.reset("add_relu", group=text).info["group"]
            assert group == sent


@EVERY_TEXT
def test_a_step_of_either_kind_is_a_turn(endpoint: str, text: str) -> None:
    with hone.connect(endpoint) as client:
        episode = client.reset("add_relu", options={"max_turns": 3}).episode
        assert client.step(episode, text).reward_valid
        assert client.step(episode, response=text).reward_valid
        assert client.step(episode, action={"response": text}).turn == 3


@EVERY_TEXT
def test_batch_with_any_text_goes_on(endpoint: str, text: str) -> None:
    actions = ["wrong: no code", text, "wrong"]
    with hone.connect(endpoint) as client:
        episodes = hone.vector.Episodes(client, 3)
        episodes.reset("add_relu")
        assert [result.turn for result in episodes.step(actions, responses=True) if result] == [1, 1, 1]
        episodes.close()
        with Pool(client, 3, task="add_relu", responses=True) as pool:
            pool.reset()
            batch = pool.step(actions)
            assert batch.info["error"] == [None] * 3
            assert batch.info["elapsed_step"] == [1, 1, 1]


@EVERY_TEXT
def test_adapters_get_a_record_and_no_exception(endpoint: str, text: str) -> None:
    async def play() -> None:
        async with hone.aio.connect(endpoint) as client:
            start = await client.reset("add_relu")
            assert (await start.episode.step(response=text)).turn == 1
        play = AsyncPlay(Settings(endpoint))
        await play.start("add_relu")
        await play.step(response=text)
        assert (play.record.turns, play.record.fault) == (1, None)
        await play.finish()
        sample = SimpleNamespace(response=text, metadata={"task": "add_relu"}, group_index=0, remove_sample=False)
        assert isinstance(await slime.reward(SimpleNamespace(hone={"endpoint": endpoint}), sample), float)
        assert not sample.remove_sample

    asyncio.run(play())
    blocking = Play(Settings(endpoint))
    blocking.start("add_relu")
    blocking.step(text)
    assert (blocking.record.turns, blocking.record.fault) == (1, None)
    blocking.finish()
    tool = KernelEnvironment(Settings(endpoint))
    tool.reset("add_relu")
    assert tool.submit_kernel(text)
    assert tool.get_reward() is not None


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


def test_tool_arguments_of_any_shape_are_mistakes_of_the_model(scripted: ScriptedServer) -> None:
    play = Play(Settings(scripted.endpoint, options={"tools": {"check": 1}}))
    play.start("add_relu")
    deep = "[" * 100_000 + "]" * 100_000
    assert play.call("check", deep) == "error: the arguments are nested too deeply"
    assert play.call("check", '{"code": ' + deep + "}") == "error: the arguments are nested too deeply"
    for arguments in ("{", "[]", "NaN", '{"code": NaN}', "9" * 5000, {"code": nested(100_000)}, {"x" * 5000: "y"}):
        answer = play.call("check", arguments)
        assert answer.startswith("error: the argument")
        assert len(answer) < 300
    assert play.call("x" * 5000, {"code": "wrong"}).startswith("error: tool xxx")
    assert len(play.call("x" * 5000, {"code": "wrong"})) < 300
    assert play.call("check", r'{"code": "x", "code": "\ud800 \u0000 wrong"}') == "check found: wrong"
    assert play.finish().fault is None


def test_source_of_any_shape_is_a_mistake_of_the_model(scripted: ScriptedServer) -> None:
    environment = KernelEnvironment(Settings(scripted.endpoint))
    environment.reset("add_relu")
    for code in (nested(100_000), {"x": nested(900)}, 10**5000, ["x"] * 100_000, None):
        answer = environment.submit_kernel(code)
        assert answer.startswith("Nothing was judged: code must be a string with the source, found ")
        assert len(answer) < 200
    assert environment.record.turns == 0


def test_a_sample_of_slime_without_a_response_is_judged(scripted: ScriptedServer) -> None:
    sample = SimpleNamespace(response=None, metadata={}, group_index=None, remove_sample=False)
    assert asyncio.run(slime.reward(SimpleNamespace(hone={"endpoint": scripted.endpoint}), sample)) == 1.3


@EVERY_TEXT
def test_gymnasium_takes_any_text(endpoint: str, text: str) -> None:
    env = gymnasium.make(hone.gym.ENV_ID, endpoint=endpoint, task="add_relu")
    env.reset(seed=1)
    observation, reward, _, _, info = env.step(text)
    assert env.observation_space.contains(observation)
    assert (isinstance(reward, float), info["reward_valid"]) == (True, True)
    env.close()


def outcome(client: hone.Client, **action: Any) -> str:
    result = client.reset("add_relu", options={"max_turns": 1}).episode.step(action=action)
    return str(result.info["verdict"]["outcome"])


@pytest.mark.real
def test_a_text_that_no_frame_holds_is_rejected_for_its_length(real: RealServer) -> None:
    with hone.connect(real.endpoint) as client:
        limits = client.server["limits"]
        assert limits["source_bytes"] < limits["response_bytes"] < limits["frame_bytes"]
        for text in ("x" * (limits["frame_bytes"] - 40), "x" * (5 << 20), "é" * (30 << 20)):
            assert outcome(client, code=text) == "rejected"
            assert outcome(client, response=text) == "rejected"


def test_a_text_is_not_shortened_where_the_server_might_judge_the_rest(scripted: ScriptedServer) -> None:
    scripted.limits = {"frame_bytes": 4096, "source_bytes": 64, "response_bytes": 4090}
    with hone.connect(scripted.endpoint) as client:
        with pytest.raises(hone.InvalidArgument, match=r"step: found a frame of \d+ bytes, at most 4096 allowed"):
            client.reset("add_relu").episode.step(response="x" * 5000)
        with pytest.raises(hone.InvalidArgument, match=r"reset: found a frame of \d+ bytes, at most 4096 allowed"):
            client.reset("add_relu", group="x" * 5000)
