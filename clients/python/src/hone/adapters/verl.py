"""For verl (0.9): an agent loop, named in the file of ``rollout.agent.agent_loop_config_path``.

    - name: hone
      _target_: hone.adapters.verl.HoneAgentLoop
      endpoint: tcp://127.0.0.1:5917
      options: {max_turns: 4}

and ``rollout.agent.default_agent_loop: hone``, or a column ``agent_name``. With the option
``tools`` the model may call the episode's tools; verl's tool parser reads the calls. After a fault
of the machine the loop raises, and verl's trainer leaves the trajectory out. The old worker cannot
leave one out, so the loop masks every token there. See docs/trainers/verl.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from hone._text import sendable

from ._calls import (
    CALLS_MAX,
    END_OF_THOUGHTS,
    call_of,
    calls_in,
    respond_async,
    without_thoughts,
)
from ._play import AsyncPlay, Settings
from ._record import Message, Record
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
from verl.experimental.agent_loop.tool_parser import FunctionCall, ToolParser  # noqa: E402
from verl.tools.schemas import (  # noqa: E402
    OpenAIFunctionCallSchema,
    OpenAIFunctionParsedSchema,
    OpenAIFunctionToolSchema,
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
        self._format = self.rollout_config.multi_turn.format
        self._parser = _parser(self._format, self.tokenizer) if self._settings.tools else None
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
        if self._parser is not None and self._parser.stop_token_ids:
            stops = [*(sampling_params.get("stop_token_ids") or []), *self._parser.stop_token_ids]
            sampling_params = {**sampling_params, "stop_token_ids": stops}
        play = AsyncPlay(self._settings)
        uid = columns.get("uid")
        task = columns.get("task") or (columns.get("extra_info") or {}).get("task")
        messages = await play.start(task, group=None if uid is None else f"verl-{uid}")
        try:
            if play.record.fault is not None and self._raises:
                raise FaultError(play.record.fault)
            output = await self._play(play, messages or _nothing(columns), sampling_params)
            while play.may_retry:
                messages = await play.again()
                if play.record.fault is None:
                    output = await self._play(play, messages, sampling_params)
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
        self, play: AsyncPlay, messages: list[Message], sampling_params: dict[str, Any]
    ) -> AgentLoopOutput:
        """Lets the model answer until the episode ends or the response is full.

        Each answer is submitted, or its tool calls are made.
        """
        tools = play.tools.functions or None
        prompt = await self.ct_build_initial_tokens(messages, tools=tools)
        mask: list[int] = []
        ids, request, room = prompt, uuid4().hex, self.rollout_config.response_length
        logprobs: list[float] | None = None
        rounds = 0
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
            rounds += 1
            cut = len(mask) >= room
            answer, feedback = await self._respond(play, said.token_ids, cut)
            if play.record.ended or not feedback or cut:
                break
            before = [*messages, answer]
            messages = before + feedback
            merged, longer, logprobs_after = await self.ct_merge_context_msg(
                before, messages, ids, mask, logprobs, tools=tools
            )
            if len(longer) >= room:  # a turn without room for an answer
                break
            ids, mask, logprobs = merged.token_ids, longer, logprobs_after
        return AgentLoopOutput(
            prompt_ids=ids[: len(ids) - len(mask)],
            response_ids=ids[len(ids) - len(mask) :][:room],
            response_mask=mask[:room],
            response_logprobs=logprobs[:room] if logprobs else None,
            num_turns=2 * rounds,
            metrics=AgentLoopMetrics(),
            extra_fields=dict(said.extra_fields or {}),
        )

    async def _respond(
        self, play: AsyncPlay, ids: list[int], cut: bool
    ) -> tuple[Message, list[Message]]:
        """Makes the tool calls of an answer, or submits it.

        Returns:
            The answer as a message, and the new messages of hone.
        """
        text = self.tokenizer.decode(ids, skip_special_tokens=True)
        said: Message = {"role": "assistant", "content": text}
        if cut or self._parser is None or not play.tools.functions:
            return said, await play.step(response=text)
        schemas = [OpenAIFunctionToolSchema.model_validate(one) for one in play.tools.functions]
        whole = self.tokenizer.decode(ids)
        outside = without_thoughts(whole)
        if outside != whole:  # verl's parsers also find calls in the model's thoughts
            ids = self.tokenizer.encode(outside, add_special_tokens=False)
        content, found = await self._parser.extract_tool_calls(ids, schemas)
        found = found[:CALLS_MAX]
        calls = [call_of(call.name, call.arguments) for call in found]
        if not calls and self._format == "hermes":  # verl drops calls that are not valid JSON
            calls = calls_in(whole)
        messages = await respond_async(play, text, calls)
        if not found or not messages or messages[0]["role"] != "tool":
            return said, messages
        thoughts = "".join(whole.rpartition(END_OF_THOUGHTS)[:2])
        said |= {"content": thoughts + content, "tool_calls": [_wire(call) for call in found]}
        for call, message in zip(found, messages, strict=True):
            if call.tool_call_id is not None:
                message["tool_call_id"] = call.tool_call_id
        return said, messages


# A worker reads its file of loops first and imports this later, for the first trajectory: what the
# file says, with its settings, must stay.
if "hone" not in _agent_loop_registry:
    register("hone")(HoneAgentLoop)


def _plain(value: Any) -> Any:  # noqa: ANN401
    """The settings of a file, without OmegaConf's types."""
    return OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value


def _parser(form: str, tokenizer: Any) -> ToolParser:  # noqa: ANN401
    """The parser of tool calls of ``rollout.multi_turn.format``.

    Raises:
        ValueError: verl has no parser of this name.
    """
    try:
        return ToolParser.get_tool_parser(form, tokenizer)
    except ValueError as error:
        raise ValueError(
            f"option tools: rollout.multi_turn.format: {error}; expected one of verl's formats, "
            "such as hermes"
        ) from None


def _wire(call: FunctionCall) -> dict[str, Any]:
    """A call as a chat template reads it."""
    function, _ = OpenAIFunctionCallSchema.from_openai_function_parsed_schema(
        OpenAIFunctionParsedSchema(
            name=call_of(call.name, None).name, arguments=sendable(call.arguments)
        )
    )
    wire: dict[str, Any] = {"type": "function", "function": function.model_dump()}
    return wire if call.tool_call_id is None else {**wire, "id": call.tool_call_id}


def _nothing(columns: Mapping[str, Any]) -> list[Message]:
    """A prompt for a trajectory that is masked whole: its episode could not start."""
    return list(columns.get("raw_prompt") or [{"role": "user", "content": "Answer with one word."}])


def _fields(record: Record) -> dict[str, Any]:
    """The same columns in every trajectory: verl puts them together."""
    return {
        "turn_scores": [0.0 if reward is None else reward for reward in record.rewards],
        "tool_rewards": [],
        "reward_extra_info": {
            "hone_turns": record.turns,
            "hone_tool_calls": sum(record.tool_calls.values()),
            "hone_retries": record.retries,
            "hone_speedup": record.best_speedup or 0.0,
            "hone_valid": float(record.fault is None),
        },
    }
