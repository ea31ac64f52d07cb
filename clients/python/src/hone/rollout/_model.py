"""The model: requests to an OpenAI-compatible endpoint, with retries."""

from __future__ import annotations

import asyncio
import email.utils
import json
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any, TypeVar

import httpx

from hone._text import sendable

from ._settings import Settings, UsageError, chat_url

BODY_BYTES_MAX = 16 << 20
WAIT_MAX = 60.0
RETRY_AFTER_MAX = 300.0
_SAID_MAX = 300
T = TypeVar("T")
# The endpoint or the key is wrong: no sample can be played.
_HOPELESS = frozenset({401, 403, 404, 405})
_AGAIN = frozenset({408, 409, 425, 429})


class ModelError(Exception):
    """A request failed, and a retry cannot help.

    Attributes:
        refused: The endpoint refuses this conversation (it may be too long), not others.
        hopeless: The endpoint refuses every conversation.
    """

    def __init__(self, message: str, *, refused: bool = False, hopeless: bool = False) -> None:
        super().__init__(message)
        self.refused = refused
        self.hopeless = hopeless


class _TryAgain(Exception):  # noqa: N818 - it is caught in this file
    """A failure that a retry may cure."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


@dataclass(frozen=True)
class Answer:
    """An answer of the model and its tokens; a count that the endpoint does not report is 0."""

    text: str
    reasoning: str | None = None
    finish_reason: str | None = None
    refused: bool = False
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tool_calls: tuple[dict[str, Any], ...] = ()

    def plain(self) -> dict[str, Any]:
        """The answer as JSON can hold it."""
        plain = asdict(self)
        calls = list(plain.pop("tool_calls"))
        return {**plain, "tool_calls": calls} if calls else plain


class Model:
    """An endpoint, for any number of tasks of one event loop.

    Args:
        settings: The rollout's.
        on_retry: Called with a line for each retry.
    """

    def __init__(self, settings: Settings, on_retry: Callable[[str], None]) -> None:
        self._settings = settings
        self._on_retry = on_retry
        self.name = settings.model or ""
        self._base = chat_url(settings.url)
        headers = {"Accept-Encoding": "identity"}
        if settings.api_key:
            headers["Authorization"] = f"Bearer {settings.api_key}"
        limits = httpx.Limits(max_connections=settings.batch_size)
        timeout = httpx.Timeout(settings.request_timeout, connect=10.0)
        self._http = httpx.AsyncClient(headers=headers, limits=limits, timeout=timeout)

    async def __aenter__(self) -> Model:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._http.aclose()

    async def find_name(self) -> None:
        """Asks the endpoint for the model's name if the settings have none.

        Raises:
            UsageError: The endpoint has no model or several.
            ModelError: The request failed.
        """
        if self.name:
            return

        async def once() -> list[str]:
            listed = _json(await self._exchange("GET", "/models", None, None))
            return [str(one["id"]) for one in listed.get("data") or [] if "id" in one]

        names = await self._patiently(once)
        if len(names) != 1:
            found = ", ".join(names[:8]) or "none"
            raise UsageError(f"--model: {self._base} has these models: {found}; name one")
        self.name = names[0]

    async def ask(
        self,
        messages: list[dict[str, Any]],
        request_id: str,
        tools: list[dict[str, Any]] | None = None,
        *,
        may_call: bool = True,
    ) -> Answer:
        """Asks the model for an answer.

        Args:
            messages: The conversation.
            request_id: Sent as ``X-Request-Id``; the same in every retry of a turn.
            tools: Function tools, in the endpoint's form; None or empty for none.
            may_call: Whether the model may call them now.

        Raises:
            ModelError: There is no answer after all retries.
        """
        body: dict[str, Any] = {"model": self.name, "messages": messages}
        if self._settings.temperature is not None:
            body["temperature"] = self._settings.temperature
        if self._settings.max_tokens is not None:
            body["max_tokens"] = self._settings.max_tokens
        if tools:
            body |= {"tools": tools, "tool_choice": "auto" if may_call else "none"}
        if self._settings.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}

        async def once() -> Answer:
            raw = await self._exchange("POST", "/chat/completions", body, request_id)
            try:
                return _streamed(raw) if self._settings.stream else _whole(_json(raw))
            except RecursionError:  # some endpoints send the arguments of a call as an object
                raise _TryAgain("a reply that is nested too deeply") from None

        return await self._patiently(once)

    async def _patiently(self, once: Callable[[], Awaitable[T]]) -> T:
        """Retries until there is an answer or no retry is left."""
        wait = self._settings.retry_wait
        for left in range(self._settings.retries, -1, -1):
            try:
                return await once()
            except (_TryAgain, httpx.TransportError) as error:
                said = str(error) or type(error).__name__
                if left == 0:
                    raise ModelError(
                        f"{said} (asked {self._settings.retries + 1} times)"
                    ) from error
                after = error.after if isinstance(error, _TryAgain) else None
                self._on_retry(said)
                await asyncio.sleep(after if after is not None else wait * random.uniform(0.5, 1))
                wait = min(wait * 2, WAIT_MAX)
        raise AssertionError("the last round returns or raises")

    async def _exchange(
        self, method: str, path: str, body: dict[str, Any] | None, request_id: str | None
    ) -> bytes:
        """The whole body of the reply to one request."""
        headers = {"X-Request-Id": request_id} if request_id else {}
        try:
            async with self._http.stream(
                method, self._base + path, json=body, headers=headers
            ) as reply:
                raw = bytearray()
                async for part in reply.aiter_bytes():
                    raw += part
                    if len(raw) > BODY_BYTES_MAX:
                        raise _TryAgain(f"a reply of more than {BODY_BYTES_MAX >> 20} MiB")
        except httpx.InvalidURL as error:
            raise ModelError(f"{self._base}: {error}", hopeless=True) from error
        if reply.is_success:
            return bytes(raw)
        said = f"{reply.status_code} {reply.reason_phrase}: {_error_text(bytes(raw))}".rstrip(": ")
        if reply.status_code in _HOPELESS or reply.is_redirect:
            raise ModelError(f"{self._base}{path}: {said}", hopeless=True)
        if reply.status_code in _AGAIN or reply.is_server_error:
            raise _TryAgain(said, _retry_after(reply.headers.get("Retry-After")))
        raise ModelError(said, refused=True)


def _json(raw: bytes) -> dict[str, Any]:
    """The object of a reply. An incomplete body is retried."""
    try:
        value = json.loads(raw)
    except ValueError:
        raise _TryAgain(f"invalid or incomplete JSON in a reply of {len(raw)} bytes") from None
    if not isinstance(value, dict):
        raise _TryAgain(f"found {type(value).__name__} in a reply, expected an object")
    if value.get("error"):
        raise _TryAgain(_error_text(raw))
    return value


def _whole(reply: dict[str, Any]) -> Answer:
    choices = reply.get("choices") or []
    if not choices or not isinstance(choices[0], dict):
        raise _TryAgain("a reply without choices")
    message = choices[0].get("message") or {}
    return _answer(
        _text(message.get("content")),
        _text(message.get("reasoning_content") or message.get("reasoning")),
        _text(message.get("refusal")),
        choices[0].get("finish_reason"),
        reply.get("usage"),
        _calls(message.get("tool_calls")),
    )


def _streamed(raw: bytes) -> Answer:
    """Joins the events of a stream."""
    parts: dict[str, list[str]] = {"content": [], "reasoning": [], "refusal": []}
    finish = usage = None
    done = False
    calls: dict[int, dict[str, Any]] = {}
    for line in raw.decode("utf-8", errors="replace").split("\n"):
        data = line.removeprefix("data:").strip()
        if not line.startswith("data:"):
            continue
        if data == "[DONE]":
            done = True
            break
        event = _json(data.encode())
        usage = event.get("usage") or usage
        for choice in (event.get("choices") or [])[:1]:
            delta = choice.get("delta") or {}
            parts["content"].append(_text(delta.get("content")))
            parts["reasoning"].append(
                _text(delta.get("reasoning_content") or delta.get("reasoning"))
            )
            parts["refusal"].append(_text(delta.get("refusal")))
            finish = choice.get("finish_reason") or finish
            _join_calls(calls, delta.get("tool_calls"))
    if not done and finish is None:
        raise _TryAgain(f"a stream that ended early ({len(raw)} bytes)")
    content, reasoning, refusal = ("".join(part) for part in parts.values())
    return _answer(content, reasoning, refusal, finish, usage, _calls(list(calls.values())))


def _join_calls(calls: dict[int, dict[str, Any]], deltas: object) -> None:
    """Adds the parts of tool calls that an event of a stream has."""
    for delta in deltas if isinstance(deltas, list) else []:
        if not isinstance(delta, dict):
            continue
        index = delta.get("index")
        empty = {"id": "", "function": {"name": "", "arguments": ""}}
        call = calls.setdefault(index if isinstance(index, int) else len(calls), empty)
        call["id"] = call["id"] or str(delta.get("id") or "")
        function = delta.get("function")
        if isinstance(function, dict):
            for part in ("name", "arguments"):
                call["function"][part] += _text(function.get(part))


def _calls(calls: object) -> tuple[dict[str, Any], ...]:
    """Tool calls in one form: id, type, name, and arguments as text."""
    found = []
    for number, call in enumerate(calls if isinstance(calls, list) else [], 1):
        if not isinstance(call, dict) or not isinstance(call.get("function"), dict):
            continue
        function = call["function"]
        arguments = function.get("arguments")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
        said = {"name": _text(function.get("name")), "arguments": sendable(text)}
        id = str(call.get("id") or f"call_{number}")
        found.append({"id": id, "type": "function", "function": said})
    return tuple(found)


def _answer(
    content: str,
    reasoning: str,
    refusal: str,
    finish: object,
    usage: object,
    calls: tuple[dict[str, Any], ...],
) -> Answer:
    """A refusal is an answer: asking again would press the model until it gives in."""
    refused = bool(refusal) or finish == "content_filter"
    if not content and not refused and not reasoning and not calls:
        raise _TryAgain("an answer of no words")
    counted = usage if isinstance(usage, dict) else {}
    return Answer(
        text=content or refusal,
        reasoning=reasoning or None,
        finish_reason=None if finish is None else str(finish),
        refused=refused,
        prompt_tokens=int(counted.get("prompt_tokens") or 0),
        completion_tokens=int(counted.get("completion_tokens") or 0),
        tool_calls=calls,
    )


def _text(content: object) -> str:
    """Content is a text, or a list of parts of which some are; what is no character is replaced."""
    if isinstance(content, str):
        return sendable(content)
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(_text(text) for text in texts if isinstance(text, str))
    return ""


def _error_text(raw: bytes) -> str:
    """The endpoint's error message in one line."""
    text = raw.decode("utf-8", errors="replace")
    try:
        error = json.loads(text).get("error")
        text = str(error.get("message") if isinstance(error, dict) else error)
    except (AttributeError, ValueError):
        pass
    return " ".join(text.split())[:_SAID_MAX]


def _retry_after(header: str | None) -> float | None:
    """Seconds, of a number or a date; nothing of anything else."""
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(header).timestamp() - time.time()
        except ValueError:
            return None
    return min(max(seconds, 0.0), RETRY_AFTER_MAX) if seconds == seconds else None
