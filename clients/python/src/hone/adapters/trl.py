"""For TRL's GRPOTrainer: kernels as tool calls of an environment, or as whole turns of a rollout.

    from hone.adapters import trl

    play = trl.Environments("tcp://127.0.0.1:5917", options={"max_turns": 4})
    trainer = GRPOTrainer(
        ..., environment_factory=play, train_dataset=Dataset.from_list(play.rows())
    )

    play = trl.Rollouts("tcp://127.0.0.1:5917", options={"max_turns": 4})
    trainer = GRPOTrainer(
        ...,
        rollout_func=play,
        reward_funcs=[trl.hone_reward],
        train_dataset=Dataset.from_list(play.rows()),
    )

With the option ``tools`` the model may call the episode's tools, too. After a fault of the machine
the reward is None: TRL leaves that sample out of its group's mean and
gives it the advantage 0. See docs/trainers/trl.md.
"""

# ruff: noqa: ANN401 - the trainer has the type Any, for it is not imported here

from __future__ import annotations

import functools
import importlib
import inspect
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from hone.errors import HoneError

from ._chat import Chat
from ._play import Play, Settings, client_of, tool_functions
from ._record import Message, Record, text_of
from ._tools import FAILED, OVER, TOOL_PROMPT, TOOLS_PROMPT, after_turn, expect_source, source
from ._versions import require

__all__ = [
    "Environments",
    "Generate",
    "KernelEnvironment",
    "Rollouts",
    "hone_reward",
]

Row = dict[str, Any]
# (trainer, prompts as token ids) -> (completions, log-probabilities or None), in their order.
Generate = Callable[[Any, list[list[int]]], tuple[list[list[int]], list[list[float]] | None]]

# A prompt of Rollouts begins with this and its task: TRL passes only prompts to rollout functions.
_TASK_PREFIX = "hone:"
_PARALLEL_MAX = 64
# After a fault at reset: TRL needs a prompt and an answer, and masks them.
_NO_PROMPT: list[Message] = [{"role": "user", "content": "Answer with one word."}]


class KernelEnvironment:
    """One episode at a time with the tool ``submit_kernel``; made by ``Environments``.

    With the option ``tools``, it has a method for each of hone's tools. TRL makes a tool of every
    public method except ``reset`` and ``get_reward``. It never closes an environment, so
    ``get_reward`` does.
    """

    def __init__(self, settings: Settings) -> None:
        self._play = Play(settings)
        self._error: HoneError | None = None

    @property
    def record(self) -> Record:
        """The episode's record: turns, rewards, returns, fault."""
        return self._play.record

    def reset(
        self,
        task: str | None = None,
        seed: int | None = None,
        group: str | None = None,
        **_: object,
    ) -> str:
        """Starts the episode of a row of the dataset and returns its prompt.

        Args:
            task: ``"dataset/id"`` or ``"id"``; None draws a task.
            seed: Makes the draw repeatable.
            group: Samples of one task that share a device model and one baseline.

        Raises:
            hone.HoneError: The request is wrong, for example an unknown task.
        """
        self._error = None
        messages = self._play.start(task, seed=seed, group=group)
        if self.record.fault is not None:
            return "The environment is not available. Answer with one word."
        return text_of(messages)

    def submit_kernel(self, code: str) -> str:
        """Compiles a kernel, checks its results and measures how fast it is.

        Args:
            code: The whole source file.

        Returns:
            What became of it, and how many turns are left.
        """
        try:
            expect_source(code)
        except ValueError as error:
            return str(error)
        if self.record.ended:
            return OVER
        try:
            feedback = self._play.step(**source(code))
        except HoneError as error:
            self._error = error  # TRL shows the model this error, and scores the sample
            raise
        return after_turn(self.record, feedback)

    def _call(self, name: str, arguments: dict[str, Any]) -> str:
        """Calls a tool of hone. The model gets its mistakes as answers."""
        if self.record.ended:
            return OVER
        answer = self._play.call(name, arguments)
        return FAILED if self.record.fault is not None else answer

    def get_reward(self) -> float | None:
        """The episode's return; None after a fault, which TRL leaves out of training.

        An episode without a submitted kernel scores 0.0.

        Raises:
            hone.HoneError: A request was wrong. Training must stop.
        """
        record = self._play.finish()
        if self._error is not None:
            raise self._error
        return record.score


@dataclass(frozen=True)
class Environments(Settings):
    """An ``environment_factory``: each call makes a ``KernelEnvironment``.

    Arguments: those of ``Settings``: ``endpoint``, ``split``, ``options``, ``timeout``, and so on.

    Raises:
        ImportError: TRL is missing or not supported.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_trl()

    def __call__(self) -> KernelEnvironment:
        """Makes an environment.

        Raises:
            hone.Unavailable: No server answered.
            ValueError: The options name a tool that the server's environment does not have.
        """
        return self._class(self)

    @functools.cached_property
    def _class(self) -> type[KernelEnvironment]:
        """TRL reads the tools from a class, before any episode."""
        if not self.tools:
            return KernelEnvironment
        functions = tool_functions(self)
        known = [one["name"] for one in functions]
        if unknown := sorted(set(self.tools) - set(known)):
            raise ValueError(f"option tools: found {unknown}, expected some of {known}")
        return _with_tools(json.dumps([one for one in functions if one["name"] in self.tools]))

    def rows(self) -> list[Row]:
        """A dataset of the server's tasks: ``prompt`` and ``task``, one row each."""
        words = TOOL_PROMPT + (TOOLS_PROMPT if self.tools else "")
        prompt = [{"role": "user", "content": words}]
        return [{"prompt": prompt, "task": task} for task in _tasks(self)]


@dataclass(frozen=True)
class Rollouts(Settings):
    """A ``rollout_func``: all rollouts of a batch are generated and judged at the same time.

    Arguments: those of ``Settings``, and

    * ``tokenizer``, the trainer's: its chat template is checked here; without it, the first batch
      checks the template before it generates;
    * ``generate``, which replaces the trainer's own generation: it takes the trainer and prompts as
      token ids, and returns completions and their log-probabilities or None.

    Raises:
        ImportError: TRL is missing or not supported.
        ValueError: The chat template cannot be used for more than one turn. The message names one
            that can, if TRL has it.
    """

    generate: Generate | None = None
    tokenizer: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_trl()
        if self.tokenizer is not None:
            self._check(Chat(self.tokenizer), self.tokenizer)

    def rows(self) -> list[Row]:
        """A dataset of the server's tasks, one row each; the prompt names the task."""
        return [
            {"prompt": [{"role": "user", "content": _TASK_PREFIX + task}], "task": task}
            for task in _tasks(self)
        ]

    def __call__(self, prompts: list[Any], trainer: Any) -> dict[str, list[Any] | None]:
        """Plays an episode for each prompt.

        Args:
            prompts: TRL's, each ``num_generations`` times. They name their task like ``rows``; for
                a prompt without a name a task is drawn.
            trainer: The GRPOTrainer.

        Returns:
            ``prompt_ids``, ``completion_ids``, ``logprobs`` and ``env_mask`` (1 where the model
            wrote), and for reward functions ``hone_score`` (float or None), ``hone_rewards`` and
            ``hone_returns`` (of each turn) and ``hone_fault`` (str or None): one for each prompt.
        """
        tokenizer = trainer._tokenizer
        chat = Chat(
            tokenizer,
            template=trainer.chat_template,
            arguments=trainer.chat_template_kwargs,
            ends=trainer.eos_token_ids,
        )
        self._check(chat, tokenizer)
        plays = [Play(self) for _ in prompts]
        names, groups = [_task_of(prompt) for prompt in prompts], _groups(len(prompts), trainer)
        with ThreadPoolExecutor(max(1, min(_PARALLEL_MAX, len(plays)))) as pool:
            starts = pool.map(
                lambda p, task, group: p.start(task, group=group), plays, names, groups
            )
            rollouts = [
                _Rollout(play, chat.prompt(messages or _NO_PROMPT, play.tools.functions))
                for play, messages in zip(plays, list(starts), strict=True)
            ]
            self._play(rollouts, chat, trainer, pool)
            while lost := [at for at, play in enumerate(plays) if play.may_retry]:
                starts = pool.map(Play.again, [plays[at] for at in lost])
                for at, messages in zip(lost, list(starts), strict=True):
                    if messages:
                        tools = plays[at].tools.functions
                        rollouts[at] = _Rollout(plays[at], chat.prompt(messages, tools))
                self._play([rollouts[at] for at in lost], chat, trainer, pool)
            records = list(pool.map(Play.finish, plays))
        has_logprobs = all(one.logprobs is not None for one in rollouts)
        return {
            "prompt_ids": [one.prompt_ids for one in rollouts],
            "completion_ids": [one.completion_ids for one in rollouts],
            "logprobs": [one.logprobs for one in rollouts] if has_logprobs else None,
            "env_mask": [one.mask for one in rollouts],
            "hone_score": [record.score for record in records],
            "hone_rewards": [record.rewards for record in records],
            "hone_returns": [record.returns for record in records],
            "hone_fault": [record.fault for record in records],
        }

    def _check(self, chat: Chat, tokenizer: Any) -> None:
        """Refuses a template that fails after the first turn, or cannot write tool calls."""
        if self.tools:
            _expect_tool_calls(tokenizer)
        elif self.options.get("max_turns") == 1:
            return
        try:
            chat.check(tools=bool(self.tools))
        except ValueError as error:
            raise ValueError(f"{error}; {_template_that_works(tokenizer)}") from None

    def _play(
        self, rollouts: list[_Rollout], chat: Chat, trainer: Any, pool: ThreadPoolExecutor
    ) -> None:
        """Generates and judges one answer of all rollouts, until all are over."""
        generate = self.generate or _generate
        room: int = trainer.max_completion_length
        for _ in range(room):  # an answer has at least one token
            going = [one for one in rollouts if not one.over]
            if not going:
                return
            answers, logprobs = generate(trainer, [one.ids for one in going])
            texts, calls = [], []
            for at, (one, answer) in enumerate(zip(going, answers, strict=True)):
                answer = answer[: room - len(one.completion_ids)]
                ends = chat.ends_turn(answer)
                calls.append(_calls(trainer._tokenizer, one, answer) if ends else [])
                one.extend(answer, logprobs[at][: len(answer)] if logprobs else None, model=True)
                one.over = not ends
                texts.append(chat.text(answer))
            # Only judging uses threads: tokenizers are not thread-safe.
            judged = pool.map(_respond, [one.play for one in going], texts, calls)
            for one, feedback in zip(going, list(judged), strict=True):
                words = chat.between(one.completion_ids, feedback) if feedback else []
                # The next answer needs room.
                is_full = len(one.completion_ids) + len(words) >= room
                one.over = one.over or not words or one.play.record.ended or is_full
                if not one.over:
                    one.extend(words, [0.0] * len(words), model=False)


def hone_reward(
    *, hone_score: Sequence[float | None], log_metric: Any = None, **_: object
) -> list[float | None]:
    """The reward function for ``Rollouts``: each episode's return; None after a fault.

    Logs the share of faults as ``hone/faults``.
    """
    if log_metric is not None and hone_score:
        log_metric("hone/faults", sum(score is None for score in hone_score) / len(hone_score))
    return list(hone_score)


@dataclass
class _Rollout:
    """One row of a batch: its episode and its tokens so far."""

    play: Play
    prompt_ids: list[int]
    completion_ids: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    logprobs: list[float] | None = field(default_factory=list)
    over: bool = False

    @property
    def ids(self) -> list[int]:
        return self.prompt_ids + self.completion_ids

    def extend(self, ids: list[int], logprobs: list[float] | None, *, model: bool) -> None:
        self.completion_ids += ids
        self.mask += [int(model)] * len(ids)
        if self.logprobs is None or logprobs is None:
            self.logprobs = None
        else:
            self.logprobs += logprobs


def _calls(tokenizer: Any, rollout: _Rollout, answer: list[int]) -> list[tuple[str, Any]]:
    """The names and arguments of an answer's tool calls; none if no tool may be called."""
    tools = rollout.play.tools
    if not tools.may_call:
        return []
    parse = importlib.import_module("trl.chat_template_utils").parse_response
    parsed = parse(tokenizer, answer, prefix=rollout.ids, tools=tools.functions)
    named = [call.get("function", call) for call in parsed.get("tool_calls") or []]
    return [(call["name"], call["arguments"]) for call in named]


def _respond(play: Play, text: str, calls: list[tuple[str, Any]]) -> list[Message]:
    """Calls the tools of an answer, or submits it. Returns the environment's messages."""
    if not calls:
        return play.step(response=text)
    answers = [(name, play.call(name, arguments)) for name, arguments in calls]
    if play.record.ended:
        return []
    return [{"role": "tool", "name": name, "content": answer} for name, answer in answers]


def _expect_tool_calls(tokenizer: Any) -> None:
    """Checks that a tokenizer writes and reads tool calls.

    Raises:
        ValueError: It cannot write them, or cannot read them.
    """
    templates = importlib.import_module("trl.chat_template_utils")
    if not templates.supports_tool_calling(tokenizer):
        raise ValueError(
            "option tools: the chat template does not write tool calls and their answers; leave "
            "the option out, or use a template that supports tools"
        )
    if any(getattr(tokenizer, one, None) for one in ("response_template", "response_schema")):
        return
    try:
        templates.add_response_schema(tokenizer)
    except ValueError as error:
        raise ValueError(
            "option tools: the tokenizer cannot read tool calls; call "
            "trl.chat_template_utils.add_response_schema(tokenizer) before you replace its chat "
            f"template ({error})"
        ) from None


_TYPES: dict[str, type] = {"string": str, "integer": int, "number": float, "boolean": bool}


@functools.cache
def _with_tools(functions: str) -> type[KernelEnvironment]:
    """A subclass with a method for each function. Equal functions give the same class.

    TRL has one reward for each class of environments, which it names after the class.
    """
    methods = {one["name"]: _method(one) for one in json.loads(functions)}
    return type("KernelEnvironment", (KernelEnvironment,), methods)


def _method(function: dict[str, Any]) -> Callable[..., str]:
    """A method whose signature and docstring give TRL the schema of a function."""
    name, parameters = function["name"], function["parameters"]
    required = parameters.get("required") or []

    def call(self: KernelEnvironment, **arguments: Any) -> str:
        return self._call(name, arguments)

    hints: dict[str, Any] = {"return": str}
    signature = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    lines = [function.get("description", ""), ""]
    for at, (one, schema) in enumerate((parameters.get("properties") or {}).items()):
        kind = _TYPES[schema["type"]]
        hints[one] = kind if one in required else kind | None
        default = inspect.Parameter.empty if one in required else None
        signature.append(
            inspect.Parameter(one, inspect.Parameter.KEYWORD_ONLY, default=default).replace(
                annotation=hints[one]
            )
        )
        lines += [*(["Args:"] if at == 0 else []), f"    {one}: {schema.get('description', one)}"]
    call.__name__, call.__qualname__ = name, f"KernelEnvironment.{name}"
    call.__doc__ = "\n".join(lines)
    call.__annotations__ = hints
    call.__signature__ = inspect.Signature(signature, return_annotation=str)  # type: ignore[attr-defined]
    return call


def _require_trl() -> None:
    require("hone.adapters.trl", "trl", "1.16", "2")


def _template_that_works(tokenizer: Any) -> str:
    """Advice for a chat template that changes answers."""
    templates = importlib.import_module("trl.chat_template_utils")
    try:
        template = templates.get_training_chat_template(tokenizer)
        if template is not None:
            Chat(tokenizer, template=template).check()
            return (
                "this one works: tokenizer.chat_template = "
                "trl.chat_template_utils.get_training_chat_template(tokenizer)"
            )
    except ValueError:
        pass  # TRL has none for this tokenizer, or that one changes answers, too
    return "TRL has none for this tokenizer; or play one turn: options={'max_turns': 1}"


def _tasks(settings: Settings) -> list[str]:
    return [task.id for task in client_of(settings).tasks(split=settings.split)]


def _task_of(prompt: Any) -> str | None:
    """The task that a prompt (a str or messages) names, or None."""
    text = prompt if isinstance(prompt, str) else str(prompt[-1]["content"])
    return text[len(_TASK_PREFIX) :].strip() if text.startswith(_TASK_PREFIX) else None


def _groups(count: int, trainer: Any) -> list[str]:
    """One name for each run of samples of one prompt: they share a baseline."""
    training = trainer.model.training
    size = trainer.num_generations if training else trainer.num_generations_eval
    step = f"trl-{os.getpid()}-{'train' if training else 'eval'}-{trainer.state.global_step}"
    return [f"{step}-{at // max(1, size)}" for at in range(count)]


def _generate(
    trainer: Any, prompts: list[list[int]]
) -> tuple[list[list[int]], list[list[float]] | None]:
    """The trainer's own generation, with whatever backend it has, as its tool loop calls it."""
    completions, logprobs = trainer._generate_single_turn(prompts, None, {}, num_generations=1)
    return completions, logprobs
