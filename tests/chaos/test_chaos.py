"""A short run that must pass, and sabotaged runs that the harness must detect."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
pytestmark = pytest.mark.timeout(1200)


def chaos(*arguments: str) -> tuple[int, str]:
    command = [sys.executable, str(HERE / "main.py"), *arguments]
    if binary := os.environ.get("HONE_BINARY"):
        command += ["--binary", binary]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    assert ran.stdout, f"{command} said nothing, and ended with {ran.returncode}"
    return ran.returncode, ran.stdout.strip()


def told(output: str) -> dict[str, Any]:
    last: dict[str, Any] = json.loads(output.splitlines()[-1])
    return last


def test_a_seed_decides_everything() -> None:
    first, again, other = chaos("--plan", "--seed", "7"), chaos("--plan", "--seed", "7"), chaos("--plan", "--seed", "8")
    assert first == again
    assert first != other


def test_nothing_is_lost_and_nothing_done_twice() -> None:
    status, output = chaos("--kills", "25", "--seed", "2026", "--network", "proxy", "--json")
    found = told(output)
    assert found["violations"] == []
    assert (status, found["kills"], found["lost"], found["doubled"]) == (0, 25, 0, 0)
    assert found["steps"] > 25
    assert found["repeats"] > 0
    assert found["conflicts"] > 0
    assert found["reaped"] > 0


@pytest.mark.parametrize(
    ("sabotage", "words"),
    [
        ("lose-write", "episode"),
        ("no-sync", "episode"),
        ("drop-turn", "was acknowledged, and is not in the journal"),
        ("change-reward", "the journal has another reply than the client"),
        ("leave-process", "is left over"),
        ("step-monotonic", "a lease of 60.0 s ran out after"),
    ],
)
def test_a_run_that_is_spoilt_is_found_out(sabotage: str, words: str) -> None:
    few = ("--kills", "6", "--clients", "12", "--seed", "5", "--network", "proxy", "--json")
    status, output = chaos(*few, "--sabotage", sabotage)
    found = told(output)
    assert status == 1
    assert any(words in violation for violation in found["violations"])
    assert found["lost"] > 0 or sabotage in ("leave-process", "step-monotonic")
