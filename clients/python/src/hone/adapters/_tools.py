"""The tools of an adapter's episode: the model's calls, and the answers that it gets."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hone._functions import (
    FAILED_CALLS_MAX,
    call_arguments,
    expect_use_left,
    function_tools,
    may_call,
    refusal,
    tool_uses,
)
from hone.errors import HoneError
from hone.types import ToolResult

from ._record import Message, Record, is_fault, plain_messages, text_of

#: Precedes the server's prompt if the model submits with a tool.
TOOL_PROMPT = (
    "Write the kernel that is asked for below. Instead of answering with a fenced block, call "
    "submit_kernel with the whole source file; its answer says what became of it. Improve the "
    "kernel and call it again while turns are left.\n\n"
)
TOOLS_PROMPT = (
    "The other tools examine a kernel before you submit it. A call leaves the turn open; the "
    "tool's description says if it costs turns.\n\n"
)
OVER = "The episode is over: nothing more is judged. Answer with one word."
NO_MORE_CALLS = "error: no tool can be called any more; the answer was judged without the call"
FAILED = "The environment failed; this is not your fault. Answer with one word."


def tools_argument(text: str) -> dict[str, int]:
    """``tool_uses`` as the type of a command-line option."""
    try:
        return tool_uses(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def source(code: str) -> dict[str, Any]:
    """A model's source as an action. Models put fences around it even if they are not asked to."""
    return {"response": code} if "```" in code else {"code": code}


def expect_source(code: object) -> str:
    """The argument of ``submit_kernel``.

    Raises:
        ValueError: It is not a text; the message is for the model.
    """
    if not isinstance(code, str):
        raise ValueError(
            "Nothing was judged: code must be a string with the source, "
            f"found {type(code).__name__}."
        )
    return code


def after_turn(record: Record, feedback: list[Message]) -> str:
    """The text for the model after a submission with a tool."""
    if record.fault is not None:
        return FAILED
    return text_of(feedback) + ("\n\nThe episode is over." if record.ended else "")


@dataclass
class EpisodeTools:
    """The tools of one episode. By default, there are none.

    Attributes:
        functions: The tools in the form of OpenAI's function tools.
        left: The uses of each tool that are left.
        turns: The number of turns of the episode.
        failed: The number of calls that failed.
    """

    functions: list[dict[str, Any]] = field(default_factory=list)
    left: dict[str, int] = field(default_factory=dict)
    turns: int = 1
    failed: int = 0

    @classmethod
    def of(cls, observation: Mapping[str, Any]) -> EpisodeTools:
        """Reads the tools of an episode's first observation."""
        return cls(
            functions=function_tools(observation.get("tools") or []),
            left=dict(observation.get("tools_left") or {}),
            turns=int(observation.get("turns_left") or 1),
        )

    @property
    def may_call(self) -> bool:
        """Whether uses are left, and the model has not made too many calls that failed."""
        return may_call(self.left, self.failed, self.turns)

    @property
    def answers_calls(self) -> bool:
        """Whether a call that the model writes in its answer is answered, if only with an error.

        A call of a tool without uses left gets an error, because it must not cost a turn. After
        too many failed calls, the whole answer is submitted instead.
        """
        return bool(self.functions) and self.failed <= FAILED_CALLS_MAX * self.turns

    def action(self, name: str, arguments: str | Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of ``Client.tool`` for a call of the model.

        Raises:
            ValueError: The model's arguments are wrong, or the tool has no use left.
        """
        if isinstance(arguments, Mapping) and set(arguments) == {"response"}:
            expect_use_left(name, self.left)  # a whole answer, which an adapter's user passes on
            return dict(arguments)
        given = call_arguments(arguments)
        expect_use_left(name, self.left)
        return given if "language" in given or "code" not in given else source(given["code"])

    def answered(self, result: ToolResult, record: Record) -> str:
        """Counts a call, adds it to the record, and returns the text for the model."""
        self.left = result.left
        record.messages += plain_messages(result.observation)
        record.see(result.observation)
        record.tool_calls[result.tool] = record.tool_calls.get(result.tool, 0) + 1
        return result.text

    def failed_with(self, name: str, error: Exception, record: Record) -> str:
        """Returns the error as a text for the model; empty after a fault.

        The record gets the fault. All other errors count as mistakes of the model.
        """
        if isinstance(error, HoneError) and is_fault(error, resetting=False):
            record.note(error, f"turn {record.turns + 1}: tool {name}")
            return ""
        self.failed += 1
        return refusal(error)
