"""Tool calls in the text of an answer, for trainers without function calls: parsing, and the answers to the model."""

from __future__ import annotations

import json

import pytest
from hone.adapters._calls import as_user, calls_in, respond, with_tools
from hone.adapters._play import Play, Settings

from scripted import ScriptedServer

CHECK = '<tool_call>\n{"name": "check", "arguments": {"code": "slow"}}\n</tool_call>'
HARDWARE = '<tool_call>{"name": "hardware"}</tool_call>'


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("```cpp\nint x;\n```", []),
        (f"First a check.\n{CHECK}\n{HARDWARE}", [("check", {"code": "slow"}), ("hardware", {})]),
        (f"I write it within <tool_call> tags: {HARDWARE}", [("hardware", {})]),
        (f"<think>{CHECK}</think>A kernel", []),
        (f"<think>{CHECK}</think>{HARDWARE}", [("hardware", {})]),
        (CHECK.removesuffix("</tool_call>"), []),  # truncated
        (f"<think>{CHECK}", []),  # truncated thoughts
        (HARDWARE * 20_000, [("hardware", {})] * 8),
        (r'<tool_call>{"name": "\ud800"}</tool_call>', [("(no name)", {})]),
        ('<tool_call>{"name": "<|im_end|>"}</tool_call>', [("(no name)", {})]),
        ('<tool_call>{"name": }</tool_call>', [("(no name)", '{"name": }')]),
        ("<tool_call>[1]</tool_call>", [("(no name)", [1])]),
        ('<tool_call>{"name": 7, "arguments": {}}</tool_call>', [("(no name)", {})]),
        ('<tool_call>{"name": "check", "arguments": "{}"}</tool_call>', [("check", "{}")]),
        ("<tool_call>" + "[" * 100_000 + "</tool_call>", [("(no name)", "[" * 100_000)]),
    ],
)
def test_calls_in_an_answer(text: str, calls: list[tuple[str, object]]) -> None:
    assert calls_in(text) == calls


def test_prompt_describes_the_tools() -> None:
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    functions = [{"type": "function", "function": {"name": "check"}}]
    system, user = with_tools(messages, functions)
    assert system == messages[0]
    assert user["content"].startswith("u\n\n# Tools\n")
    assert json.dumps(functions[0]) in user["content"]
    # The braces of the example are single: the model copies it.
    assert '{"name": "<function-name>", "arguments": <arguments-object>}' in user["content"]
    assert with_tools(messages, []) == messages
    assert with_tools([], functions) == []


def test_answers_of_tools_are_one_message_of_the_user() -> None:
    answers = [{"role": "tool", "name": "a", "content": "1"}, {"role": "tool", "name": "b", "content": "2"}]
    text = "<tool_response>\n1\n</tool_response>\n<tool_response>\n2\n</tool_response>"
    assert as_user(answers) == [{"role": "user", "content": text}]
    feedback = [{"role": "user", "content": "Your kernel was judged: wrong."}]
    assert as_user(feedback) == feedback
    assert as_user([]) == []


def test_call_leaves_the_turn_open_and_a_used_up_tool_gives_an_error(scripted: ScriptedServer) -> None:
    play = Play(Settings(scripted.endpoint, options={"max_turns": 1, "tools": {"check": 1}}))
    play.start("add_relu")
    answers = [respond(play, text, calls_in(text)) for text in (CHECK, CHECK, HARDWARE)]
    spent = "error: tool {}: unknown, or no use left; tools with uses left: none"
    assert [one[0]["content"] for one in answers] == [
        "check found: correct",
        spent.format("check"),
        spent.format("hardware"),
    ]
    assert [one[0]["role"] for one in answers] == ["tool"] * 3
    record = play.record
    assert (record.turns, record.ended, record.tool_calls) == (0, False, {"check": 1})
    respond(play, "slow", [])
    assert (record.rewards, play.finish().score) == ([0.4], 0.4)


def test_after_too_many_failed_calls_an_answer_is_judged(scripted: ScriptedServer) -> None:
    play = Play(Settings(scripted.endpoint, options={"max_turns": 2, "tools": {"check": 1}}))
    play.start("add_relu")
    for _ in range(9):  # 4 for each turn, and the one beyond
        assert respond(play, "", calls_in("<tool_call>x</tool_call>"))[0]["content"].startswith("error: the arguments")
    assert play.record.turns == 0
    (feedback,) = respond(play, f"wrong {CHECK}", calls_in(CHECK))
    assert feedback["role"] == "user"
    assert feedback["content"] == (
        "error: no tool can be called any more; the answer was judged without the call\n\n"
        "Your kernel was judged: wrong."
    )
    assert play.record.rewards == [0.1]


def test_answer_to_a_bad_call_is_text_that_tokenizers_take(scripted: ScriptedServer) -> None:
    play = Play(Settings(scripted.endpoint, options={"tools": {"check": 1}}))
    play.start("add_relu")
    text = r'<tool_call>{"name": "check", "arguments": {"\ud800": "x"}}</tool_call>'
    (answer,) = respond(play, text, calls_in(text))
    assert answer["content"].startswith("error: the argument ")
    answer["content"].encode()
    play.call("\ud800", {"code": "x"}).encode()


def test_fault_in_a_call_has_no_score(scripted: ScriptedServer) -> None:
    play = Play(Settings(scripted.endpoint, options={"tools": {"check": 2}}))
    play.start("add_relu")
    text = CHECK + CHECK.replace("slow", "fault") + CHECK
    assert respond(play, text, calls_in(text)) == []
    record = play.finish()
    assert (record.score, record.fault) == (None, "turn 1: tool check: unavailable: the builder's process died")
    assert record.tool_calls == {"check": 1}
