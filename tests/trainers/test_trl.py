"""TRL's own GRPOTrainer with hone, by tool calls and by rollouts; unscored turns are not trained on."""

from __future__ import annotations

import gc
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import hone
import pytest
import torch
from datasets import Dataset
from hone.adapters import trl as adapter
from transformers.utils import get_json_schema
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import (
    add_response_schema,
    get_training_chat_template,
    qwen3_chat_template,
    qwen3_training_chat_template,
)

from calls import after_answers
from scripted import ScriptedServer
from servers import ROOT, SECONDS_MAX, RealServer, Script, free_port
from tiny import model, tokenizer, weights

GOLDEN = ROOT / "envs/kernel_refine/tasks/add_relu/golden"
FUSED, WRONG = (GOLDEN / "demo_4_fused.cpp").read_text(), (GOLDEN / "demo_1_wrong.cpp").read_text()


class Watched(GRPOTrainer):
    """A GRPOTrainer whose model says what the test wants, and which shows what it trains on."""

    def __init__(self, folder: Path, words: Any, **given: Any) -> None:
        config = GRPOConfig(
            output_dir=str(folder),
            per_device_train_batch_size=4,
            num_generations=4,
            max_completion_length=given.pop("max_completion_length", 3000),
            max_steps=given.pop("max_steps", 1),
            learning_rate=1e-2,
            use_cpu=True,
            report_to=[],
            save_strategy="no",
            bf16=False,
            gradient_checkpointing=False,
            logging_steps=1,
        )
        self.answers: list[list[str]] = given.pop("answers", [])
        self.trained_on: list[dict[str, Any]] = []
        super().__init__(model=model(words), args=config, processing_class=words, **given)

    def _generate_single_turn(self, prompt_ids: list[list[int]], *rest: Any, **named: Any) -> Any:
        if not self.answers:
            return super()._generate_single_turn(prompt_ids, *rest, **named)
        said = self.answers.pop(0)
        assert len(said) == len(prompt_ids)
        return [self._tokenizer.encode(text + "<|im_end|>") for text in said], None

    def _compute_loss(self, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        self.trained_on.append({k: v.clone() for k, v in inputs.items() if isinstance(v, torch.Tensor)})
        return super()._compute_loss(model, inputs)

    def advantages(self) -> list[float]:
        """Of all samples, the lowest first: TRL shuffles a batch."""
        return sorted(torch.cat([inputs["advantages"].flatten() for inputs in self.trained_on]).tolist())


def call(code: object, tool: str = "submit_kernel") -> str:
    """How a model of Qwen's calls a tool."""
    arguments = {} if code is None else {"code": code}
    return "<tool_call>\n" + json.dumps({"name": tool, "arguments": arguments}) + "\n</tool_call>"


def with_tools(folder: Path, play: adapter.Environments, answers: list[list[str]], **given: Any) -> Watched:
    words = add_response_schema(tokenizer(qwen3_chat_template))
    rows = [{**row, "seed": 1} for row in play.rows() if row["task"].endswith("add_relu")]
    return Watched(
        folder, words, environment_factory=play, train_dataset=Dataset.from_list(rows), answers=answers, **given
    )


def test_a_step_of_training_by_tool_calls(tmp_path: Path, real: RealServer) -> None:
    play = adapter.Environments(real.endpoint, options={"max_turns": 2})
    answers = [
        [call(FUSED), call(f"```cpp\n{WRONG}\n```"), call("int x;"), "I would rather not."],
        [call(FUSED), "Enough.", "Enough."],
        ["Done."],
    ]
    trainer = with_tools(tmp_path, play, answers)
    before = weights(trainer.model)
    trainer.train()
    records = [environment.record for environment in trainer.environments]
    assert [record.outcomes for record in records] == [["correct", "correct"], ["wrong"], ["build_failed"], []]
    assert [record.score for record in records][1:] == pytest.approx([0.1, 0.0, 0.0])
    assert all(record.ended and record.fault is None for record in records)
    assert [len(record.returns) for record in records] == [2, 1, 1, 0]
    assert records[0].best_speedup is not None
    none, broken, wrong, first = trainer.advantages()
    assert none == broken < wrong < first
    assert not torch.equal(before, weights(trainer.model))
    assert trainer.state.log_history[0]["rewards/KernelEnvironment/mean"] > 0


def test_fault_has_no_advantage_and_does_not_change_the_mean(tmp_path: Path, scripted: ScriptedServer) -> None:
    # A list, because the class replaces the check of its settings.
    servers = [scripted.endpoint, f"tcp://127.0.0.1:{free_port()}"]
    play = adapter.Environments(servers, options={"max_turns": 1})
    trainer = with_tools(tmp_path, play, [[call("fast"), call("wrong"), call("fault"), call("wrong")], ["Ok."] * 4])
    trainer.train()
    wrong, same, fault, good = trainer.advantages()
    assert fault == 0.0
    assert wrong == same < 0
    assert good + wrong + same == pytest.approx(0.0, abs=1e-4)
    assert [e.record.score for e in trainer.environments] == [1.3, 0.1, None, 0.1]
    assert trainer.environments[2].record.fault == "turn 1: the judge's process died"
    assert not scripted.episodes or all(e["turn"] == 1 for e in scripted.episodes.values())


def test_a_batch_of_faults_moves_nothing(tmp_path: Path, scripted: ScriptedServer) -> None:
    play = adapter.Environments(scripted.endpoint)
    trainer = with_tools(tmp_path, play, [[call("fault")] * 4, ["Ok."] * 4])
    before = weights(trainer.model)
    trainer.train()
    assert trainer.advantages() == [0.0] * 4
    assert torch.equal(before, weights(trainer.model))


def test_a_lost_server_is_a_fault_and_training_goes_on(scripted: ScriptedServer) -> None:
    environment = adapter.Environments(scripted.endpoint, reconnect_timeout=0.2)()
    assert "Write a kernel." in environment.reset(task="add_relu", prompt=[{"role": "user", "content": ""}])
    assert "judged: wrong" in environment.submit_kernel("wrong")
    scripted.stop()
    assert "this is not your fault" in environment.submit_kernel("slow")
    assert environment.get_reward() is None
    assert environment.record.fault.startswith("turn 2: unavailable: ")
    assert environment.record.rewards == [0.1]
    assert "not available" in environment.reset(task="add_relu")
    assert environment.get_reward() is None
    assert environment.record.fault.startswith("reset: unavailable: ")


def test_tool_reports_a_call_after_the_end(scripted: ScriptedServer) -> None:
    environment = adapter.Environments(scripted.endpoint, options={"max_turns": 2})()
    environment.reset(task="add_relu")
    assert "must be a string" in environment.submit_kernel({"not": "code"})
    assert "The episode is over" not in environment.submit_kernel("wrong")
    assert "The episode is over" in environment.submit_kernel("slow")
    assert "nothing more is judged" in environment.submit_kernel("slow")
    assert scripted.evaluations == 2
    assert environment.get_reward() == pytest.approx(0.5)
    assert environment.record.returns == [0.1, 0.4]


def test_invalid_request_ends_training(scripted: ScriptedServer) -> None:
    environment = adapter.Environments(scripted.endpoint)()
    with pytest.raises(hone.NotFound, match="did you mean 'tasks/add_relu'"):
        environment.reset(task="ad_relu")
    environment.reset(task="add_relu")
    other = hone.connect(scripted.endpoint)
    episode = next(iter(scripted.episodes))
    other.resume(episode, scripted.episodes[episode]["token"])
    with pytest.raises(hone.FailedPrecondition):
        environment.submit_kernel("slow")
    scripted.episodes[episode]["owner"] = b""
    with pytest.raises(hone.FailedPrecondition, match="belongs to another connection"):
        environment.get_reward()
    other.close()


def test_missing_server_is_an_error_before_training(scripted: ScriptedServer) -> None:
    scripted.stop()
    with pytest.raises(hone.Unavailable, match=scripted.endpoint):
        adapter.Environments(scripted.endpoint, connect_timeout=0.3)()


def test_a_dropped_environment_leaves_no_episode(scripted: ScriptedServer) -> None:
    environment = adapter.Environments(scripted.endpoint)()
    environment.reset(task="add_relu")
    assert len(scripted.episodes) == 1
    del environment
    gc.collect()
    scripted.wait_for("closed")
    assert not scripted.episodes


def test_only_the_tool_is_a_tool() -> None:
    public = {name for name in vars(adapter.KernelEnvironment) if not name.startswith("_")}
    assert public == {"reset", "get_reward", "submit_kernel", "record"}
    assert isinstance(adapter.KernelEnvironment.record, property)


def test_tools_of_hone_have_the_schemas_of_the_server(real: RealServer) -> None:
    play = adapter.Environments(real.endpoint, options={"tools": {"hardware": 1, "check": 2, "profile": 0}})
    environment = play()
    assert type(environment) is type(play())
    assert type(environment).__name__ == "KernelEnvironment"
    assert type(adapter.Environments(real.endpoint)()) is adapter.KernelEnvironment
    assert not hasattr(environment, "profile")
    with hone.connect(real.endpoint) as client:
        listed = {tool["name"]: tool for tool in client.describe()["environment"]["tools"]}
    for name, arguments in (("check", ["code"]), ("hardware", [])):
        function = get_json_schema(getattr(environment, name))["function"]
        assert function["description"] == listed[name]["description"]
        assert list(function["parameters"]["properties"]) == arguments
        assert function["parameters"].get("required", []) == arguments
        for one in arguments:
            given = listed[name]["parameters"]["properties"][one]
            assert function["parameters"]["properties"][one] == given
    with pytest.raises(ValueError, match=r"option tools: found \['chek'\], expected some of \['check', 'profile'"):
        adapter.Environments(real.endpoint, options={"tools": {"chek": 1}})()


def test_tools_of_hone_answer_the_model(real: RealServer) -> None:
    environment: Any = adapter.Environments(real.endpoint, options={"tools": {"compile": 2, "hardware": 1}})()
    environment.reset(task="add_relu")
    assert environment.compile(code=f"```cpp\n{FUSED}\n```").startswith("The kernel builds.")
    assert environment.compile(code="int x;").startswith("Your code did not compile.")
    assert "uses left: hardware (1)" in environment.compile(code="int x;")
    assert environment.hardware().startswith("Device: ")
    assert environment.record.tool_calls == {"compile": 2, "hardware": 1}
    assert [m["role"] for m in environment.record.messages[2:]] == ["assistant", "tool"] * 3
    assert (environment.get_reward(), environment.record.turns) == (0.0, 0)


def test_a_step_of_training_with_tools_of_hone(tmp_path: Path, scripted: ScriptedServer) -> None:
    play = adapter.Environments(scripted.endpoint, options={"max_turns": 1, "tools": {"check": 2, "hardware": 1}})
    answers = [
        [call("slow", "check"), call("wrong", "check") + call(None, "hardware"), call("x", "profile"), call("fast")],
        [call("fast"), call(7, "check"), call("wrong"), "Done."],
        ["Done.", call("wrong"), "Done."],
        ["Done."],
    ]
    trainer = with_tools(tmp_path, play, answers)
    assert "A call leaves the turn open" in trainer.train_dataset[0]["prompt"][0]["content"]
    trainer.train()
    assert trainer.answers == []
    records = [environment.record for environment in trainer.environments]
    assert [record.tool_calls for record in records] == [{"check": 1}, {"check": 1, "hardware": 1}, {}, {}]
    assert [record.score for record in records] == [1.3, 0.1, 0.1, 1.3]
    low, same, high, equal = trainer.advantages()
    assert low == same < 0 < high == equal
    # TRL itself answers a call of a tool that the class does not have.
    assert trainer.state.log_history[0]["tools/failure_frequency"] == pytest.approx(1 / 9)


def test_a_models_mistake_with_a_tool_is_an_answer(scripted: ScriptedServer) -> None:
    environment: Any = adapter.Environments(scripted.endpoint, options={"tools": {"check": 1, "hardware": 1}})()
    environment.reset(task="add_relu")
    assert environment.check(code=7) == "error: the argument 'code': expected code and language, both text"
    assert environment.check(kode="x").startswith("error: the argument 'kode'")
    assert environment.check(code="") == "error: step: action: the code is empty"
    assert environment.check(code="slow") == "check found: correct"
    spent = "error: tool check: unknown, or no use left; tools with uses left: hardware (1)"
    assert environment.check(code="slow") == spent
    assert "judged: wrong" in environment.submit_kernel("wrong")
    assert environment.hardware() == "hardware found: nothing"
    assert environment.get_reward() == 0.1
    assert environment.record.tool_calls == {"check": 1, "hardware": 1}
    assert "The episode is over" in environment.check(code="slow")


def test_fault_in_a_tool_has_no_advantage_and_does_not_change_the_mean(
    tmp_path: Path, scripted: ScriptedServer
) -> None:
    play = adapter.Environments(scripted.endpoint, options={"max_turns": 1, "tools": {"check": 1}})
    answers = [[call("fast"), call("wrong"), call("fault", "check"), call("wrong")], ["Ok."] * 4]
    trainer = with_tools(tmp_path, play, answers)
    trainer.train()
    wrong, same, fault, good = trainer.advantages()
    assert fault == 0.0
    assert wrong == same < 0
    assert good + wrong + same == pytest.approx(0.0, abs=1e-4)
    record = trainer.environments[2].record
    assert (record.score, record.rewards) == (None, [])
    assert record.fault == "turn 1: tool check: unavailable: the builder's process died"


def rollouts(folder: Path, play: adapter.Rollouts, **given: Any) -> Watched:
    rows = [row for row in play.rows() if row["task"].endswith("add_relu")]
    words = add_response_schema(tokenizer(qwen3_chat_template))  # recognizes the template, so it comes first
    words.chat_template = qwen3_training_chat_template
    return Watched(
        folder,
        words,
        rollout_func=play,
        reward_funcs=[adapter.hone_reward],
        train_dataset=Dataset.from_list(rows),
        **given,
    )


def test_template_that_rewrites_answers_is_refused_and_a_working_one_named(
    tmp_path: Path, scripted: ScriptedServer
) -> None:
    words = tokenizer(qwen3_chat_template)
    named = r"trl\.chat_template_utils\.get_training_chat_template\(tokenizer\)"
    works = rf"this one works: tokenizer\.chat_template = {named}"
    with pytest.raises(ValueError, match=works):
        adapter.Rollouts(scripted.endpoint, tokenizer=words)
    adapter.Rollouts(scripted.endpoint, options={"max_turns": 1}, tokenizer=words)  # there is no later answer
    play = adapter.Rollouts(scripted.endpoint)
    trainer = Watched(
        tmp_path,
        words,
        rollout_func=play,
        reward_funcs=[adapter.hone_reward],
        train_dataset=Dataset.from_list(play.rows()),
    )
    with pytest.raises(ValueError, match=works):
        trainer.train()
    assert scripted.seen["reset"] == 0
    words.chat_template = get_training_chat_template(words)
    adapter.Rollouts(scripted.endpoint, tokenizer=words)
    words.chat_template = qwen3_chat_template.replace("<think>", "<thought>")  # TRL does not know this one
    with pytest.raises(ValueError, match=r"TRL has none for this tokenizer; or play one turn"):
        adapter.Rollouts(scripted.endpoint, tokenizer=words)


def test_training_by_rollouts_that_are_sampled(tmp_path: Path, real: RealServer) -> None:
    play = adapter.Rollouts(real.endpoint, options={"max_turns": 2})
    trainer = rollouts(tmp_path, play, max_completion_length=24, max_steps=2)
    trainer.train()
    assert len(trainer.trained_on) == 2
    assert trainer.state.log_history[0]["rewards/hone_reward/mean"] == 0.0
    assert trainer.state.log_history[0]["hone/faults"] == 0.0


def test_rollouts_of_several_turns(tmp_path: Path, real: RealServer) -> None:
    play = adapter.Rollouts(real.endpoint, options={"max_turns": 2})
    fused, wrong = f"Fused:\n```cpp\n{FUSED}\n```", f"```cpp\n{WRONG}\n```"
    trainer = rollouts(tmp_path, play, answers=[[fused, wrong, "no code", wrong], [fused, fused, wrong, "no"]])
    seen: list[dict[str, Any]] = []
    func = trainer.rollout_func
    trainer.rollout_func = lambda prompts, of: seen.append(func(prompts, of)) or seen[-1]
    before = weights(trainer.model)
    trainer.train()
    (batch,) = seen
    assert [len(rewards) for rewards in batch["hone_rewards"]] == [2, 2, 2, 2]
    assert batch["hone_rewards"][1][0] == pytest.approx(0.1)
    assert batch["hone_rewards"][2][0] == 0.0
    assert batch["hone_fault"] == [None] * 4
    words = trainer._tokenizer
    for ids, mask in zip(batch["completion_ids"], batch["env_mask"], strict=True):
        assert len(ids) == len(mask)
        theirs = words.decode([i for i, m in zip(ids, mask, strict=True) if not m])
        assert theirs.startswith("\n<|im_start|>user\n")
        assert theirs.endswith("<|im_start|>assistant\n")
        assert "turn is left" in theirs
    assert words.decode(batch["completion_ids"][2]).startswith("no code<|im_end|>\n<|im_start|>user")
    assert "# Add, then ReLU" in words.decode(batch["prompt_ids"][0])
    assert not torch.equal(before, weights(trainer.model))
    # Padding is 1 in TRL's mask: what it leaves out is the environment's words, all of them.
    assert (trainer.trained_on[0]["tool_mask"] == 0).sum() == sum(mask.count(0) for mask in batch["env_mask"])


def test_rollouts_with_tools(tmp_path: Path, scripted: ScriptedServer) -> None:
    play = adapter.Rollouts(scripted.endpoint, options={"max_turns": 1, "tools": {"check": 1, "hardware": 1}})
    both = call("wrong", "check") + "\n" + call(None, "hardware")
    answers = [
        [both, call("x", "profile"), call(7, "check"), "fast"],
        [call("slow", "check"), "wrong", both],
        ["wrong"],
    ]
    trainer = rollouts(tmp_path, play, answers=answers)
    seen: list[dict[str, Any]] = []
    func = trainer.rollout_func
    trainer.rollout_func = lambda prompts, of: seen.append(func(prompts, of)) or seen[-1]
    trainer.train()
    assert trainer.answers == []
    (batch,) = seen
    assert batch["hone_fault"] == [None] * 4
    # No use was left after the first answer, so the second one is judged although it has a call.
    assert batch["hone_score"] == [0.4, 0.1, 0.1, 1.3]
    words = trainer._tokenizer
    assert '{"type": "function", "function": {"name": "check", ' in words.decode(batch["prompt_ids"][0])
    theirs = []
    for ids, mask in zip(batch["completion_ids"], batch["env_mask"], strict=True):
        assert len(ids) == len(mask)
        theirs.append(words.decode([i for i, m in zip(ids, mask, strict=True) if not m]))
    unknown = "error: tool profile: unknown, or no use left; tools with uses left: check (1), hardware (1)"
    wrong = "error: the argument 'code': expected code and language, both text"
    called = after_answers("check found: wrong", "hardware found: nothing")
    assert theirs == [called, after_answers(unknown), after_answers(wrong) + called, ""]


def test_a_fault_of_a_tool_in_a_rollout_is_masked(tmp_path: Path, scripted: ScriptedServer) -> None:
    play = adapter.Rollouts(scripted.endpoint, options={"max_turns": 1, "tools": {"check": 1}})
    trainer = rollouts(tmp_path, play, answers=[["fast", "wrong", call("fault", "check"), "wrong"]])
    trainer.train()
    wrong, same, fault, good = trainer.advantages()
    assert fault == 0.0
    assert wrong == same < 0 < good
    assert good + wrong + same == pytest.approx(0.0, abs=1e-4)
    assert trainer.state.log_history[0]["hone/faults"] == 0.25


def test_rollouts_with_tools_refuse_a_tokenizer_without_tool_calls(scripted: ScriptedServer) -> None:
    options = {"max_turns": 1, "tools": {"check": 1}}
    words = tokenizer(qwen3_training_chat_template)
    with pytest.raises(ValueError, match=r"add_response_schema\(tokenizer\) before you replace its chat template"):
        adapter.Rollouts(scripted.endpoint, options=options, tokenizer=words)
    words.chat_template = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
    with pytest.raises(ValueError, match="option tools: the chat template does not write tool calls"):
        adapter.Rollouts(scripted.endpoint, options=options, tokenizer=words)
    assert scripted.seen["reset"] == 0


def test_a_fault_in_a_rollout_is_masked(tmp_path: Path, scripted: ScriptedServer) -> None:
    play = adapter.Rollouts(scripted.endpoint, options={"max_turns": 1})
    trainer = rollouts(tmp_path, play, answers=[["fast", "wrong", "fault", "wrong"]])
    trainer.train()
    wrong, same, fault, good = trainer.advantages()
    assert fault == 0.0
    assert wrong == same < 0 < good
    assert good + wrong + same == pytest.approx(0.0, abs=1e-4)
    assert trainer.state.log_history[0]["hone/faults"] == 0.25


def test_rollouts_with_no_server_left_are_masked(tmp_path: Path, scripted: ScriptedServer) -> None:
    play = adapter.Rollouts(scripted.endpoint, reconnect_timeout=0.2)
    trainer = rollouts(tmp_path, play, answers=[["slow"] * 4])
    scripted.stop()
    before = weights(trainer.model)
    trainer.train()
    assert trainer.advantages() == [0.0] * 4
    assert torch.equal(before, weights(trainer.model))


def test_lost_rollouts_begin_again_elsewhere(tmp_path: Path, scripted_pair: list[ScriptedServer]) -> None:
    servers = [one.endpoint for one in scripted_pair]
    play = adapter.Rollouts(servers, options={"max_turns": 1}, reconnect_timeout=2.0)
    trainer = rollouts(tmp_path, play)
    trainer.answers = Script(scripted_pair, ["wrong"] * 4, ["fast", "wrong", "fault", "wrong"])
    trainer.train()
    assert trainer.answers == []
    wrong, same, fault, good = trainer.advantages()
    assert fault == 0.0
    assert wrong == same < 0 < good
    assert trainer.state.log_history[0]["hone/faults"] == 0.25


def test_generation_that_fails_leaves_no_episode(tmp_path: Path, scripted: ScriptedServer) -> None:
    def fail(*_: Any) -> Any:
        raise RuntimeError("out of memory")

    trainer = rollouts(tmp_path, adapter.Rollouts(scripted.endpoint, generate=fail))
    with pytest.raises(RuntimeError, match="out of memory"):
        trainer.train()
    gc.collect()
    scripted.wait_for("closed", 4)
    assert scripted.open() == []


def test_the_trainer_still_has_what_the_adapter_calls() -> None:
    assert callable(GRPOTrainer._generate_single_turn)
    assert callable(GRPOTrainer._tokenize_prompts)


def test_the_example(tmp_path: Path, real: RealServer) -> None:
    words = tokenizer(qwen3_chat_template)
    words.save_pretrained(tmp_path / "model")
    model(words).save_pretrained(tmp_path / "model")
    example = ROOT / "clients/python/examples/trainers/trl_grpo.py"
    options = ["--endpoint", real.endpoint, "--steps", "1", "--tokens", "16", "--output", str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, example, tmp_path / "model", *options], capture_output=True, text=True, timeout=SECONDS_MAX
    )
    assert done.returncode == 0, done.stderr
    assert "step 1: reward 0" in done.stdout
    assert len(example.read_text().splitlines()) < 60


def test_the_blocks_of_its_page(tmp_path: Path, real: RealServer) -> None:
    page = (ROOT / "docs/trainers/trl.md").read_text().replace("tcp://127.0.0.1:5917", real.endpoint)
    blocks = re.findall(r"^```python name=trl\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    words = tokenizer(qwen3_chat_template)
    words.save_pretrained(tmp_path)
    model(words).save_pretrained(tmp_path)
    config = GRPOConfig(output_dir=str(tmp_path), num_generations=4, per_device_train_batch_size=4, bf16=False)
    names: dict[str, Any] = {"model": str(tmp_path), "config": config}
    exec(blocks[0], names)
    assert names["trainer"].reward_func_names == ["KernelEnvironment"]
    assert len(names["trainer"].train_dataset) >= 19
    exec(blocks[1], names)
    assert names["trainer"].reward_func_names == ["hone_reward"]
    assert names["trainer"].rollout_func is names["play"]
