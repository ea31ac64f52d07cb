"""The tools of an episode as function calls of a model (docs/tools.md)."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Iterable, Mapping
from typing import Any

from ._text import sendable

#: Tool calls for each turn that may fail, such as calls of unknown tools.
FAILED_CALLS_MAX = 4


def function_tools(schemas: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The schemas of an observation's ``tools`` in the form of OpenAI's function tools.

    A parameter without a possible value is left out.
    """
    return [{"type": "function", "function": _without_empty(schema)} for schema in schemas]


def _without_empty(schema: Mapping[str, Any]) -> dict[str, Any]:
    parameters = dict(schema.get("parameters") or {"type": "object"})
    given = parameters.get("properties") or {}
    parameters["properties"] = {
        name: one for name, one in given.items() if one.get("enum", True) != []
    }
    return {**schema, "parameters": parameters}


def tool_uses(text: str) -> dict[str, int]:
    """Reads ``check=4,profile=2``, or ``none``, as an option ``tools``.

    Raises:
        ValueError: The text has another form. The message names the part.
    """
    tools = {}
    for one in text.split(",") if text != "none" else []:
        name, _, uses = one.partition("=")
        if not name or not uses.isdecimal():
            raise ValueError(f"found {one!r}, expected NAME=USES, or none")
        tools[name] = int(uses)
    return tools


def parse_json(given: str | bytes) -> Any:  # noqa: ANN401
    """Parses the JSON that a model wrote as the arguments of a call. Empty text is ``{}``.

    Raises:
        ValueError: It is not JSON, or is nested too deeply. The message is for the model.
    """
    try:
        return json.loads(given or "{}")
    except ValueError as error:
        raise ValueError(f"the arguments are not valid JSON: {error}") from None
    except RecursionError:
        raise ValueError("the arguments are nested too deeply") from None


def call_arguments(given: str | Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a tool call.

    Args:
        given: An object, or its JSON as in OpenAI's tool calls.

    Raises:
        ValueError: The arguments do not match the schemas.
    """
    arguments = parse_json(given) if isinstance(given, str) else given
    if not isinstance(arguments, Mapping):
        raise ValueError(f"the arguments: found {type(arguments).__name__}, expected an object")
    for name, value in arguments.items():
        if name not in ("code", "language") or not isinstance(value, str):
            raise ValueError(
                f"the argument {reprlib.repr(name)}: expected code and language, both text"
            )
    return dict(arguments)


def expect_use_left(name: str, left: Mapping[str, int]) -> None:
    """Checks a call against the uses that are left.

    Raises:
        ValueError: The tool does not exist or has no use left. The message lists tools that do.
    """
    if left.get(name, 0) < 1:
        found = ", ".join(f"{tool} ({uses})" for tool, uses in left.items() if uses)
        raise ValueError(
            f"tool {name:.80}: unknown, or no use left; tools with uses left: {found or 'none'}"
        )


def may_call(left: Mapping[str, int], failed: int, turns: int) -> bool:
    """Whether uses are left, and the model has not made too many calls that failed.

    Args:
        left: The uses of each tool.
        failed: The number of failed calls in the episode.
        turns: The number of turns of the episode.
    """
    return any(left.values()) and failed <= FAILED_CALLS_MAX * turns


def refusal(error: Exception) -> str:
    """The text that the model gets if its call failed."""
    return sendable(f"error: {error}")
