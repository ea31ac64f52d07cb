"""For slime: custom functions, named on its command line, that play episodes and keep faults out.

    --custom-generate-function-path hone.adapters.slime.generate
    --custom-reward-post-process-path hone.adapters.slime.post_process_rewards
    --dynamic-sampling-filter-path hone.adapters.slime.keep_group
    --custom-config-path hone.yaml

where ``hone.yaml`` holds ``hone: {endpoint: "tcp://127.0.0.1:5917", options: {max_turns: 4}}``, and
``write_prompts`` writes the prompts' file. With the option ``tools`` the model may call the
episode's tools, as JSON between ``<tool_call>`` tags. For responses of slime's own ``generate``
there is ``--custom-rm-path hone.adapters.slime.reward``.

After a fault of the machine a sample has ``remove_sample`` True, which takes it out of the loss,
and ``metadata["hone"]["fault"]``, by which ``post_process_rewards`` leaves it out of the mean.
See docs/trainers/slime.md.
"""

# ruff: noqa: ANN401 - slime's arguments and samples have the type Any, for it is not imported here

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import os
import statistics
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from ._calls import as_user, calls_in, respond_async, with_tools
from ._chat import Chat
from ._play import AsyncPlay, Play, Settings, client_of
from ._record import Message, Record

_SUPPORTED = "hone.adapters.slime supports slime >= 0.3.1, < 0.4"


async def generate(
    args: Any, sample: Any, sampling_params: dict[str, Any], evaluation: bool = False
) -> Any:
    """Plays an episode with slime's engine: ``--custom-generate-function-path``.

    The task is ``sample.metadata["task"]``; without one it is drawn. The prompt is hone's own.

    Args:
        args: slime's arguments, with the settings in ``args.hone``.
        sample: slime's Sample.
        sampling_params: Of the engine; ``max_new_tokens`` is for all turns together.
        evaluation: Whether this is one of slime's evaluations.

    Returns:
        The sample, with tokens, masks (0 for the environment's tokens), log-probabilities, the
        episode's return as its reward, and ``metadata["hone"]``: see ``Record.details``.

    Raises:
        ImportError: slime is missing or not supported.
        ValueError: The chat template changes an answer when another one follows.
        hone.HoneError: The request is wrong, for example an unknown task.
    """
    if getattr(args, "partial_rollout", False):
        raise ValueError("hone.adapters.slime.generate plays whole episodes: no --partial-rollout")
    settings = _settings(args)
    engine = _Engine(args, sampling_params, has_tools=bool(settings.tools))
    if settings.tools or settings.options.get("max_turns") != 1:
        # Before an answer is generated and judged.
        engine.chat.check(tools=engine.writes_calls)
    sample_type = type(sample)
    _clear(sample)
    play = AsyncPlay(settings)
    started = time.monotonic()
    messages = await play.start(
        (sample.metadata or {}).get("task"), group=_group(sample, evaluation)
    )
    waited = time.monotonic() - started
    try:
        waited += await _converse(args, sample, engine, play, messages)
        while play.may_retry and sample.status != sample_type.Status.ABORTED:
            _clear(sample)
            started = time.monotonic()
            messages = await play.again()
            waited += time.monotonic() - started
            waited += await _converse(args, sample, engine, play, messages)
    finally:
        record = await play.finish()
    sample.non_generation_time = waited
    if sample.status == sample_type.Status.ABORTED:
        return sample
    if sample.status == sample_type.Status.PENDING:
        sample.status = sample_type.Status.COMPLETED
    if not sample.response_length:  # a fault before the first token: slime needs one
        sample.tokens = sample.tokens or [engine.chat.end]
        sample.append_response_tokens(args, tokens=[engine.chat.end], trainable=False)
    sample.reward = _score(sample, record)
    return sample


async def _converse(
    args: Any, sample: Any, engine: _Engine, play: AsyncPlay, messages: list[Message]
) -> float:
    """Lets the model answer until the episode or the sample ends. Returns the time in hone (s)."""
    waited, status = 0.0, type(sample).Status
    if messages:
        engine.start(sample, messages, play.tools.functions)
    while not play.record.ended:
        answer = await engine.answer(sample)
        if answer is None or sample.status == status.ABORTED:
            break
        started = time.monotonic()
        feedback = await engine.respond(play, sample, answer)
        waited += time.monotonic() - started
        if sample.status == status.TRUNCATED or play.record.ended:
            break
        words = engine.chat.between(sample.tokens, feedback)
        if engine.room(sample) <= len(words):  # no room for another answer
            break
        sample.append_response_tokens(args, tokens=words, trainable=False)
    return waited


async def reward(args: Any, sample: Any, **_: object) -> Any:
    """Judges finished responses as episodes of one turn: ``--custom-rm-path``.

    Args:
        args: slime's arguments, with the settings in ``args.hone``.
        sample: A Sample, or a list of them.

    Returns:
        Its reward, or a list of them. After a fault the reward is 0.0, and the sample is excluded
        from the loss; ``post_process_rewards`` also excludes it from the mean.
    """
    if isinstance(sample, list):
        return list(await asyncio.gather(*(reward(args, one) for one in sample)))
    play = AsyncPlay(_one_turn(_settings(args)))
    await play.start((sample.metadata or {}).get("task"), group=_group(sample, evaluation=False))
    try:
        await play.step(response=sample.response or "")
        while play.may_retry:
            await play.again()
            await play.step(response=sample.response or "")
    finally:
        record = await play.finish()
    return _score(sample, record)


def post_process_rewards(args: Any, samples: list[Any]) -> tuple[list[float], list[float]]:
    """Normalizes rewards like slime, without faults: ``--custom-reward-post-process-path``.

    Returns:
        The raw reward and the advantage of each sample. Both are 0.0 after a fault, which does not
        count in its group's mean.
    """
    raw = [float(sample.get_reward_value(args)) for sample in samples]
    estimator = args.advantage_estimator
    normalized = ("grpo", "gspo", "cispo", "reinforce_plus_plus_baseline")
    if estimator not in normalized or not args.rewards_normalization:
        return raw, list(raw)
    groups: dict[Any, list[int]] = defaultdict(list)
    for at, sample in enumerate(samples):
        index = sample.group_index
        groups[at // args.n_samples_per_prompt if index is None else index].append(at)
    advantages = [0.0] * len(samples)
    scaled = args.grpo_std_normalization and estimator != "reinforce_plus_plus_baseline"
    for members in groups.values():
        judged = [at for at in members if not is_fault(samples[at])]
        if not judged:
            continue
        mean = statistics.fmean(raw[at] for at in judged)
        spread = statistics.stdev([raw[at] for at in judged]) if len(judged) > 1 else 0.0
        for at in judged:
            advantages[at] = (raw[at] - mean) / (spread + 1e-6 if scaled else 1.0)
    return raw, advantages


def keep_group(args: Any, samples: list[Any], **_: object) -> Any:
    """Drops groups with too few samples without a fault: ``--dynamic-sampling-filter-path``.

    Returns:
        slime's DynamicFilterOutput: a group is kept where two samples at least were judged.
    """
    judged = sum(not is_fault(sample) for sample in samples)
    keep = judged >= min(2, len(samples))
    filters = importlib.import_module("slime.rollout.filter_hub.base_types")
    return filters.DynamicFilterOutput(keep=keep, reason=None if keep else "hone_fault")


def is_fault(sample: Any) -> bool:
    """Whether a sample must not be trained on because of a fault."""
    return bool(((sample.metadata or {}).get("hone") or {}).get("fault"))


def write_prompts(path: str | os.PathLike[str], **settings: Any) -> int:
    """Writes a file of prompts for slime (``--prompt-data``) from a server's tasks.

    Each line has ``prompt``, hone's messages for ``--apply-chat-template``, and ``metadata`` with
    the task. ``reward`` judges answers to this prompt; ``generate`` gets its own from the server.

    Args:
        path: A file of JSON lines.
        settings: ``endpoint``, ``split``, …, as in ``Settings``.

    Returns:
        The number of tasks.
    """
    played = _one_turn(Settings.of(settings))
    tasks = client_of(played).tasks(split=played.split)
    lines, play = [], Play(played)
    for task in tasks:
        messages = play.start(task.id)
        if play.record.fault is not None:
            raise ConnectionError(f"{task.id}: {play.record.fault}")
        lines.append(json.dumps({"prompt": messages, "metadata": {"task": task.id}}))
    play.finish()
    Path(path).write_text("".join(line + "\n" for line in lines))
    return len(lines)


class _Engine:
    """slime's engine behind its router, and the tokenizer of the model that it serves.

    Args:
        args: slime's arguments.
        sampling_params: As in ``generate``.
        has_tools: Whether the model may call tools of hone.

    Attributes:
        chat: The model's chat template.
        writes_calls: Whether the template describes the tools and has the role ``tool``. If not,
            hone's prompt describes them, and their answers are messages of the user.
    """

    def __init__(self, args: Any, sampling_params: dict[str, Any], *, has_tools: bool) -> None:
        try:
            rollout = importlib.import_module("slime.rollout.sglang_rollout")
            self._post = importlib.import_module("slime.utils.http_utils").post
            samples = importlib.import_module("slime.utils.types").Sample
        except ModuleNotFoundError as missing:
            raise ModuleNotFoundError(f"{_SUPPORTED}; {missing}", name=missing.name) from missing
        if "log_probs" not in inspect.signature(samples.append_response_tokens).parameters:
            raise ImportError(f"{_SUPPORTED}; found an older one", name="slime")
        self._args = args
        self._params = sampling_params
        self._state = rollout.GenerateState(args)
        self._url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
        arguments = getattr(args, "apply_chat_template_kwargs", None)
        self.chat = Chat(self._state.tokenizer, arguments=arguments)
        self.writes_calls = has_tools and self.chat.writes_json_calls()

    def start(self, sample: Any, messages: list[Message], functions: list[dict[str, Any]]) -> None:
        """Puts the prompt into the sample."""
        if not self.writes_calls:
            messages, functions = with_tools(messages, functions), []
        sample.prompt = messages
        sample.tokens = self.chat.prompt(messages, functions)

    async def respond(self, play: AsyncPlay, sample: Any, answer: list[int]) -> list[Message]:
        """Makes the tool calls of an answer, or submits it. Returns the new messages."""
        calls = []
        if play.tools.functions and sample.status != type(sample).Status.TRUNCATED:
            # In some tokenizers, the tags around a call are special tokens.
            calls = calls_in(self.chat.text(answer, special=True))
        # Not the engine's text: a special token behind a closing fence would hide the fence.
        messages = await respond_async(play, self.chat.text(answer), calls)
        return messages if self.writes_calls else as_user(messages)

    def room(self, sample: Any) -> int:
        """The number of tokens that the response may still have."""
        return int(self._params["max_new_tokens"]) - int(sample.response_length)

    async def answer(self, sample: Any) -> list[int] | None:
        """Adds the model's next answer to the sample, and returns its tokens.

        None if slime has stopped its rollouts.
        """
        if self._state.aborted:
            sample.status = type(sample).Status.ABORTED
            return None
        output = await self._post(
            self._url,
            {
                "input_ids": list(sample.tokens),
                "sampling_params": {**self._params, "max_new_tokens": self.room(sample)},
                "return_logprob": True,
            },
        )
        meta = output["meta_info"]
        said = meta.get("output_token_logprobs") or []
        ids: list[int] = [one[1] for one in said]
        sample.append_response_tokens(
            self._args,
            tokens=ids,
            log_probs=[one[0] for one in said],
            trainable=True,
            meta_info=meta,
            text=output["text"],
        )
        return ids


def _settings(args: Any) -> Settings:
    """The settings ``hone`` of ``--custom-config-path``; HONE_ENDPOINT is the default endpoint."""
    given = dict(getattr(args, "hone", None) or {})
    if "endpoint" not in given and "HONE_ENDPOINT" in os.environ:
        given["endpoint"] = os.environ["HONE_ENDPOINT"]
    return Settings.of(given)


def _one_turn(settings: Settings) -> Settings:
    """The settings without tools: slime's own ``generate`` answers once."""
    options = {**settings.options, "max_turns": 1}
    if settings.tools:
        options["tools"] = {}
    return Settings(**{**vars(settings), "options": options})


def _group(sample: Any, evaluation: bool) -> str | None:
    """The group of a sample; samples of one group share a baseline."""
    if sample.group_index is None or evaluation:
        return None
    return f"slime-{os.getpid()}-{sample.group_index}"


def _clear(sample: Any) -> None:
    """Clears what an aborted rollout has left in the sample."""
    sample.tokens, sample.response, sample.response_length = [], "", 0
    sample.loss_mask = sample.rollout_log_probs = sample.reward = None
    for name in (
        "rollout_top_p_token_ids",
        "rollout_top_p_token_offsets",
        "rollout_routed_experts",
    ):  # later versions may not have these
        if hasattr(sample, name):
            setattr(sample, name, None)
    sample.remove_sample = False
    sample.status = type(sample).Status.PENDING


def _score(sample: Any, record: Record) -> float:
    """Writes the record into the sample. A fault's 0.0 is a placeholder for slime's tensors."""
    sample.metadata = {**(sample.metadata or {}), "hone": record.details()}
    if record.score is None:
        sample.remove_sample = True
        return 0.0
    return record.score


__all__ = [
    "generate",
    "is_fault",
    "keep_group",
    "post_process_rewards",
    "reward",
    "write_prompts",
]
