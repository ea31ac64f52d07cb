"""A chat template turn by turn: the prompt's tokens, and those between one answer and the next."""

# ruff: noqa: ANN401 - tokenizers have the type Any, for their packages are not imported here

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from ._record import Message

# The example of a call in templates such as Qwen2.5's and Qwen3's.
_JSON_CALL = re.compile(r'<tool_call>\s*\{\s*"name"')


class Chat:
    """Renders only new messages. Rendering an answer again can change the model's own tokens.

    Args:
        tokenizer: A tokenizer with ``apply_chat_template``, as in transformers.
        template: A chat template instead of the tokenizer's own.
        arguments: Further arguments of the template.
        ends: Tokens that end a turn; None for the tokenizer's end of sequence.
    """

    def __init__(
        self,
        tokenizer: Any,
        *,
        template: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        ends: Collection[int] | None = None,
    ) -> None:
        self._tokenizer = tokenizer
        self._arguments = dict(arguments or {})
        if template is not None:
            self._arguments["chat_template"] = template
        self.end: int = tokenizer.eos_token_id
        self._ends = frozenset(ends if ends is not None else {self.end})

    def prompt(
        self, messages: list[Message], tools: list[dict[str, Any]] | None = None
    ) -> list[int]:
        """The tokens of a prompt, up to where the model answers.

        Args:
            messages: The prompt.
            tools: Function tools; None or empty for none.
        """
        named = {"tools": tools} if tools else {}  # templates may write a heading for []
        return self._render(messages, add_generation_prompt=True, **named)

    def text(self, ids: list[int], *, special: bool = False) -> str:
        """The text of an answer, with its special tokens or without them."""
        return str(self._tokenizer.decode(ids, skip_special_tokens=not special))

    def writes_json_calls(self) -> bool:
        """Whether the template describes tools, with calls as JSON between ``<tool_call>`` tags."""
        schema = {"name": "x", "description": "x", "parameters": {"type": "object"}}
        prompt = [{"role": "user", "content": "x"}]
        ids = self.prompt(prompt, [{"type": "function", "function": schema}])
        return _JSON_CALL.search(self.text(ids, special=True)) is not None

    def ends_turn(self, ids: list[int]) -> bool:
        """Whether an answer ends with an end-of-turn token, so that it was not truncated."""
        return bool(ids) and ids[-1] in self._ends

    def check(self, *, tools: bool = False) -> None:
        """Checks that the template allows a second turn, before the model generates.

        Args:
            tools: Whether the template must also allow the answer of a tool.

        Raises:
            ValueError: As ``between``.
        """
        self.between([self.end], [{"role": "user", "content": "z"}])
        if tools:
            self.between([self.end], [{"role": "tool", "name": "x", "content": "z"}])

    def between(self, answer: list[int], messages: list[Message]) -> list[int]:
        """The tokens between an answer and the next one.

        Args:
            answer: The tokens of the answer.
            messages: Feedback, or the answers of tools with their ``name``.

        Raises:
            ValueError: The template changes an answer when another one follows.
        """
        said: Message = {"role": "assistant", "content": "y"}
        if messages[0]["role"] == "tool":  # some templates read the tool's name in the call
            function = {"name": messages[0]["name"], "arguments": {}}
            said["tool_calls"] = [{"type": "function", "function": function}]
        start = [{"role": "user", "content": "x"}, said]
        before = self._render(start, add_generation_prompt=False)
        after = self._render(start + messages, add_generation_prompt=True)
        # Tokens after the end of a turn belong to the next one.
        ends = [at for at, token in enumerate(before) if token in self._ends]
        kept = ends[-1] + 1 if ends else len(before)
        if after[:kept] != before[:kept]:
            raise ValueError(
                "the chat template changes an answer when a later one follows (it may drop the "
                "thoughts), so a turn would not see what the model wrote before; expected a "
                "template that keeps answers, such as TRL's training templates"
            )
        return after[kept:] if self.ends_turn(answer) or not ends else after[kept - 1 :]

    def _render(
        self, messages: list[Message], *, add_generation_prompt: bool, **named: Any
    ) -> list[int]:
        ids = self._tokenizer.apply_chat_template(
            messages,
            add_generation_prompt=add_generation_prompt,
            tokenize=True,
            return_dict=False,
            **self._arguments,
            **named,
        )
        return list(ids)
