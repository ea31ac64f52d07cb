"""verl's own configuration for its tests: a checkpoint of a tiny model, and hone's agent loop from a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import verl
from hydra import compose, initialize_config_dir
from trl.chat_template_utils import qwen3_training_chat_template

from tiny import model, tokenizer


def save_checkpoint(folder: Path) -> str:
    """A random model and its tokenizer, as verl loads them."""
    words = tokenizer(qwen3_training_chat_template)
    words.save_pretrained(folder)
    model(words).save_pretrained(folder)
    return str(folder)


def composed(overrides: list[str]) -> Any:
    """What verl's command would make of these options."""
    with initialize_config_dir(str(Path(verl.__file__).parent / "trainer/config"), version_base=None):
        return compose("ppo_trainer", overrides=overrides)


def configuration(checkpoint: str, folder: Path, endpoint: str | list[str], **given: Any) -> Any:
    """A trainer's configuration with hone's loop; `given`: keys in addition to `endpoint` and a few of verl's."""
    response = given.pop("response_length", 4000)
    use_v1 = str(given.pop("use_v1", True)).lower()
    samples = given.pop("n", 1)
    form = given.pop("format", "hermes")
    entry = {"name": "hone", "_target_": "hone.adapters.verl.HoneAgentLoop", "endpoint": endpoint, **given}
    loops = folder / "loops.yaml"
    loops.write_text(json.dumps([entry]))  # JSON is YAML
    return composed(
        [
            f"actor_rollout_ref.model.path={checkpoint}",
            "actor_rollout_ref.rollout.name=vllm",
            "actor_rollout_ref.rollout.prompt_length=4000",
            f"actor_rollout_ref.rollout.response_length={response}",
            f"actor_rollout_ref.rollout.n={samples}",
            f"actor_rollout_ref.rollout.multi_turn.format={form}",
            "actor_rollout_ref.rollout.agent.num_workers=1",
            "actor_rollout_ref.rollout.agent.default_agent_loop=hone",
            f"actor_rollout_ref.rollout.agent.agent_loop_config_path={loops}",
            f"trainer.use_v1={use_v1}",
        ]
    )
