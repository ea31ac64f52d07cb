"""Clients without hone-rl: plain pyzmq and msgpack, and the one that docs/protocol.md prints."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

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
