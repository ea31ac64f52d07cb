"""Tool calls in the form that a model writes, and their answers in the form of Qwen's chat template."""

from __future__ import annotations

import json


def call(tool: str, **arguments: object) -> str:
    """A call as JSON between tags."""
    return "<tool_call>\n" + json.dumps({"name": tool, "arguments": arguments}) + "\n</tool_call>"


def answers(*texts: str) -> str:
    """The answers of tools, as the content of a message of the user."""
    return "\n".join(f"<tool_response>\n{text}\n</tool_response>" for text in texts)


def after_answers(*texts: str) -> str:
    """From the end of an answer with calls to the beginning of the next answer."""
    return f"\n<|im_start|>user\n{answers(*texts)}<|im_end|>\n<|im_start|>assistant\n"
