"""Clients without the package: plain pyzmq and msgpack, and the client in docs/protocol.md."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgpack
import pytest
import zmq

from conftest import ROOT, RealServer

DEMO = sorted((ROOT / "envs/kernel_refine/tasks/add_relu/golden").glob("demo_*.cpp"))
FENCE = re.compile(r"^```python name=client\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_four_turns_of_the_demo(endpoint: str) -> None:
    assert len(DEMO) == 4
    client = Path(__file__).parent / "plain/client.py"
    done = subprocess.run(
        [sys.executable, str(client), endpoint, *map(str, DEMO)],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    turns = [json.loads(line) for line in done.stdout.splitlines()]
    assert [turn["outcome"] for turn in turns] == ["wrong", "crashed", "correct", "correct"]
    assert all(turn["reward_valid"] for turn in turns)
    assert turns[3]["reward"] > turns[0]["reward"]
    assert turns[3]["ended"]


def test_the_client_that_the_protocol_page_prints(endpoint: str, tmp_path: Path) -> None:
    page = ROOT / "docs/protocol.md"
    if not page.exists():
        pytest.skip("docs/protocol.md is not written")
    found = FENCE.search(page.read_text())
    assert found, "docs/protocol.md has no block that begins ```python name=client"
    program = tmp_path / "client.py"
    program.write_text(found.group(1))
    done = subprocess.run(
        [sys.executable, str(program), endpoint], capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def ask(socket: zmq.Socket[bytes], verb: str, **body: Any) -> dict[str, Any]:
    socket.send_multipart([b"hone/1", verb.encode(), msgpack.packb({"id": 1}), msgpack.packb(body)])
    for _ in range(100):
        _, kind, _, reply = socket.recv_multipart()
        if kind in (b"result", b"error"):
            assert kind == b"result", msgpack.unpackb(reply)
            return dict(msgpack.unpackb(reply))
    raise AssertionError(f"{verb}: 100 replies and no end")


@pytest.mark.real
def test_whole_floats_stay_floats(real: RealServer) -> None:
    context = zmq.Context()
    main, control = context.socket(zmq.DEALER), context.socket(zmq.DEALER)
    for socket, endpoint in ((main, real.endpoint), (control, real.announced["control"])):
        socket.linger = 0
        socket.rcvtimeo = 60_000
        socket.connect(endpoint)
    try:
        hello = ask(main, "hello", versions=["hone/1"])
        reset = ask(main, "reset", task="add_relu", options={"max_turns": 2, "seconds_max": 600})
        # A reward of 0, one of 1 and their sums: numbers that MessagePack would send as integers.
        broken = ask(main, "step", episode=reset["episode"], turn=1, action={"code": "int x"})
        right = ask(main, "step", episode=reset["episode"], turn=2, action={"code": DEMO[3].read_text()})
        closed = ask(main, "close", episode=reset["episode"])
        health = ask(control, "health")
    finally:
        context.destroy()
    assert broken["info"]["verdict"]["outcome"] == "build_failed"
    floats = {
        "hello": [hello["heartbeat_s"], hello["lease_s"]],
        "reset": [reset["lease_s"], reset["observation"]["seconds_left"]],
        "close": [*closed["returns"], closed["return_to_date"]],
        "health": [health["uptime_s"]],
        "returns": right["returns"],
        "speedup": [right["info"]["verdict"]["speedup"][k] for k in ("value", "low", "high", "time_us", "baseline_us")],
    }
    for step in (broken, right):
        floats[f"step {step['turn']}"] = [
            step["reward"],
            step["return_to_date"],
            *step["info"]["components"].values(),
            *(turn["reward"] for turn in step["observation"]["history"]),
            *step["info"]["verdict"]["stage_ms"].values(),
        ]
    other = {name: found for name, given in floats.items() if (found := [v for v in given if type(v) is not float])}
    assert other == {}
