"""The package as a whole: import cost, types, lint, examples, python -m hone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import hone
import pytest

from conftest import ROOT

PYTHON_CLIENT = ROOT / "clients" / "python"
LINTED = [PYTHON_CLIENT, ROOT / "tests/clients", ROOT / "tests/trainers"]
EXAMPLES = sorted(set((PYTHON_CLIENT / "examples").glob("*.py")) - {PYTHON_CLIENT / "examples/autotune_learns.py"})


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, timeout=100, cwd=PYTHON_CLIENT, check=False
    )


def test_import_brings_in_nothing_heavy() -> None:
    done = run(
        "-c", "import hone, sys; print({'numpy', 'gymnasium', 'torch', 'asyncio', 'pyarrow'} & set(sys.modules))"
    )
    assert done.stdout.strip() == "set()", done.stderr


def test_python_m_hone() -> None:
    done = run("-m", "hone")
    assert done.stdout.startswith(f"hone {hone.__version__}")
    assert "hone serve" in done.stdout


def test_python_m_hone_without_a_server_says_so() -> None:
    done = run("-m", "hone", "serve")
    assert done.returncode == 2
    assert "this is the client alone, and has no 'serve'\n  a wheel with the server: scripts/wheel" in done.stderr


def test_version_is_the_servers() -> None:
    header = (ROOT / "core/include/hone/version.h").read_text()
    assert f'"{hone.__version__}"' in header


def test_mypy_strict() -> None:
    done = run("-m", "mypy", "src/hone", "examples")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("folder", LINTED, ids=lambda path: path.name)
def test_ruff(folder: Path) -> None:
    for command in (["check"], ["format", "--check"]):
        done = run("-m", "ruff", *command, str(folder))
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example: object, endpoint: str) -> None:
    done = run(str(example), endpoint)
    assert done.returncode == 0, done.stderr
    assert any(word in done.stdout for word in ("turn 2: reward", "seed 7: ")), done.stdout


def test_examples_are_short() -> None:
    assert len(EXAMPLES) == 3
    assert {e.name: len(e.read_text().splitlines()) < 60 for e in EXAMPLES} == {e.name: True for e in EXAMPLES}
