"""For verl (0.9): an agent loop, named in the file of ``rollout.agent.agent_loop_config_path``.

    - name: hone
      _target_: hone.adapters.verl.HoneAgentLoop
      endpoint: tcp://127.0.0.1:5917
      options: {max_turns: 4}

and ``rollout.agent.default_agent_loop: hone``, or a column ``agent_name``. After a fault of the
machine the loop raises, which verl's trainer keeps out of training; with the old worker, which has
no such way, it masks every token. See docs/trainers/verl.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from ._play import AsyncPlay, Settings
from ._record import Record
from ._versions import require

require("hone.adapters.verl", "verl", "0.9.1", "0.10")

from omegaconf import OmegaConf  # noqa: E402 - a dependency of verl, after the check of its version
from verl.experimental.agent_loop.agent_loop import (  # noqa: E402
    AgentLoopBase,
    AgentLoopMetrics,
    AgentLoopOutput,
    _agent_loop_registry,
    register,
)

__all__ = [
    "FaultError",
    "HoneAgentLoop",
]

_OURS = frozenset(Settings.__dataclass_fields__)


class FaultError(RuntimeError):
    """A fault of the machine: the trajectory must not be trained on."""


class HoneAgentLoop(AgentLoopBase):  # type: ignore[misc]
    """Plays one episode. verl makes one loop for each trajectory.

    Args:
        args: verl's.
        on_fault: ``"raise"``, ``"mask"``, or None for what the trainer has a way for: raise where
            ``trainer.use_v1`` is true, else mask.
        given: The settings, as in ``Settings``, and what verl passes besides.
    """

    def __init__(self, *args: Any, on_fault: str | None = None, **given: Any) -> None:  # noqa: ANN401
        if on_fault not in (None, "raise", "mask"):
            raise ValueError(f"on_fault: found {on_fault!r}, expected 'raise', 'mask' or nothing")
        mine = {name: _plain(given.pop(name)) for name in list(given) if name in _OURS}
        super().__init__(*args, **given)
        self._settings = Settings(**mine)
        use_v1 = bool(OmegaConf.select(self.config, "trainer.use_v1", default=True))
        self._raises = use_v1 if on_fault is None else on_fault == "raise"

    async def run(self, sampling_params: dict[str, Any], **columns: Any) -> AgentLoopOutput:  # noqa: ANN401
        """Plays the episode of a row: ``task`` is a column of its own or in ``extra_info``.

        Returns:
            The trajectory: mask 0 for hone's words, the episode's return as ``reward_score``, each
            turn's reward in ``extra_fields["turn_scores"]``.

        Raises:
            FaultError: The machine was at fault (see ``on_fault``).
            hone.HoneError: The request is wrong.
        """
        play = AsyncPlay(self._settings)
        uid = columns.get("uid")
        task = columns.get("task") or (columns.get("extra_info") or {}).get("task")
        messages = await play.start(task, group=None if uid is None else f"verl-{uid}")
        try:
            if play.record.fault is not None and self._raises:
                raise FaultError(play.record.fault)
            output = await self._play(play, messages or _nothing(columns), sampling_params)
        finally:
            record = await play.finish()
        if record.fault is not None and self._raises:
            raise FaultError(record.fault)
        if record.fault is not None:
            output.response_mask = [0] * len(output.response_mask)
        output.reward_score = record.score or 0.0
        output.extra_fields.update(_fields(record))
        return output

    async def _play(
        self, play: AsyncPlay, messages: list[dict[str, str]], sampling_params: dict[str, Any]
    ) -> AgentLoopOutput:
        """Has the model answer, and each answer judged, until the episode or the room ends."""
        prompt = await self.ct_build_initial_tokens(messages)
        mask: list[int] = []
        ids, request, room = prompt, uuid4().hex, self.rollout_config.response_length
        logprobs: list[float] | None = None
        while True:
            said = await self.server_manager.generate(
                request_id=request, prompt_ids=ids, sampling_params=sampling_params
            )
            if not mask and said.log_probs:
                logprobs = []
            merged, mask, logprobs = await self.ct_merge_assistant_token(
                ids, said.token_ids, mask, logprobs, assistant_logprobs=said.log_probs or None
            )
            ids = merged.token_ids
            answer = self.tokenizer.decode(said.token_ids, skip_special_tokens=True)
            feedback = await play.step(response=answer)
            if play.record.ended or not feedback or len(mask) >= room:
                break
            before = [*messages, {"role": "assistant", "content": answer}]
            messages = before + feedback
            merged, longer, logprobs_after = await self.ct_merge_context_msg(
                before, messages, ids, mask, logprobs
            )
            if len(longer) >= room:  # a turn without room for an answer
                break
            ids, mask, logprobs = merged.token_ids, longer, logprobs_after
        return AgentLoopOutput(
            prompt_ids=ids[: len(ids) - len(mask)],
            response_ids=ids[len(ids) - len(mask) :][:room],
            response_mask=mask[:room],
            response_logprobs=logprobs[:room] if logprobs else None,
            num_turns=2 * max(1, play.record.turns),
            metrics=AgentLoopMetrics(),
            extra_fields=dict(said.extra_fields or {}),
        )


# A worker reads its file of loops first and imports this later, for the first trajectory: what the
# file says, with its settings, must stay.
if "hone" not in _agent_loop_registry:
    register("hone")(HoneAgentLoop)


def _plain(value: Any) -> Any:  # noqa: ANN401
    """The settings of a file, without OmegaConf's types."""
    return OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value


def _nothing(columns: Mapping[str, Any]) -> list[dict[str, str]]:
    """A prompt for a trajectory that is masked whole: its episode could not start."""
    return list(columns.get("raw_prompt") or [{"role": "user", "content": "Answer with one word."}])


def _fields(record: Record) -> dict[str, Any]:
    """The same columns in every trajectory: verl puts them together."""
    return {
        "turn_scores": [0.0 if reward is None else reward for reward in record.rewards],
        "tool_rewards": [],
        "reward_extra_info": {
            "hone_turns": record.turns,
            "hone_speedup": record.best_speedup or 0.0,
            "hone_valid": float(record.fault is None),
        },
    }
