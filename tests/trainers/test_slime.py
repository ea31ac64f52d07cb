"""slime's custom functions with a scripted engine; with slime's own code if HONE_SLIME names it."""

from __future__ import annotations

import asyncio
import dataclasses
import http.server
import importlib
import inspect
import itertools
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import hone
import pytest
import yaml
from hone.adapters import slime as adapter
from trl.chat_template_utils import qwen3_chat_template, qwen3_training_chat_template

import slime_contract
from calls import after_answers, call
from scripted import ScriptedServer
from servers import ROOT, RealServer, Script, free_port
from tiny import tokenizer

IS_REAL = slime_contract.install()
Sample = importlib.import_module("slime.utils.types").Sample
FUSED = (ROOT / "envs/kernel_refine/tasks/add_relu/golden/demo_4_fused.cpp").read_text()
# A chat template that knows no tools.
WITHOUT_TOOLS = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
real_slime = pytest.mark.skipif(not IS_REAL, reason="HONE_SLIME names no checkout of slime, which is on no registry")


class Engine:
    """What slime's router answers to /generate: the script's next words, token for token."""

    def __init__(self, words: Any) -> None:
        self.script: list[tuple[str, str]] = []  # (text, reason of its end)
        self.asked: list[dict[str, Any]] = []
        self.may_answer = threading.Event()
        self.may_answer.set()
        engine = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                engine.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                engine.may_answer.wait(60)
                text, reason = engine.script.pop(0)
                ids = words.encode(text)
                meta = {
                    "output_token_logprobs": [[-0.5, token, None] for token in ids],
                    "finish_reason": {"type": reason},
                    "completion_tokens": len(ids),
                    "prompt_tokens": len(engine.asked[-1]["input_ids"]),
                    "cached_tokens": 0,
                    "weight_version": "1",
                }
                body = json.dumps({"text": text, "meta_info": meta}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("checkpoint")
    tokenizer(qwen3_training_chat_template).save_pretrained(folder)
    return str(folder)


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = Engine(tokenizer(qwen3_training_chat_template))
    yield made
    made.close()


def arguments(engine: Engine, checkpoint: str, endpoint: str | list[str], **hone_settings: Any) -> SimpleNamespace:
    return SimpleNamespace(
        hone={"endpoint": endpoint, **hone_settings},
        hf_checkpoint=checkpoint,
        sglang_router_ip="127.0.0.1",
        sglang_router_port=engine.server.server_port,
        sglang_server_concurrency=4,
        rollout_num_engines=1,
        use_distributed_post=False,
        sglang_dp_size=1,
        rollout_temperature=1.0,
        rollout_top_p=1.0,
        rollout_top_k=-1,
        rollout_max_response_len=6000,
        rollout_stop=None,
        rollout_stop_token_ids=None,
        rollout_skip_special_tokens=False,
        rollout_seed=1,
        partial_rollout=False,
        mask_offpolicy_in_partial_rollout=False,
        group_rm=False,
        custom_generate_function_path="hone.adapters.slime.generate",
        custom_rm_path=None,
        reward_key=None,
        n_samples_per_prompt=4,
        rollout_batch_size=1,
        advantage_estimator="grpo",
        rewards_normalization=True,
        grpo_std_normalization=True,
        use_slime_router=False,
        sglang_speculative_algorithm=None,
    )


def generate(args: Any, *samples: Any, room: int = 6000) -> list[Any]:
    """As slime calls it: by its own group function where it is there."""

    async def main() -> list[Any]:
        params = {"temperature": 1.0, "max_new_tokens": room}
        if IS_REAL:
            rollout = importlib.import_module("slime.rollout.sglang_rollout")
            network = importlib.import_module("slime.utils.http_utils")
            importlib.import_module("slime.utils.misc").SingletonMeta._instances.clear()
            network._http_client = None
            network.init_http_client(args)
            group: list[Any] = await rollout.generate_and_rm_group(args, list(samples), params)
            return group
        return [await adapter.generate(args, sample, dict(params)) for sample in samples]

    return asyncio.run(main())


def sample(index: int = 0, **given: Any) -> Any:
    return Sample(index=index, group_index=7, prompt="unused", metadata={"task": "add_relu"}, **given)


def test_an_episode_of_two_turns(engine: Engine, checkpoint: str, real: RealServer) -> None:
    engine.script = [("no code here<|im_end|>", "stop"), (f"```cpp\n{FUSED}\n```<|im_end|>", "stop")]
    args = arguments(engine, checkpoint, real.endpoint, options={"max_turns": 2})
    (done,) = generate(args, sample())
    assert done.status == Sample.Status.COMPLETED
    assert done.reward > 0
    assert not done.remove_sample
    details = done.metadata["hone"]
    assert details["outcomes"] == ["no_code", "correct"]
    assert details["turn_rewards"][0] == 0.0
    assert len(details["returns"]) == 2
    assert details["fault"] == ""
    words = tokenizer(qwen3_training_chat_template)
    assert len(done.loss_mask) == len(done.rollout_log_probs) == done.response_length
    response = done.tokens[-done.response_length :]
    said = words.decode([t for t, m in zip(response, done.loss_mask, strict=True) if m])
    assert said == f"no code here<|im_end|>```cpp\n{FUSED}\n```<|im_end|>"
    heard = words.decode([t for t, m in zip(response, done.loss_mask, strict=True) if not m])
    assert heard.startswith("\n<|im_start|>user\nNo code was found")
    assert heard.endswith("<|im_start|>assistant\n")
    assert engine.asked[1]["input_ids"] == done.tokens[: len(engine.asked[1]["input_ids"])]
    assert "# Add, then ReLU" in words.decode(engine.asked[0]["input_ids"])
    assert engine.asked[1]["sampling_params"]["max_new_tokens"] < 6000
    assert done.non_generation_time > 0


def test_a_fault_is_out_of_the_loss_and_of_the_mean(engine: Engine, checkpoint: str, scripted: ScriptedServer) -> None:
    engine.script = [(f"{word}<|im_end|>", "stop") for word in ("fast", "wrong", "fault", "wrong")]
    args = arguments(engine, checkpoint, scripted.endpoint, options={"max_turns": 1})
    # One after another, for the script has an order.
    group = [generate(args, sample(index))[0] for index in range(4)]
    assert [one.reward for one in group] == [1.3, 0.1, 0.0, 0.1]
    assert [one.remove_sample for one in group] == [False, False, True, False]
    assert group[2].metadata["hone"]["fault"] == "turn 1: the judge's process died"
    assert group[2].status == Sample.Status.COMPLETED
    raw, advantages = adapter.post_process_rewards(args, group)
    assert raw == [1.3, 0.1, 0.0, 0.1]
    assert advantages == pytest.approx([1.1547, -0.57735, 0.0, -0.57735], abs=1e-4)
    assert adapter.keep_group(args, group).keep is True
    dropped = adapter.keep_group(args, [group[0], group[2]])
    assert (dropped.keep, dropped.reason) == (False, "hone_fault")


def test_a_lost_server_is_a_fault(engine: Engine, checkpoint: str, scripted: ScriptedServer) -> None:
    engine.script = [("wrong<|im_end|>", "stop")]
    args = arguments(engine, checkpoint, scripted.endpoint, reconnect_timeout=0.2)

    async def main() -> Any:
        play = adapter.AsyncPlay(adapter.Settings.of(args.hone))
        await play.start("add_relu")  # the loop's connection is there
        scripted.stop()
        if IS_REAL:
            importlib.import_module("slime.utils.misc").SingletonMeta._instances.clear()
        return await adapter.generate(args, sample(), {"max_new_tokens": 100})

    done = asyncio.run(main())
    assert done.metadata["hone"]["fault"].startswith("reset: unavailable: ")
    assert (done.reward, done.remove_sample, done.response_length) == (0.0, True, 1)
    assert done.loss_mask == [0]


def test_a_list_of_servers_in_the_file_of_settings(engine: Engine, checkpoint: str, scripted: ScriptedServer) -> None:
    unserved = f"tcp://127.0.0.1:{free_port()}"
    given = yaml.safe_load(f"{{endpoint: ['{scripted.endpoint}', '{unserved}'], options: {{max_turns: 1}}}}")
    engine.script = [("slow<|im_end|>", "stop")]
    args = arguments(engine, checkpoint, **given)
    assert [one.reward for one in generate(args, sample())] == [0.4]


def test_a_lost_episode_begins_again_elsewhere(
    engine: Engine, checkpoint: str, scripted_pair: list[ScriptedServer]
) -> None:
    engine.script = Script(scripted_pair, ("wrong<|im_end|>", "stop"), ("slow<|im_end|>", "stop"))
    servers = [one.endpoint for one in scripted_pair]
    args = arguments(engine, checkpoint, servers, reconnect_timeout=2.0, options={"max_turns": 1})
    (done,) = generate(args, sample())
    assert (done.reward, done.remove_sample, done.metadata["hone"]["turn_rewards"]) == (0.4, False, [0.4])
    assert ("slow" in done.response, "wrong" in done.response) == (True, False)


def test_no_server_and_no_task_end_the_rollout(engine: Engine, checkpoint: str, scripted: ScriptedServer) -> None:
    args = arguments(engine, checkpoint, scripted.endpoint)
    with pytest.raises(hone.NotFound, match="did you mean"):
        generate(args, Sample(prompt="", metadata={"task": "ad_relu"}))
    scripted.stop()
    args = arguments(engine, checkpoint, scripted.endpoint, connect_timeout=0.2)
    with pytest.raises(hone.Unavailable):
        generate(args, sample())
    args = arguments(engine, checkpoint, scripted.endpoint, max_turns=4)
    with pytest.raises(TypeError, match=r"unknown settings \['max_turns'\], expected some of \['endpoint'"):
        generate(args, sample())


def test_a_cut_answer_is_judged_and_ends_the_episode(engine: Engine, checkpoint: str, scripted: ScriptedServer) -> None:
    engine.script = [("slow", "length")]
    (done,) = generate(arguments(engine, checkpoint, scripted.endpoint), sample())
    assert done.status == Sample.Status.TRUNCATED
    assert done.reward == pytest.approx(0.4)
    assert done.metadata["hone"]["turns"] == 1
    scripted.wait_for("close")


def test_a_template_that_rewrites_answers_is_refused_before_anything_is_generated(
    engine: Engine, tmp_path: Path, scripted: ScriptedServer
) -> None:
    engine.script = [("slow<|im_end|>", "stop")]
    tokenizer(qwen3_chat_template).save_pretrained(tmp_path)
    args = arguments(engine, str(tmp_path), scripted.endpoint, options={"max_turns": 2})
    with pytest.raises(ValueError, match="the chat template changes an answer when a later one follows"):
        generate(args, sample())
    assert (engine.asked, scripted.seen["reset"]) == ([], 0)
    args = arguments(engine, str(tmp_path), scripted.endpoint, options={"max_turns": 1})
    (done,) = generate(args, sample())
    assert done.reward == pytest.approx(0.4)


def test_answer_without_an_end_token_gets_one(engine: Engine, checkpoint: str, scripted: ScriptedServer) -> None:
    engine.script = [("wrong", "stop"), ("slow<|im_end|>", "stop")]
    args = arguments(engine, checkpoint, scripted.endpoint, options={"max_turns": 2})
    (done,) = generate(args, sample())
    words = tokenizer(qwen3_training_chat_template)
    response = words.decode(done.tokens[-done.response_length :])
    assert response.startswith("wrong<|im_end|>\n<|im_start|>user\nYour kernel was judged: wrong.<|im_end|>\n")


def test_aborted_sample_starts_again(engine: Engine, checkpoint: str, scripted: ScriptedServer) -> None:
    engine.script = [("half", "abort"), ("slow<|im_end|>", "stop")]
    args = arguments(engine, checkpoint, scripted.endpoint, options={"max_turns": 1})
    (aborted,) = generate(args, sample())
    assert aborted.status == Sample.Status.ABORTED
    assert aborted.reward is None
    (done,) = generate(args, aborted)
    assert done.reward == pytest.approx(0.4)
    assert done.loss_mask == [1] * done.response_length
    assert engine.asked[0]["input_ids"] == engine.asked[1]["input_ids"]


def test_a_rollout_that_slime_drops_leaves_no_episode(
    engine: Engine, checkpoint: str, scripted: ScriptedServer
) -> None:
    engine.script = [("slow<|im_end|>", "stop")]
    engine.may_answer.clear()
    args = arguments(engine, checkpoint, scripted.endpoint)

    async def main() -> None:
        if IS_REAL:
            importlib.import_module("slime.utils.misc").SingletonMeta._instances.clear()
            importlib.import_module("slime.utils.http_utils").init_http_client(args)
        rollout = asyncio.create_task(adapter.generate(args, sample(), {"max_new_tokens": 100}))
        await asyncio.to_thread(scripted.wait_for, "reset")
        rollout.cancel()
        with pytest.raises(asyncio.CancelledError):
            await rollout
        engine.may_answer.set()

    asyncio.run(main())
    scripted.wait_for("closed")
    assert scripted.open() == []


def test_the_reward_function(engine: Engine, checkpoint: str, real: RealServer, scripted: ScriptedServer) -> None:
    args = arguments(engine, checkpoint, real.endpoint)
    mine = [sample(response=f"```cpp\n{FUSED}\n```"), sample(response="no code")]
    good, none = asyncio.run(adapter.reward(args, mine))
    assert good > none == 0.0
    assert [one.metadata["hone"]["outcomes"] for one in mine] == [["correct"], ["no_code"]]
    faulty = sample(response="fault")
    assert asyncio.run(adapter.reward(arguments(engine, checkpoint, scripted.endpoint), faulty)) == 0.0
    assert faulty.remove_sample


def test_the_prompts_file(tmp_path: Path, real: RealServer) -> None:
    count = adapter.write_prompts(tmp_path / "prompts.jsonl", endpoint=real.endpoint)
    rows = [json.loads(line) for line in (tmp_path / "prompts.jsonl").read_text().splitlines()]
    assert len(rows) == count >= 19
    assert all(row["prompt"][-1]["role"] == "user" and "/" in row["metadata"]["task"] for row in rows)


def test_partial_rollouts_are_refused(engine: Engine, checkpoint: str, scripted: ScriptedServer) -> None:
    args = arguments(engine, checkpoint, scripted.endpoint)
    args.partial_rollout = True
    with pytest.raises(ValueError, match="no --partial-rollout"):
        generate(args, sample())


def test_missing_slime_raises_one_line(monkeypatch: pytest.MonkeyPatch, engine: Engine, checkpoint: str) -> None:
    monkeypatch.setitem(sys.modules, "slime.utils.http_utils", None)
    with pytest.raises(ModuleNotFoundError, match=r"^hone.adapters.slime supports slime >= 0.3.1, < 0.4; .*http_utils"):
        asyncio.run(adapter.generate(arguments(engine, checkpoint, "tcp://127.0.0.1:1"), sample(), {}))


def test_old_slime_raises_one_line(monkeypatch: pytest.MonkeyPatch, engine: Engine, checkpoint: str) -> None:
    monkeypatch.setattr(Sample, "append_response_tokens", lambda self, tokens: None)
    with pytest.raises(ImportError) as caught:
        asyncio.run(adapter.generate(arguments(engine, checkpoint, "tcp://127.0.0.1:1"), sample(), {}))
    assert str(caught.value) == "hone.adapters.slime supports slime >= 0.3.1, < 0.4; found an older one"


def test_the_example(
    tmp_path: Path,
    engine: Engine,
    checkpoint: str,
    real: RealServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = ROOT / "clients/python/examples/trainers/slime_rollout.py"
    assert len(path.read_text().splitlines()) < 60
    monkeypatch.syspath_prepend(path.parent)
    example = importlib.import_module("slime_rollout")
    monkeypatch.setattr(sys, "argv", [str(path), str(tmp_path), real.endpoint])
    example.main()
    options = dict(itertools.pairwise(capsys.readouterr().out.split()))
    named = [options[f"--custom-{kind}-path"] for kind in ("generate-function", "reward-post-process")]
    for one in named:
        module, _, function = one.rpartition(".")
        assert callable(getattr(importlib.import_module(module), function))
    args = arguments(engine, checkpoint, real.endpoint)
    args.hone = yaml.safe_load((tmp_path / "hone.yaml").read_text())["hone"]
    monkeypatch.setattr(example, "TOKENS_FREE", 0)
    engine.script = [("no code", "length")]
    if IS_REAL:
        importlib.import_module("slime.utils.http_utils").init_http_client(args)
    done = asyncio.run(example.generate(args, sample(), {"max_new_tokens": 99}))
    assert done.reward == pytest.approx(-7e-5)


@pytest.mark.parametrize("template", ["with tools", "without tools"])
def test_tool_calls_leave_the_turn_open(
    engine: Engine, tmp_path: Path, scripted: ScriptedServer, template: str
) -> None:
    """The template describes the tools if it can; otherwise hone's prompt does."""
    has_tools = template == "with tools"
    tokenizer(qwen3_training_chat_template if has_tools else WITHOUT_TOOLS).save_pretrained(tmp_path)
    said = [
        f"First:\n{call('check', code='wrong')}\n{call('hardware')}<|im_end|>",
        f"{call('check', code='slow')}<|im_end|>",
        "<tool_call>{</tool_call><|im_end|>",
        "slow<|im_end|>",
    ]
    engine.script = [(text, "stop") for text in said]
    options = {"max_turns": 1, "tools": {"check": 1, "hardware": 1}}
    (done,) = generate(arguments(engine, str(tmp_path), scripted.endpoint, options=options), sample())
    assert (done.status, done.reward, done.remove_sample) == (Sample.Status.COMPLETED, 0.4, False)
    details = done.metadata["hone"]
    assert (details["turn_rewards"], details["tool_calls"]) == ([0.4], {"check": 1, "hardware": 1})
    words = tokenizer(qwen3_training_chat_template)
    prompt = words.decode(engine.asked[0]["input_ids"])
    assert '{"type": "function", "function": {"name": "check", ' in prompt
    assert ("may call one or more functions to examine a kernel" in prompt) == (not has_tools)
    response = done.tokens[-done.response_length :]
    assert words.decode([t for t, m in zip(response, done.loss_mask, strict=True) if m]) == "".join(said)
    heard = words.decode([t for t, m in zip(response, done.loss_mask, strict=True) if not m])
    spent = "error: tool check: unknown, or no use left; tools with uses left: none"
    wrong = "error: the arguments are not valid JSON: "
    start = after_answers("check found: wrong", "hardware found: nothing") + after_answers(spent)
    assert heard.startswith(start + after_answers(wrong).partition("\n</tool_response>")[0])


def test_a_fault_of_a_tool_is_out_of_the_loss(engine: Engine, checkpoint: str, scripted: ScriptedServer) -> None:
    engine.script = [(f"{call('check', code='fault')}<|im_end|>", "stop")]
    args = arguments(engine, checkpoint, scripted.endpoint, options={"tools": {"check": 1}})
    (done,) = generate(args, sample())
    assert done.metadata["hone"]["fault"] == "turn 1: tool check: unavailable: the builder's process died"
    assert (done.remove_sample, done.metadata["hone"]["turns"]) == (True, 0)
    assert adapter.is_fault(done)


def test_a_truncated_answer_calls_no_tool(engine: Engine, checkpoint: str, scripted: ScriptedServer) -> None:
    engine.script = [(f"slow {call('check', code='wrong')}", "length")]
    args = arguments(engine, checkpoint, scripted.endpoint, options={"tools": {"check": 1}})
    (done,) = generate(args, sample())
    assert (done.reward, done.metadata["hone"]["tool_calls"]) == (0.1, {})


def test_without_the_option_a_call_is_text(engine: Engine, checkpoint: str, scripted: ScriptedServer) -> None:
    engine.script = [(f"slow {call('hardware')}<|im_end|>", "stop")]
    (done,) = generate(arguments(engine, checkpoint, scripted.endpoint, options={"max_turns": 1}), sample())
    assert (done.reward, done.metadata["hone"]["tool_calls"]) == (0.4, {})
    assert "# Tools" not in tokenizer(qwen3_training_chat_template).decode(engine.asked[0]["input_ids"])


@real_slime
def test_the_stand_ins_are_as_slime_is() -> None:
    theirs = {one.name for one in dataclasses.fields(Sample)}
    assert {one.name for one in dataclasses.fields(slime_contract.Sample)} <= theirs
    assert [s.name for s in slime_contract.Sample.Status] == [s.name for s in Sample.Status]
    ours = inspect.signature(slime_contract.Sample.append_response_tokens).parameters
    assert set(ours) <= set(inspect.signature(Sample.append_response_tokens).parameters)
    post = importlib.import_module("slime.utils.http_utils").post
    assert list(inspect.signature(post).parameters)[:2] == ["url", "payload"]
