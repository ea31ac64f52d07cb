"""A client in plain pyzmq and msgpack, written from docs/protocol.md alone. Usage: client.py ENDPOINT FILE...

Submits the files one after another to one episode of `add_relu` and prints one JSON object per turn. Knows nothing of
the package hone.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import msgpack
import zmq


class Failed(Exception):
    """An error reply; its body is the argument."""


class PlainClient:
    """One request at a time over a DEALER."""

    def __init__(self, endpoint: str) -> None:
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.DEALER)
        self.socket.linger = 0
        self.socket.rcvtimeo = 100_000
        self.socket.connect(endpoint)
        self.last_id = 0

    def request(self, verb: str, body: dict[str, Any]) -> dict[str, Any]:
        """Sends a request and reads replies until its result; raises Failed for an error."""
        self.last_id += 1
        header = {"id": self.last_id}
        self.socket.send_multipart([b"hone/1", verb.encode(), msgpack.packb(header), msgpack.packb(body)])
        while True:
            frames = self.socket.recv_multipart()
            protocol, kind, header_bytes, body_bytes = frames[:4]
            assert protocol == b"hone/1", protocol
            if msgpack.unpackb(header_bytes)["id"] != self.last_id or kind in (b"accepted", b"progress"):
                continue
            reply: dict[str, Any] = msgpack.unpackb(body_bytes)
            if kind == b"error":
                raise Failed(reply)
            return reply

    def close(self) -> None:
        self.socket.close()
        self.context.term()


def play(endpoint: str, sources: list[str]) -> list[dict[str, Any]]:
    """Submits the sources, one per turn; returns the outcome of each turn."""
    client = PlainClient(endpoint)
    hello = client.request("hello", {"versions": ["hone/1"], "client": "plain/1.0"})
    assert hello["version"] == "hone/1", hello
    start = client.request("reset", {"task": "tasks/add_relu", "options": {"max_turns": len(sources)}})
    turns = []
    for turn, code in enumerate(sources, start=1):
        step = client.request("step", {"episode": start["episode"], "turn": turn, "action": {"code": code}})
        verdict = step["info"]["verdict"] or {}
        turns.append(
            {
                "turn": step["turn"],
                "outcome": verdict.get("outcome"),
                "speedup": verdict.get("speedup"),
                "reward": step["reward"],
                "reward_valid": step["reward_valid"],
                "return_to_date": step["return_to_date"],
                "ended": step["terminated"] or step["truncated"],
            }
        )
        if turns[-1]["ended"]:
            break
    client.close()
    return turns


if __name__ == "__main__":
    for line in play(sys.argv[1], [Path(name).read_text() for name in sys.argv[2:]]):
        print(json.dumps(line))
