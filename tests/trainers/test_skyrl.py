"""SkyRL's own generator plays episodes of hone with an engine that answers from a script.

SkyRL asks for Python 3.12. What its generator needs of that is that pydantic takes typing's TypedDict, for which
typing_extensions has the same one; so the real generator, advantages and losses run here.
"""

# ruff: noqa: E402 - what SkyRL imports is changed before it

from __future__ import annotations

import asyncio
import gc
import json
import re
import runpy
import typing
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import hone
import pytest
import torch
import typing_extensions

typing.TypedDict = typing_extensions.TypedDict  # type: ignore[assignment,misc] # before SkyRL is imported

import skyrl_gym
from hone.adapters import skyrl as adapter
from skyrl.backends.skyrl_train.utils import ppo_utils
from skyrl.train.config import AlgorithmConfig, GeneratorConfig, SamplingParams, SkyRLGymConfig, SkyRLTrainConfig
from skyrl.train.dataset import PromptDataset
from skyrl.train.dataset.preprocess import convert_prompts_responses_to_batch_tensors
from skyrl.train.generators.skyrl_gym_generator import SkyRLGymGenerator
from skyrl.train.generators.utils import prepare_generator_input
from skyrl.train.utils.trainer_utils import validate_generator_output, zero_variance_filter
from trl.chat_template_utils import qwen3_training_chat_template

from calls import after_answers, answers, call
from scripted import ScriptedServer
from servers import ROOT, SECONDS_MAX, RealServer, Script
from tiny import model, tokenizer, weights

FUSED = (ROOT / "envs/kernel_refine/tasks/add_relu/golden/demo_4_fused.cpp").read_text()
WORDS = tokenizer(qwen3_training_chat_template)
PROMPT = [{"role": "user", "content": "unused"}]


class Engine:
    """What SkyRL calls its inference engine: a trajectory's next words, token for token."""

    model_name = "scripted"

    def __init__(self, *scripts: list[str], before: Callable[[], None] = lambda: None) -> None:
        self.scripts = [list(script) for script in scripts]
        self.asked: list[str] = []
        self.finished: list[str] = []
        self.before = before

    async def generate(self, batch: dict[str, Any], model: str | None = None) -> dict[str, Any]:
        self.before()
        sessions = batch.get("session_ids") or [f"0_{at}" for at in range(len(batch["prompt_token_ids"]))]
        texts = [self.scripts[int(session.rpartition("_")[2])].pop(0) for session in sessions]
        self.asked += [WORDS.decode(ids) for ids in batch["prompt_token_ids"]]
        ids = [WORDS.encode(text) for text in texts]
        return {
            "responses": [text.removesuffix("<|im_end|>") for text in texts],
            "response_ids": ids,
            "stop_reasons": ["stop" if text.endswith("<|im_end|>") else "length" for text in texts],
            "response_logprobs": [[-0.5] * len(one) for one in ids],
        }

    async def finish_session(self, session: str) -> None:
        self.finished.append(session)


def generator(engine: Any, **given: Any) -> SkyRLGymGenerator:
    config = GeneratorConfig(
        sampling_params=SamplingParams(logprobs=1, max_generate_length=4000),
        **{"max_turns": 2, "max_input_length": 8000, "batched": False, **given},
    )
    return SkyRLGymGenerator(config, SkyRLGymConfig(), engine, WORDS)


def rows(count: int, **columns: Any) -> tuple[dict[str, Any], list[str]]:
    """A group of samples of one row, as SkyRL's trainer makes it."""
    row = {"prompt": PROMPT, "env_class": "hone", "env_extras": {"task": "add_relu", **columns}, "uid": "0"}
    made: tuple[dict[str, Any], list[str]] = prepare_generator_input([row], count, {"logprobs": 1}, "hone", "train", 1)
    return made


def play(engine: Engine, endpoint: str | list[str], count: int | None = None, **given: Any) -> dict[str, Any]:
    """What SkyRL's trainer gets of a group, valid by SkyRL's own judgement."""
    adapter.register(endpoint, **given.pop("hone", {}))
    of = adapter.Masked(generator(engine, **given))
    batch, uids = rows(count or len(engine.scripts))
    output: dict[str, Any] = asyncio.run(asyncio.wait_for(of.generate(batch, disable_tqdm=True), SECONDS_MAX))
    step_wise = bool(given.get("step_wise_trajectories"))
    validate_generator_output(len(uids), output, step_wise=step_wise)
    return output


def totals(output: dict[str, Any]) -> list[float]:
    return [sum(one) if isinstance(one, list) else one for one in output["rewards"]]


def advantages(output: dict[str, Any]) -> tuple[list[float], dict[str, torch.Tensor]]:
    """SkyRL's GRPO over one group, and the tensors that its losses take."""
    made = convert_prompts_responses_to_batch_tensors(
        WORDS.pad_token_id,
        output["prompt_token_ids"],
        output["response_ids"],
        output["rewards"],
        output["loss_masks"],
        output["rollout_logprobs"],
    )
    names = ("sequences", "attention_mask", "response_mask", "rewards", "loss_mask", "logprobs")
    tensors = dict(zip(names, made, strict=False))
    uids = ["0"] * len(output["rewards"])
    found, _ = ppo_utils.compute_advantages_and_returns(
        tensors["rewards"], tensors["response_mask"], uids, "grpo", AlgorithmConfig()
    )
    tensors["advantages"] = found
    return [float(row[mask.bool()][0]) for row, mask in zip(found, tensors["response_mask"], strict=True)], tensors


def test_an_episode_of_two_turns(real: RealServer) -> None:
    engine = Engine(["no code here<|im_end|>", f"```cpp\n{FUSED}\n```<|im_end|>"])
    output = play(engine, real.endpoint)
    assert totals(output)[0] > 0
    response, mask = output["response_ids"][0], output["loss_masks"][0]
    said = WORDS.decode([token for token, kept in zip(response, mask, strict=True) if kept])
    assert said.startswith("no code here<|im_end|>")
    assert said.endswith(f"```cpp\n{FUSED}\n```<|im_end|>")
    heard = WORDS.decode([token for token, kept in zip(response, mask, strict=True) if not kept])
    assert "No code was found" in heard
    assert "# Add, then ReLU" in engine.asked[0]
    metrics = output["rollout_metrics"]
    assert metrics["environment/turns"] == 2.0
    assert metrics["environment/correct"] == 1.0
    assert metrics["environment/return"] == pytest.approx(totals(output)[0])
    assert (metrics["environment/fault"], metrics["hone/faults"]) == (0.0, 0.0)
    assert engine.finished == ["0_0"]


def test_the_rewards_of_the_turns_add_up_to_the_return(scripted: ScriptedServer) -> None:
    output = play(Engine(["wrong<|im_end|>", "slow<|im_end|>"]), scripted.endpoint)
    given = [reward for reward in output["rewards"][0] if reward]
    assert given == [pytest.approx(0.1), pytest.approx(0.4)]
    assert scripted.reset_replies()[0]["info"]["group"].endswith("-0")


def test_fault_is_masked_and_does_not_change_the_mean(scripted: ScriptedServer) -> None:
    engine = Engine(["fast<|im_end|>"], ["wrong<|im_end|>"], ["fault<|im_end|>"], ["wrong<|im_end|>"])
    output = play(engine, scripted.endpoint, max_turns=1)
    assert totals(output) == [1.3, 0.1, pytest.approx(0.5), 0.1]  # 0.5: the mean of the others
    assert [any(mask) for mask in output["loss_masks"]] == [True, True, False, True]
    assert output["stop_reasons"] == ["stop", "stop", "hone_fault", "stop"]
    assert output["rollout_metrics"]["hone/faults"] == 0.25
    assert output["rollout_metrics"]["environment/return"] == pytest.approx(0.5)
    given, _ = advantages(output)
    assert given[2] == pytest.approx(0.0, abs=1e-6)
    assert given[1] == given[3] < 0 < given[0]
    assert sum(given) == pytest.approx(0.0, abs=1e-5)


def test_fault_changes_no_weight(scripted: ScriptedServer) -> None:
    policy = model(WORDS)

    def train(output: dict[str, Any], only: list[int]) -> None:
        """A step of SkyRL's policy loss over some of the samples."""
        _, tensors = advantages(output)
        tensors = {name: tensor[only] for name, tensor in tensors.items()}
        logits = policy(tensors["sequences"], attention_mask=tensors["attention_mask"]).logits[:, :-1]
        log_probs = logits.log_softmax(-1).gather(-1, tensors["sequences"][:, 1:, None]).squeeze(-1)
        log_probs = log_probs[:, -tensors["advantages"].shape[1] :]
        loss, _ = ppo_utils.ppo_policy_loss(
            log_probs, log_probs.detach(), tensors["advantages"] + 1.0, AlgorithmConfig(), tensors["loss_mask"]
        )
        optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    engine = Engine(["fast<|im_end|>"], ["wrong<|im_end|>"], ["fault<|im_end|>"], ["wrong<|im_end|>"])
    output = play(engine, scripted.endpoint, max_turns=1)
    before = weights(policy)
    train(output, [2])
    assert torch.equal(before, weights(policy))
    train(output, [0, 1, 2, 3])
    assert not torch.equal(before, weights(policy))


def test_step_wise_the_last_step_has_the_return(scripted: ScriptedServer) -> None:
    scripts = [["slow<|im_end|>", "wrong<|im_end|>"], ["wrong<|im_end|>", "fault<|im_end|>"]]
    output = play(Engine(*scripts), scripted.endpoint, step_wise_trajectories=True)
    assert output["is_last_step"] == [False, True, False, True]
    assert totals(output) == [0.0, pytest.approx(0.5), 0.0, pytest.approx(0.5)]
    assert [any(mask) for mask in output["loss_masks"]] == [True, True, False, False]
    assert output["stop_reasons"] == ["stop", "stop", "hone_fault", "hone_fault"]


def test_batched_generation_is_masked_too(scripted: ScriptedServer) -> None:
    engine = Engine(["slow<|im_end|>"], ["fault<|im_end|>"])
    output = play(engine, scripted.endpoint, batched=True, max_turns=1)
    assert output["rewards"] == [0.4, 0.4]
    assert [any(mask) for mask in output["loss_masks"]] == [True, False]


def test_a_group_in_which_all_are_the_same_stays_without_variance(scripted: ScriptedServer) -> None:
    engine = Engine(*[["wrong<|im_end|>"]] * 3, ["fault<|im_end|>"])
    output = play(engine, scripted.endpoint, batched=True, max_turns=1)
    assert set(output["rewards"]) == {0.1}
    assert zero_variance_filter(output["rewards"], ["0"] * 4, output["loss_masks"]) == []


def test_a_batch_of_faults_is_masked_whole(scripted: ScriptedServer) -> None:
    output = play(Engine(["fault<|im_end|>"], ["fault<|im_end|>"]), scripted.endpoint)
    assert not any(any(mask) for mask in output["loss_masks"])
    assert output["rollout_metrics"]["hone/faults"] == 1.0


def test_truncated_answer_has_no_reward_if_skyrl_is_set_so(scripted: ScriptedServer) -> None:
    engine = Engine(["slow"], ["wrong<|im_end|>"], ["fault<|im_end|>"])
    output = play(engine, scripted.endpoint, max_turns=1, zero_reward_on_non_stop=True)
    assert totals(output) == [0.0, 0.1, pytest.approx(0.05)]


def test_lost_episodes_are_generated_again_elsewhere(scripted_pair: list[ScriptedServer]) -> None:
    engine = Engine([], [], [], [])
    # A group begins on one server. An episode that begins after that server is lost begins on the other one.
    words = ("slow", "fast", "wrong", "fault")
    engine.scripts = [Script(scripted_pair, *[f"{word}<|im_end|>"] * 2) for word in words]
    servers = [one.endpoint for one in scripted_pair]
    output = play(engine, servers, max_turns=1, hone={"reconnect_timeout": 2.0})
    assert output["stop_reasons"] == ["stop", "stop", "stop", "hone_fault"], "a fault of the judge is not repeated"
    assert totals(output)[:3] == pytest.approx([0.4, 1.3, 0.1])
    assert output["rollout_metrics"]["hone/faults"] == 0.25
    assert [WORDS.decode(ids) for ids in output["response_ids"]][:2] == ["slow<|im_end|>", "fast<|im_end|>"]
    assert not all(engine.scripts), "an episode whose server was lost has used both of its answers"


def test_a_lost_server_is_a_fault(scripted: ScriptedServer) -> None:
    engine = Engine(["slow<|im_end|>"] * 2, before=scripted.stop)
    output = play(engine, scripted.endpoint, hone={"reconnect_timeout": 0.2})
    assert output["stop_reasons"] == ["hone_fault"]
    assert not any(output["loss_masks"][0])
    again = play(Engine(["slow<|im_end|>"] * 2), scripted.endpoint, hone={"reconnect_timeout": 0.2})  # at reset
    assert again["stop_reasons"] == ["hone_fault"]


def test_without_masked_a_fault_is_raised_and_no_reward(scripted: ScriptedServer) -> None:
    adapter.register(scripted.endpoint)
    batch, _ = rows(1)
    said = r"turn 1: the judge's process died; wrap the generator in hone\.adapters\.skyrl\.Masked to mask faults"
    with pytest.raises(adapter.FaultError, match=said):
        asyncio.run(generator(Engine(["fault<|im_end|>"])).generate(batch, disable_tqdm=True))
    env = skyrl_gym.make("hone", env_config={}, extras={"task": "add_relu", "max_turns": 3})
    env.init(PROMPT)
    assert env.step("wrong")["reward"] == pytest.approx(0.1)
    with pytest.raises(adapter.FaultError):
        env.step("fault")
    assert (env.record.score, env.get_metrics()["fault"], "return" in env.get_metrics()) == (None, True, False)


def test_the_contract_of_an_environment(scripted: ScriptedServer) -> None:
    adapter.register(scripted.endpoint, {"max_turns": 2})
    env = skyrl_gym.make("hone", env_config={}, extras={"extra_info": {"task": "add_relu"}, "max_turns": 9})
    with pytest.raises(ValueError, match="call init first"):
        env.step("slow")
    prompt, told = env.init(PROMPT)
    assert prompt == [{"role": "user", "content": "Write a kernel."}]
    assert told["task"] == "tasks/add_relu"
    first = env.step("wrong")
    assert set(first) == {"observations", "reward", "done", "metadata"}
    assert [message["role"] for message in first["observations"]] == ["user"]
    second = env.step("slow")
    assert (first["done"], second["done"]) == (False, True)
    assert second["metadata"]["outcomes"] == ["wrong", "correct"]
    assert env.get_metrics() == {"turns": 2, "correct": True, "fault": False, "return": pytest.approx(0.5)}
    env.close()
    env.close()


TOOLS = {"options": {"max_turns": 1, "tools": {"check": 1, "hardware": 1}}}


def test_tool_calls_leave_the_turn_open(scripted: ScriptedServer) -> None:
    said = [
        f"First:\n{call('check', code='wrong')}\n{call('hardware')}<|im_end|>",
        f"{call('check', code='slow')}<|im_end|>",
        "slow<|im_end|>",
    ]
    engine = Engine(said)
    output = play(engine, scripted.endpoint, hone=TOOLS)
    assert [reward for reward in output["rewards"][0] if reward] == [0.4]  # at the kernel's answer
    assert output["rewards"][0][-1] == 0.4
    assert '{"type": "function", "function": {"name": "check", ' in engine.asked[0]
    response, mask = output["response_ids"][0], output["loss_masks"][0]
    assert WORDS.decode([token for token, kept in zip(response, mask, strict=True) if kept]) == "".join(said)
    heard = WORDS.decode([token for token, kept in zip(response, mask, strict=True) if not kept])
    spent = "error: tool check: unknown, or no use left; tools with uses left: none"
    assert heard == after_answers("check found: wrong", "hardware found: nothing") + after_answers(spent)
    metrics = output["rollout_metrics"]
    assert (metrics["environment/turns"], metrics["environment/tool_calls"]) == (1.0, 2.0)


def test_a_fault_of_a_tool_is_masked_and_does_not_change_the_mean(scripted: ScriptedServer) -> None:
    scripts = [["fast<|im_end|>"], [f"{call('check', code='fault')}<|im_end|>"], ["wrong<|im_end|>"]]
    output = play(Engine(*scripts), scripted.endpoint, hone=TOOLS)
    assert totals(output) == [1.3, pytest.approx(0.7), 0.1]
    assert [any(mask) for mask in output["loss_masks"]] == [True, False, True]
    assert output["stop_reasons"] == ["stop", "hone_fault", "stop"]


def test_step_wise_a_tool_call_is_a_step_without_a_reward(scripted: ScriptedServer) -> None:
    engine = Engine([f"{call('hardware')}<|im_end|>", "slow<|im_end|>"])
    output = play(engine, scripted.endpoint, hone=TOOLS, step_wise_trajectories=True)
    assert (output["is_last_step"], totals(output)) == ([False, True], [0.0, 0.4])


def test_tools_with_batched_generation_are_refused(scripted: ScriptedServer) -> None:
    with pytest.raises(ValueError, match=r"option tools: expected generator\.batched=false, found true"):
        play(Engine(["slow<|im_end|>"]), scripted.endpoint, hone=TOOLS, batched=True)
    assert scripted.seen["reset"] == 0


def test_environment_answers_a_call_as_the_user(scripted: ScriptedServer) -> None:
    adapter.register(scripted.endpoint, **TOOLS)
    env = skyrl_gym.make("hone", env_config={}, extras={"task": "add_relu"})
    prompt, _ = env.init(PROMPT)
    assert "# Tools" in prompt[-1]["content"]
    step = env.step(call("check", code="wrong"))
    assert step["observations"] == [{"role": "user", "content": answers("check found: wrong")}]
    assert (step["reward"], step["done"], step["metadata"]["turns"]) == (0.0, False, 0)
    assert env.turns == 0
    assert env.step("slow")["done"]


def test_a_dropped_environment_leaves_no_episode(scripted: ScriptedServer) -> None:
    adapter.register(scripted.endpoint)
    env = skyrl_gym.make("hone", env_config={}, extras={"task": "add_relu"})
    env.init(PROMPT)
    del env
    gc.collect()
    scripted.wait_for("closed")
    assert scripted.open() == []


def test_an_engine_that_fails_leaves_no_episode(scripted: ScriptedServer) -> None:
    def fail() -> None:
        raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError, match="out of memory"):
        play(Engine(["slow<|im_end|>"], before=fail), scripted.endpoint)
    gc.collect()
    scripted.wait_for("close")


def test_mistakes_are_reported(scripted: ScriptedServer) -> None:
    adapter.register(scripted.endpoint)
    env = skyrl_gym.make("hone", env_config={}, extras={"task": "ad_relu"})
    with pytest.raises(hone.NotFound, match="did you mean"):
        env.init(PROMPT)
    with pytest.raises(TypeError, match=r"unknown settings \['splitt'\]"):
        adapter.register(scripted.endpoint, splitt="train")


def test_other_environments_of_a_batch_are_not_changed(scripted: ScriptedServer) -> None:
    adapter.register(scripted.endpoint)
    row = {"prompt": PROMPT, "env_class": "gsm8k", "uid": "1", "env_extras": {"reward_spec": {"ground_truth": "4"}}}
    batch, _ = prepare_generator_input([row], 1, {"logprobs": 1}, "hone", "train", 1)
    of = adapter.Masked(generator(Engine(["#### 4<|im_end|>"])))
    output = asyncio.run(of.generate(batch, disable_tqdm=True))
    assert totals(output) == [1.0]
    assert of.tokenizer is WORDS  # the rest of the generator is there


def test_the_example(tmp_path: Path, real: RealServer, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    path = ROOT / "clients/python/examples/trainers/skyrl_main.py"
    assert len(path.read_text().splitlines()) < 60
    file = tmp_path / "tasks.jsonl"
    monkeypatch.setattr("sys.argv", [str(path), real.endpoint, str(file)])
    names = runpy.run_path(str(path), run_name="__main__")
    said = capsys.readouterr().out
    data = PromptDataset(str(file), WORDS, 8000, num_workers=1)
    assert said.endswith(f"{len(data)} tasks\n")
    at = next(at for at in range(len(data)) if data[at][2]["task"].endswith("add_relu"))
    (row,) = data.collate_fn([data[at]])
    batch, _ = prepare_generator_input([row], 1, {"logprobs": 1}, "gsm8k", "train", 1)
    # SkyRL's own experiment, short of what needs an inference engine.
    config = SkyRLTrainConfig.from_cli_overrides(
        [f"data.train_data=['{file}']", "generator.batched=false", "generator.max_turns=1", f"{MODEL}=tiny"]
    )
    config.generator.max_input_length = 8000
    adapter.register(real.endpoint)
    experiment = object.__new__(names["HoneExp"])
    engine = Engine([f"```cpp\n{FUSED}\n```<|im_end|>"])
    engine.scripts *= at + 1
    made = experiment.get_generator(config, WORDS, engine)
    output = asyncio.run(asyncio.wait_for(made.generate(batch), SECONDS_MAX))
    assert totals(output)[0] > 0
    assert output["rollout_metrics"]["hone/faults"] == 0.0


MODEL = "trainer.policy.model.path"


def test_the_block_of_its_page(scripted: ScriptedServer) -> None:
    page = (ROOT / "docs/trainers/skyrl.md").read_text().replace("tcp://127.0.0.1:5917", scripted.endpoint)
    (block,) = re.findall(r"^```python name=skyrl\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"generator": generator(Engine(*[["slow<|im_end|>"] * 2] * 2))}
    exec(block, names)
    batch, _ = rows(2)
    output = asyncio.run(names["generator"].generate(batch, disable_tqdm=True))
    assert output["rollout_metrics"]["hone/faults"] == 0.0


def test_other_skyrl_version_raises_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0.3.1")
    with pytest.raises(ImportError) as caught:
        adapter.Masked(SimpleNamespace())
    said = "hone.adapters.skyrl supports skyrl >= 0.4, < 0.5; found 0.3.1: pip install 'skyrl>=0.4,<0.5'"
    assert str(caught.value) == said


def test_a_line_of_its_data(tmp_path: Path, scripted: ScriptedServer) -> None:
    file = tmp_path / "tasks.jsonl"
    assert adapter.write_prompts(file, endpoint=scripted.endpoint, name="kernels") == 1
    (line,) = [json.loads(line) for line in file.read_text().splitlines()]
    assert line["prompt"] == [{"role": "user", "content": "Write a kernel."}]
    assert (line["env_class"], line["task"]) == ("kernels", "tasks/add_relu")
