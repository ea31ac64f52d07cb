"""The model client of a rollout: every kind of reply of an endpoint, streamed and not."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from hone.rollout import Settings, UsageError
from hone.rollout._model import Answer, Model, ModelError, _retry_after
from hone.rollout._settings import chat_url

from chat_stub import ChatStub, Reply

MESSAGES = [{"role": "user", "content": "Write a kernel."}]
Serve = Callable[..., ChatStub]


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def serve() -> Iterator[Serve]:
    stubs: list[ChatStub] = []

    def start(*replies: Reply, models: tuple[str, ...] = ("stub",)) -> ChatStub:
        script = list(replies)
        stubs.append(ChatStub(lambda *_: script.pop(0) if len(script) > 1 else script[0], models))
        return stubs[-1]

    yield start
    for stub in stubs:
        stub.stop()


def ask(stub: ChatStub, retried: list[str] | None = None, **given: Any) -> Answer:
    settings = Settings(**{"url": stub.url, "output": Path("unused"), "retries": 2, "retry_wait": 0.01} | given)

    async def once() -> Answer:
        async with Model(settings, ([] if retried is None else retried).append) as model:
            await model.find_name()
            return await model.ask(MESSAGES, "task#0/1/1")

    return asyncio.run(once())


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def stream(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_an_answer(serve: Serve, stream: bool) -> None:
    said = "Here is a\u2028 kernel.\r\n" * 10
    stub = serve(Reply(said, message={"reasoning_content": "I think."}))
    answer = ask(stub, stream=stream, temperature=0.7, max_tokens=99, api_key="secret")
    assert answer == Answer(said, "I think.", "stop", False, 100, len(said) // 4)
    (body,) = stub.bodies
    assert (body["model"], body["messages"], body["temperature"], body["max_tokens"]) == ("stub", MESSAGES, 0.7, 99)
    assert body.get("stream", False) is stream
    assert stub.authorization == {"Bearer secret"}


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (Reply("slow down", status=429, headers={"Retry-After": "0"}), "429 Too Many Requests: slow down"),
        (Reply("out of memory", status=500), "500 Internal Server Error: out of memory"),
        (Reply(raw=b"<html>bad gateway</html>", status=502), "502 Bad Gateway: <html>bad gateway</html>"),
        (Reply(raw=b'{"choices": [{"mess', claims=100), "peer closed connection"),
        (Reply(raw=b'{"choices": [{"mess'), "incomplete JSON in a reply of 19 bytes"),
        (Reply(raw=b"[" * 100_000 + b"]" * 100_000), "a reply that is nested too deeply"),
        (Reply(raw=b"[]"), "found list in a reply, expected an object"),
        (Reply(raw=b'{"choices": []}'), "a reply without choices"),
        (Reply(raw=b'{"error": {"message": "engine died"}}'), "engine died"),
        (Reply(""), "an answer of no words"),
    ],
    ids=["429", "500", "502", "cut", "half", "nested", "no_object", "empty_choices", "error_in_200", "no_words"],
)
def test_transient_errors_are_retried(serve: Serve, bad: Reply, said: str) -> None:
    retried: list[str] = []
    stub = serve(bad, Reply("a kernel"))
    assert ask(stub, retried).text == "a kernel"
    assert len(retried) == 1
    assert said in retried[0]
    with pytest.raises(ModelError, match=r"asked 3 times") as caught:
        ask(serve(bad))
    assert said in str(caught.value)
    assert not caught.value.hopeless
    assert not caught.value.refused


def test_incomplete_stream_is_retried(serve: Serve) -> None:
    part = b'data: {"choices": [{"delta": {"content": "a ker"}, "finish_reason": null}]}\n\n'
    retried: list[str] = []
    stub = serve(Reply(raw=part), Reply(raw=part + b'data: {"choi'), Reply("a kernel"))
    assert ask(stub, retried, stream=True).text == "a kernel"
    assert "a stream that ended early (77 bytes)" in retried[0]
    assert "incomplete JSON" in retried[1]


def test_refused_connection_is_retried(serve: Serve) -> None:
    stub = serve(Reply("a kernel"))
    stub.stop()
    retried: list[str] = []
    with pytest.raises(ModelError, match="asked 3 times"):
        ask(stub, retried, model="stub")
    assert len(retried) == 2


def test_a_refusal_is_an_answer(serve: Serve, stream: bool) -> None:
    stub = serve(Reply("", message={"refusal": "I will not."}))
    answer = ask(stub, stream=stream)
    assert (answer.text, answer.refused) == ("I will not.", True)
    filtered = ask(serve(Reply("", finish="content_filter")), stream=stream)
    assert (filtered.text, filtered.refused) == ("", True)
    assert sum(stub.asked.values()) == 1


def test_a_long_answer_is_taken_whole(serve: Serve, stream: bool) -> None:
    long = "x" * 200_000
    assert ask(serve(Reply(long)), stream=stream).text == long


def test_an_answer_without_end_is_not_read_to_its_end(serve: Serve) -> None:
    with pytest.raises(ModelError, match="a reply of more than 16 MiB"):
        ask(serve(Reply(raw=b" " * ((16 << 20) + 1))), retries=0)


def test_permanent_errors_are_not_retried(serve: Serve) -> None:
    for status, hopeless in ((400, False), (413, False), (401, True), (404, True), (307, True)):
        stub = serve(Reply("no", status=status))
        with pytest.raises(ModelError, match=f"{status} ") as caught:
            ask(stub)
        assert (caught.value.hopeless, caught.value.refused) == (hopeless, not hopeless)
        assert sum(stub.asked.values()) == 1


def test_an_answer_in_parts_is_put_together(serve: Serve) -> None:
    parts = [{"type": "text", "text": "a "}, {"type": "image"}, {"type": "text", "text": "kernel"}]
    assert ask(serve(Reply(message={"content": parts}))).text == "a kernel"


def test_endpoint_names_its_model(serve: Serve) -> None:
    with pytest.raises(UsageError, match="has these models: one, two; name one"):
        ask(serve(Reply("a"), models=("one", "two")))
    assert ask(serve(Reply("a"), models=("one", "two")), model="two").text == "a"


def test_retry_after_is_a_number_or_a_date() -> None:
    assert _retry_after("2.5") == 2.5
    assert _retry_after("-1") == 0
    assert _retry_after("1e9") == 300
    assert _retry_after("nan") is None
    assert _retry_after("soon") is None
    assert _retry_after(None) is None
    told = _retry_after(formatdate(time.time() + 60, usegmt=True))
    assert told is not None
    assert 50 < told <= 60


def test_urls() -> None:
    for given in ("http://a:8000", "http://a:8000/", "http://a:8000/v1/", "http://a:8000/v1/chat/completions"):
        assert chat_url(given) == "http://a:8000/v1"
    assert chat_url("https://a/openai/v2") == "https://a/openai/v2"
    for wrong in ("a:8000", "ftp://a", "http://", ""):
        with pytest.raises(UsageError, match="--url: found"):
            chat_url(wrong)


def test_half_a_character_is_replaced(serve: Serve, stream: bool) -> None:
    assert ask(serve(Reply("a \ud800 kernel")), stream=stream).text == "a \ufffd kernel"


def test_an_answer_is_plain_data() -> None:
    assert json.loads(json.dumps(Answer("a", prompt_tokens=3).plain()))["prompt_tokens"] == 3
