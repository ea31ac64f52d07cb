"""Tool calls in the text of an answer, for trainers that have no function calls of their own.

The form is that of Qwen's and Hermes's chat templates: JSON between ``<tool_call>`` tags.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from ._play import AsyncPlay, Play
from ._record import Message, text_of
from ._tools import NO_MORE_CALLS

# No second start tag within a call: a model may name the tag in a sentence before its call.
_CALL = re.compile(r"<tool_call>((?:(?!<tool_call>).)*?)</tool_call>", re.DOTALL)
_THOUGHTS, END_OF_THOUGHTS = "<think>", "</think>"
# Other names may have control tokens or text that no tokenizer takes, and no tool has them.
_NAME, _NO_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}"), "(no name)"
CALLS_MAX = 8  # of one answer; a call of two tokens would get an answer of sixty
_TOOLS = """# Tools

You may call one or more functions to examine a kernel before you submit it. A call leaves the \
turn open. The functions, as JSON schemas:
<tools>
{tools}
</tools>

For each call, write a JSON object with the function's name and arguments within <tool_call> tags, \
and no code block:
<tool_call>
{{"name": "<function-name>", "arguments": <arguments-object>}}
</tool_call>"""


class Call(NamedTuple):
    """A tool call of a model: the tool's name, and the arguments as an object or its JSON."""

    name: str
    arguments: Any


def call_of(name: object, arguments: object) -> Call:
    """A call as a model made it."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        name = _NO_NAME
    return Call(name, {} if arguments is None else arguments)


def without_thoughts(text: str) -> str:
    """The answer after its last ``</think>``, and before a ``<think>`` that has no end."""
    return text.rpartition(END_OF_THOUGHTS)[2].partition(_THOUGHTS)[0]


def calls_in(text: str) -> list[Call]:
    """The first ``CALLS_MAX`` tool calls of an answer, without those in the model's thoughts.

    The arguments of a call with invalid JSON are its text, so that the model gets the parser's
    error. A tag without an end tag is no call, because the answer was truncated.
    """
    return [_call(one) for one in _CALL.findall(without_thoughts(text))[:CALLS_MAX]]


def _call(text: str) -> Call:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        return Call(_NO_NAME, text)
    if not isinstance(given, dict):
        return Call(_NO_NAME, given)
    return call_of(given.get("name"), given.get("arguments"))


def with_tools(messages: list[Message], functions: list[dict[str, Any]]) -> list[Message]:
    """A prompt whose last message also describes the tools. Without tools, it is unchanged."""
    if not functions or not messages:
        return messages
    tools = "\n".join(json.dumps(one) for one in functions)
    last = messages[-1]
    content = f"{last['content']}\n\n{_TOOLS.format(tools=tools)}"
    return [*messages[:-1], {**last, "content": content}]


def as_user(messages: list[Message]) -> list[Message]:
    """The answers of tools as one message of the user, as Qwen's chat template writes them.

    For templates without the role ``tool``. Other messages are unchanged.
    """
    if not messages or messages[0]["role"] != "tool":
        return messages
    texts = [f"<tool_response>\n{one['content']}\n</tool_response>" for one in messages]
    return [{"role": "user", "content": "\n".join(texts)}]


def respond(play: Play, answer: str, calls: list[Call]) -> list[Message]:
    """Makes the calls of an answer, or submits it.

    Args:
        play: The episode.
        answer: The model's whole answer.
        calls: Its tool calls.

    Returns:
        A message of the role ``tool`` for each call, or the feedback; none after a fault.
    """
    if calls and play.tools.answers_calls:
        return _answers(play, calls, [play.call(*one) for one in calls])
    return _feedback(play, calls, play.step(response=answer))


async def respond_async(play: AsyncPlay, answer: str, calls: list[Call]) -> list[Message]:
    """Like ``respond``."""
    if calls and play.tools.answers_calls:
        return _answers(play, calls, [await play.call(*one) for one in calls])
    return _feedback(play, calls, await play.step(response=answer))


def _answers(play: Play | AsyncPlay, calls: list[Call], texts: list[str]) -> list[Message]:
    if play.record.ended:
        return []
    return [
        {"role": "tool", "name": call.name, "content": text}
        for call, text in zip(calls, texts, strict=True)
    ]


def _feedback(play: Play | AsyncPlay, calls: list[Call], feedback: list[Message]) -> list[Message]:
    """The feedback, which says so if the answer's calls were not made."""
    if not (calls and play.tools.functions and feedback):
        return feedback
    return [{"role": "user", "content": f"{NO_MORE_CALLS}\n\n{text_of(feedback)}"}]
