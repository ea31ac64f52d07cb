"""A stub of an OpenAI-compatible endpoint: it answers from a script and records the requests."""

from __future__ import annotations

import contextlib
import json
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]


@dataclass
class Reply:
    """What is sent: a completion of `text`, or `raw` as it stands; `claims` more bytes than come is half a body."""

    text: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    claims: int = 0
    message: Body = field(default_factory=dict)
    finish: str | None = "stop"


class ChatStub:
    """One thread a connection. `answer(body, request_id)` says what to reply; it may block.

    Attributes:
        asked: How often each X-Request-Id came.
        answered: How often a reply of 200 to it was sent.
        bodies: Every request's.
    """

    def __init__(self, answer: Callable[[Body, str], Reply], models: tuple[str, ...] = ("stub",)) -> None:
        self.asked: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.bodies: list[Body] = []
        self.authorization: set[str | None] = set()
        self.changed = threading.Condition()
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                listed = json.dumps({"data": [{"id": name} for name in models]}).encode()
                self.send(Reply(raw=listed))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                request_id = self.headers["X-Request-Id"]
                with stub.changed:
                    stub.asked[request_id] += 1
                    stub.bodies.append(body)
                    stub.authorization.add(self.headers["Authorization"])
                    stub.changed.notify_all()
                reply = answer(body, request_id)
                with stub.changed:
                    stub.answered[request_id] += reply.status == 200
                self.send(reply, stream=bool(body.get("stream")))

            def send(self, reply: Reply, stream: bool = False) -> None:
                raw = reply.raw if reply.raw is not None else (streamed(reply) if stream else whole(reply))
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(raw) + reply.claims))
                self.end_headers()
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # whoever asked is gone
                    self.wfile.write(raw)
                self.close_connection = reply.claims > 0

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def wait_for(self, come: Callable[[], bool]) -> None:
        """Returns once what has come is so; asked with each request."""
        with self.changed:
            assert self.changed.wait_for(come, timeout=60), self.asked

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def usage(reply: Reply) -> Body:
    return {"prompt_tokens": 100, "completion_tokens": len(reply.text) // 4}


def whole(reply: Reply) -> bytes:
    if reply.status != 200:
        return json.dumps({"error": {"message": reply.text}}).encode()
    message = {"role": "assistant", "content": reply.text, **reply.message}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish}
    return json.dumps({"choices": [choice], "usage": usage(reply)}).encode()


def streamed(reply: Reply) -> bytes:
    """The same in events of forty characters."""
    if reply.status != 200:
        return whole(reply)
    deltas: list[Body] = [{"role": "assistant", **reply.message}]
    deltas += [{"content": reply.text[at : at + 40]} for at in range(0, len(reply.text), 40)]
    events: list[Body] = [{"choices": [{"delta": delta, "finish_reason": None}]} for delta in deltas]
    events.append({"choices": [{"delta": {}, "finish_reason": reply.finish}]})
    events.append({"choices": [], "usage": usage(reply)})
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events) + b"data: [DONE]\n\n"
