"""verl's own workers run the agent loop with an engine that answers from a script."""

from __future__ import annotations

import asyncio
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import hone
import pyarrow.parquet as pq
import pytest
from hone.adapters import verl as adapter
from hone.adapters._play import Settings
from omegaconf import OmegaConf
from trl.chat_template_utils import qwen3_training_chat_template
from verl.experimental.agent_loop.agent_loop import AgentLoopWorker, _agent_loop_registry
from verl.workers.rollout.replica import TokenOutput

from calls import after_answers, call
from scripted import ScriptedServer
from servers import ROOT, SECONDS_MAX, RealServer, Script, free_port
from tiny import tokenizer
from verl_configuration import composed, configuration, save_checkpoint

FUSED = (ROOT / "envs/kernel_refine/tasks/add_relu/golden/demo_4_fused.cpp").read_text()


class Engine:
    """What verl calls its server manager: the script's next words, token for token."""

    def __init__(self, words: Any, *script: str) -> None:
        self.words, self.script, self.asked = words, list(script), []

    async def generate(self, request_id: str, *, prompt_ids: list[int], **_: Any) -> TokenOutput:
        self.asked.append(list(prompt_ids))
        ids = self.words.encode(self.script.pop(0))
        return TokenOutput(token_ids=ids, log_probs=[-0.5] * len(ids), stop_reason="completed")


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_checkpoint(tmp_path_factory.mktemp("checkpoint"))


def worker(checkpoint: str, folder: Path, endpoint: str | list[str], *script: str, **given: Any) -> AgentLoopWorker:
    """verl's worker with its own configuration, and the loop from a file."""
    config = configuration(checkpoint, folder, endpoint, **given)
    return AgentLoopWorker(config, Engine(tokenizer(qwen3_training_chat_template), *script))


def run(of: AgentLoopWorker, **columns: Any) -> Any:
    trajectory = {"step": 1, "sample_index": 0, "rollout_n": 0, "validate": False}
    columns = {"raw_prompt": [{"role": "user", "content": "unused"}], "task": "add_relu", **columns}

    async def main() -> Any:
        return await of._run_agent_loop({}, trajectory, agent_name="hone", trace=False, **columns)

    return asyncio.run(asyncio.wait_for(main(), SECONDS_MAX))


def test_a_lost_episode_begins_again_elsewhere(
    checkpoint: str, tmp_path: Path, scripted_pair: list[ScriptedServer]
) -> None:
    servers = [one.endpoint for one in scripted_pair]
    of = worker(checkpoint, tmp_path, servers, reconnect_timeout=2.0, options={"max_turns": 1})
    of.llm_client.script = Script(scripted_pair, "wrong<|im_end|>", "slow<|im_end|>")
    done = run(of, uid="u1")
    assert (done.reward_score, done.extra_fields["turn_scores"]) == (0.4, [0.4])
    assert done.extra_fields["reward_extra_info"]["hone_valid"] == 1.0
    assert done.num_turns == 2


def test_a_list_of_servers_in_the_file_of_loops(checkpoint: str, tmp_path: Path, scripted: ScriptedServer) -> None:
    servers = [scripted.endpoint, f"tcp://127.0.0.1:{free_port()}"]
    of = worker(checkpoint, tmp_path, servers, "slow<|im_end|>", options={"max_turns": 1})
    assert run(of).reward_score == 0.4
    settings = Settings.of({"endpoint": OmegaConf.create(servers)})
    assert settings.endpoint == tuple(servers)


def test_an_episode_of_two_turns(checkpoint: str, tmp_path: Path, real: RealServer) -> None:
    script = ["no code here<|im_end|>", f"```cpp\n{FUSED}\n```<|im_end|>"]
    of = worker(checkpoint, tmp_path, real.endpoint, *script, options={"max_turns": 2})
    done = run(of, uid="u1")
    assert done.reward_score > 0
    scores = done.extra_fields["turn_scores"]
    assert len(scores) == 2
    assert scores[0] == 0.0 < scores[1]
    assert done.extra_fields["reward_extra_info"]["hone_valid"] == 1.0
    assert done.extra_fields["reward_extra_info"]["hone_speedup"] > 0
    assert done.num_turns == 4
    ids, mask = done.response_ids[0].tolist(), done.response_mask[0].tolist()
    said = of.tokenizer.decode([t for t, m in zip(ids, mask, strict=True) if m])
    assert said.startswith(script[0] + "```cpp")
    prompt = of.tokenizer.decode(of.llm_client.asked[0])
    assert "# Add, then ReLU" in prompt
    assert "No code was found" in of.tokenizer.decode(of.llm_client.asked[1])


def test_a_fault_raises_where_the_trainer_knows_that(checkpoint: str, tmp_path: Path, scripted: ScriptedServer) -> None:
    of = worker(checkpoint, tmp_path, scripted.endpoint, "fault<|im_end|>")
    with pytest.raises(adapter.FaultError, match="turn 1: the judge's process died"):
        run(of)


def test_a_fault_is_masked_for_the_old_worker(checkpoint: str, tmp_path: Path, scripted: ScriptedServer) -> None:
    of = worker(checkpoint, tmp_path, scripted.endpoint, "fault<|im_end|>", use_v1=False)
    done = run(of)
    assert done.response_mask.sum() == 0
    assert done.reward_score == 0.0
    assert done.extra_fields["reward_extra_info"]["hone_valid"] == 0.0


def test_a_lost_server_is_a_fault(checkpoint: str, tmp_path: Path, scripted: ScriptedServer) -> None:
    of = worker(checkpoint, tmp_path, scripted.endpoint, "slow<|im_end|>", reconnect_timeout=0.2)
    ask = of.llm_client.generate

    async def stop_then_answer(*args: Any, **named: Any) -> TokenOutput:
        scripted.stop()
        return await ask(*args, **named)

    of.llm_client = SimpleNamespace(generate=stop_then_answer)
    with pytest.raises(adapter.FaultError, match="turn 1: unavailable: "):
        run(of)


def test_an_engine_that_fails_leaves_no_episode(checkpoint: str, tmp_path: Path, scripted: ScriptedServer) -> None:
    of = worker(checkpoint, tmp_path, scripted.endpoint)

    async def fail(**_: Any) -> TokenOutput:
        raise RuntimeError("out of memory")

    of.llm_client = SimpleNamespace(generate=fail)
    with pytest.raises(RuntimeError, match="out of memory"):
        run(of)
    assert (scripted.seen["reset"], scripted.open()) == (1, [])


def test_a_trajectory_that_verl_drops_leaves_no_episode(
    checkpoint: str, tmp_path: Path, scripted: ScriptedServer
) -> None:
    of = worker(checkpoint, tmp_path, scripted.endpoint)
    dropped: list[asyncio.Task[Any]] = []

    async def drop(**_: Any) -> TokenOutput:
        dropped[0].cancel()
        await asyncio.sleep(0)
        raise AssertionError("the cancellation arrives first")

    async def main() -> None:
        columns = {"raw_prompt": [{"role": "user", "content": "unused"}], "task": "add_relu"}
        trajectory = {"step": 1, "sample_index": 0, "rollout_n": 0, "validate": False}
        of.llm_client = SimpleNamespace(generate=drop)
        dropped.append(asyncio.create_task(of._run_agent_loop({}, trajectory, agent_name="hone", **columns)))
        with pytest.raises(asyncio.CancelledError):
            await dropped[0]

    asyncio.run(main())
    assert (scripted.seen["reset"], scripted.open()) == (1, [])


def test_an_answer_that_is_too_long_is_cut(checkpoint: str, tmp_path: Path, scripted: ScriptedServer) -> None:
    of = worker(checkpoint, tmp_path, scripted.endpoint, "wrong " * 20, response_length=16)
    done = run(of)
    assert done.response_mask.sum() == 16
    assert done.reward_score == pytest.approx(0.1)


TOOLS = {"max_turns": 1, "tools": {"check": 1, "hardware": 1}}


def test_tool_calls_leave_the_turn_open(checkpoint: str, tmp_path: Path, scripted: ScriptedServer) -> None:
    script = [
        f"First:\n{call('check', code='wrong')}\n{call('hardware')}<|im_end|>",
        f"{call('check', code='slow')}<|im_end|>",
        "<tool_call>{</tool_call><|im_end|>",
        "slow<|im_end|>",
    ]
    of = worker(checkpoint, tmp_path, scripted.endpoint, *script, options=TOOLS)
    done = run(of)
    assert (done.reward_score, done.extra_fields["turn_scores"]) == (0.4, [0.4])
    assert (done.extra_fields["tool_rewards"], done.num_turns) == ([], 8)
    assert done.extra_fields["reward_extra_info"]["hone_tool_calls"] == 2
    prompt = of.tokenizer.decode(of.llm_client.asked[0])
    assert '{"type": "function", "function": {"name": "check", ' in prompt
    ids, mask = done.response_ids[0].tolist(), done.response_mask[0].tolist()
    attended = done.attention_mask[0, -len(ids) :].tolist()
    assert of.tokenizer.decode([t for t, m in zip(ids, mask, strict=True) if m]) == "".join(script)
    heard = of.tokenizer.decode([t for t, m, a in zip(ids, mask, attended, strict=True) if a and not m])
    spent = "error: tool check: unknown, or no use left; tools with uses left: none"
    wrong = "error: the arguments are not valid JSON: "
    start = after_answers("check found: wrong", "hardware found: nothing") + after_answers(spent)
    assert heard.startswith(start + after_answers(wrong).partition("\n</tool_response>")[0])
    assert scripted.open() == []


@pytest.mark.parametrize("form", ["hermes", "qwen3_coder"])
def test_a_call_in_thoughts_is_not_made(checkpoint: str, tmp_path: Path, scripted: ScriptedServer, form: str) -> None:
    coder = "<tool_call>\n<function=check>\n<parameter=code>\n{}\n</parameter>\n</function>\n</tool_call>"
    one = (lambda code: call("check", code=code)) if form == "hermes" else coder.format
    script = [
        f"<think>I could ask {one('crash')}</think>{one('wrong')}<|im_end|>",
        f"<think>{one('nothing')}</think>slow<|im_end|>",
    ]
    of = worker(checkpoint, tmp_path, scripted.endpoint, *script, options=TOOLS, format=form)
    done = run(of)
    assert (done.reward_score, done.extra_fields["reward_extra_info"]["hone_tool_calls"]) == (0.4, 1)
    assert after_answers("check found: wrong") in of.tokenizer.decode(of.llm_client.asked[1])


def test_calls_are_parsed_in_the_rollout_format(checkpoint: str, tmp_path: Path, scripted: ScriptedServer) -> None:
    said = "<tool_call>\n<function=check>\n<parameter=code>\nwrong\n</parameter>\n</function>\n</tool_call><|im_end|>"
    of = worker(checkpoint, tmp_path, scripted.endpoint, said, "slow<|im_end|>", options=TOOLS, format="qwen3_coder")
    done = run(of)
    assert (done.reward_score, done.extra_fields["reward_extra_info"]["hone_tool_calls"]) == (0.4, 1)
    assert after_answers("check found: wrong") in of.tokenizer.decode(of.llm_client.asked[1])
    with pytest.raises(Exception, match=r"option tools: rollout.multi_turn.format: .* such as hermes"):
        run(worker(checkpoint, tmp_path, scripted.endpoint, options=TOOLS, format="none"))


def test_a_fault_of_a_tool_is_no_reward(checkpoint: str, tmp_path: Path, scripted: ScriptedServer) -> None:
    said = f"{call('check', code='fault')}<|im_end|>"
    with pytest.raises(adapter.FaultError, match="turn 1: tool check: unavailable: the builder's process died"):
        run(worker(checkpoint, tmp_path, scripted.endpoint, said, options=TOOLS))
    done = run(worker(checkpoint, tmp_path, scripted.endpoint, said, options=TOOLS, use_v1=False))
    assert done.response_mask.sum() == 0


def test_without_the_option_a_call_is_text(checkpoint: str, tmp_path: Path, scripted: ScriptedServer) -> None:
    of = worker(checkpoint, tmp_path, scripted.endpoint, f"slow {call('hardware')}<|im_end|>", options={"max_turns": 1})
    done = run(of)
    assert (done.reward_score, done.extra_fields["reward_extra_info"]["hone_tool_calls"]) == (0.4, 0)
    assert "# Tools" not in of.tokenizer.decode(of.llm_client.asked[0])


def test_mistakes_are_reported(checkpoint: str, tmp_path: Path, scripted: ScriptedServer) -> None:
    with pytest.raises(hone.NotFound, match="did you mean"):
        run(worker(checkpoint, tmp_path, scripted.endpoint), task="ad_relu")
    with pytest.raises(Exception, match="on_fault: found 'drop', expected 'raise', 'mask' or nothing"):
        run(worker(checkpoint, tmp_path, scripted.endpoint, on_fault="drop"))


def test_import_registers_the_environments() -> None:
    assert _agent_loop_registry["hone"]["_target_"] == "hone.adapters.verl.HoneAgentLoop"


def test_the_example(
    checkpoint: str,
    tmp_path: Path,
    real: RealServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = ROOT / "clients/python/examples/trainers/verl_files.py"
    assert len(path.read_text().splitlines()) < 60
    monkeypatch.setattr("sys.argv", [str(path), str(tmp_path), real.endpoint])
    runpy.run_path(str(path), run_name="__main__")
    said = capsys.readouterr().out.splitlines()
    config = composed(said[1:])
    rollout = config.actor_rollout_ref.rollout
    (loop,) = OmegaConf.load(rollout.agent.agent_loop_config_path)
    assert (loop.name, loop.endpoint) == (rollout.agent.default_agent_loop, real.endpoint)
    rows = pq.read_table(config.data.train_files).to_pylist()
    row = next(row for row in rows if row["extra_info"]["task"].endswith("add_relu"))
    of = worker(checkpoint, tmp_path, loop.endpoint, "no code", options={"max_turns": 1})
    done = run(of, task=None, raw_prompt=row["prompt"], extra_info=row["extra_info"])
    assert done.reward_score == 0.0
    assert done.extra_fields["turn_scores"] == [0.0]
