"""The parts of slime that the adapter uses: stand-ins, unless HONE_SLIME names a checkout of slime.

With a checkout the same tests run with slime's own code, and one test compares it with the stand-ins.
"""

from __future__ import annotations

import asyncio
import enum
import json
import os
import sys
import types
import urllib.request
from dataclasses import dataclass, field
from typing import Any

CHECKOUT = os.environ.get("HONE_SLIME", "")


@dataclass
class Sample:
    """One response of the model, with the fields and the method that the adapter uses."""

    class Status(enum.Enum):
        PENDING = "pending"
        COMPLETED = "completed"
        TRUNCATED = "truncated"
        ABORTED = "aborted"
        FAILED = "failed"

    group_index: int | None = None
    index: int | None = None
    prompt: Any = ""
    tokens: list[int] = field(default_factory=list)
    response: str = ""
    response_length: int = 0
    reward: Any = None
    loss_mask: list[int] | None = None
    rollout_log_probs: list[float] | None = None
    remove_sample: bool = False
    status: Status = Status.PENDING
    metadata: dict[str, Any] = field(default_factory=dict)
    non_generation_time: float = 0.0

    def get_reward_value(self, args: Any) -> float:
        return self.reward[args.reward_key] if args.reward_key else self.reward

    def append_response_tokens(
        self,
        args: Any = None,
        *,
        tokens: list[int],
        log_probs: list[float] | None = None,
        trainable: bool = True,
        meta_info: dict[str, Any] | None = None,
        text: str | None = None,
    ) -> None:
        if trainable != (log_probs is not None) or (trainable and len(log_probs or []) != len(tokens)):
            raise ValueError("the model's tokens have log-probabilities, and no others")
        self.response += text or ""
        self.tokens = self.tokens + tokens
        self.response_length += len(tokens)
        self.loss_mask = (self.loss_mask or []) + [int(trainable)] * len(tokens)
        self.rollout_log_probs = (self.rollout_log_probs or []) + (log_probs or [0.0] * len(tokens))
        reasons = {"length": self.Status.TRUNCATED, "abort": self.Status.ABORTED, "stop": self.Status.COMPLETED}
        if meta_info:
            self.status = reasons[meta_info["finish_reason"]["type"]]


@dataclass
class DynamicFilterOutput:
    keep: bool
    reason: str | None = None


class GenerateState:
    """The tokenizer, and whether rollouts were stopped; one of it."""

    aborted = False

    def __init__(self, args: Any) -> None:
        from transformers import AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(args.hf_checkpoint)


async def post(url: str, payload: dict[str, Any]) -> Any:
    request = urllib.request.Request(url, json.dumps(payload).encode(), {"Content-Type": "application/json"})

    def ask() -> Any:
        with urllib.request.urlopen(request, timeout=30) as reply:
            return json.load(reply)

    return await asyncio.to_thread(ask)


def install() -> bool:
    """Makes slime's modules importable; returns whether they are slime's own."""
    if CHECKOUT:
        sys.path.insert(0, CHECKOUT)
        return True
    for name, members in {
        "slime": {},
        "slime.utils": {},
        "slime.utils.types": {"Sample": Sample},
        "slime.utils.http_utils": {"post": post},
        "slime.rollout": {},
        "slime.rollout.sglang_rollout": {"GenerateState": GenerateState},
        "slime.rollout.filter_hub": {},
        "slime.rollout.filter_hub.base_types": {"DynamicFilterOutput": DynamicFilterOutput},
    }.items():
        module = types.ModuleType(name)
        vars(module).update(members, __path__=[])
        sys.modules[name] = module
    return False
