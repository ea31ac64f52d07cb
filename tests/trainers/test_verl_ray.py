"""verl's own managers, Ray actors, client and router run the agent loop; only the engine is a tiny random model."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
import torch
import transfer_queue as tq
from transformers import AutoModelForCausalLM, AutoTokenizer
from verl import DataProto
from verl.experimental.agent_loop import AgentLoopManager
from verl.trainer.ppo.v1.agent_loop_tq import AgentLoopManagerTQ
from verl.utils import tensordict_utils as tu
from verl.workers.rollout.llm_server import LLMServerClient
from verl.workers.rollout.replica import TokenOutput
from verl.workers.rollout.router import GlobalRequestLoadBalancer

from scripted import ScriptedServer
from servers import RealServer
from verl_configuration import configuration, save_checkpoint

PROMPT = [{"role": "user", "content": "unused"}]


@ray.remote(num_cpus=0)
class Replica:
    """An inference engine behind verl's router: a random model that is sampled, or the words of a script."""

    def __init__(self, checkpoint: str) -> None:
        self.words = AutoTokenizer.from_pretrained(checkpoint)
        self.model = AutoModelForCausalLM.from_pretrained(checkpoint)
        self.script: list[str] = []

    def follow(self, *script: str) -> None:
        self.script = list(script)

    def generate(self, request_id: str, *, prompt_ids: list[int], **_: Any) -> TokenOutput:
        if self.script:
            ids = self.words.encode(self.script.pop(0) + self.words.eos_token)
            return TokenOutput(token_ids=ids, log_probs=[-0.5] * len(ids), stop_reason="completed")
        said = self.model.generate(
            torch.tensor([prompt_ids]),
            min_new_tokens=16,
            max_new_tokens=16,
            do_sample=True,
            return_dict_in_generate=True,
            output_logits=True,
        )
        ids = said.sequences[0, len(prompt_ids) :].tolist()
        steps = [logits[0].log_softmax(-1) for logits in said.logits]
        log_probs = [float(step[token]) for step, token in zip(steps, ids, strict=True)]
        return TokenOutput(token_ids=ids, log_probs=log_probs, stop_reason="completed")


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    ray.init(num_cpus=4, include_dashboard=False, logging_level="warning")
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_checkpoint(tmp_path_factory.mktemp("checkpoint"))


@pytest.fixture(scope="module")
def replica(checkpoint: str) -> Any:
    return Replica.remote(checkpoint)


@pytest.fixture(scope="module")
def balancer(replica: Any) -> Any:
    return ray.remote(num_cpus=0)(GlobalRequestLoadBalancer).remote({"replica": replica})


def rows(*uids: str) -> dict[str, Any]:
    """Columns of verl's data, a sample for each."""
    columns = {
        "raw_prompt": [PROMPT] * len(uids),
        "task": ["add_relu"] * len(uids),
        "uid": list(uids),
        "index": list(range(len(uids))),
    }
    made = {name: np.empty(len(uids), dtype=object) for name in columns}
    for name, column in columns.items():
        for at, value in enumerate(column):
            made[name][at] = value
    return made


def test_a_batch_of_a_random_model(checkpoint: str, balancer: Any, tmp_path: Path, real: RealServer) -> None:
    config = configuration(checkpoint, tmp_path, real.endpoint, use_v1=False, options={"max_turns": 2})
    manager = AgentLoopManager.create(config, LLMServerClient(config, balancer))
    batch = DataProto.from_dict(tensors={}, non_tensors=rows("u1", "u1"), meta_info={"global_steps": 1})
    done = manager.generate_sequences(batch)
    assert done.batch["responses"].shape == (2, 4000)
    assert done.batch["rm_scores"].sum(-1).tolist() == [0.0, 0.0]  # noise is no kernel
    assert done.batch["response_mask"].sum(-1).tolist() == [32, 32]  # two answers of 16 tokens
    assert done.non_tensor_batch["hone_turns"].tolist() == [2, 2]
    assert done.non_tensor_batch["hone_valid"].tolist() == [1.0, 1.0]
    for actor in manager.agent_loop_workers:
        ray.kill(actor)


def test_a_fault_fails_its_group_and_no_other(
    checkpoint: str, replica: Any, balancer: Any, tmp_path: Path, scripted: ScriptedServer
) -> None:
    tq.init()
    ray.get(replica.follow.remote("slow", "fault", "wrong", "fast"))
    config = configuration(checkpoint, tmp_path, scripted.endpoint, n=2, options={"max_turns": 1})
    manager = AgentLoopManagerTQ.create(config, LLMServerClient(config, balancer))
    columns = {name: list(column) for name, column in rows("u1", "u2").items()}
    batch = tu.get_tensordict(columns)
    tu.assign_non_tensor_data(batch, "global_steps", 1)
    tags = [{"is_prompt": True, "status": "pending", "global_steps": 1}] * 2
    tq.kv_batch_put(keys=columns["uid"], partition_id="train", tags=tags)
    manager.generate_sequences(batch)
    end, waiting = time.monotonic() + 200, threading.Event()
    while True:
        stored = tq.kv_list("train")["train"]
        status = {uid: stored[uid]["status"] for uid in columns["uid"]}
        if not {"pending", "running"} & set(status.values()):
            break
        assert time.monotonic() < end, status
        waiting.wait(0.05)
    assert sorted(status.values()) == ["failure", "finished"]
    (failed,) = [uid for uid, one in status.items() if one == "failure"]
    kept = [key for key in stored if key not in status]
    assert sorted(key.split("_")[0] == failed for key in kept) == [False, False, True]
    assert all(stored[key]["status"] == "success" for key in kept)
    for actor in manager.agent_loop_workers:
        ray.kill(actor)
    tq.close()
