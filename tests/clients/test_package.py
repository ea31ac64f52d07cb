"""The package as a whole: import cost, types, lint, examples, python -m hone."""

from __future__ import annotations

import ast
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


def test_python_m_hone_without_a_server_is_an_error() -> None:
    done = run("-m", "hone", "serve")
    assert done.returncode == 2
    assert "this is the client alone, and has no 'serve'\n  a wheel with the server: scripts/wheel" in done.stderr


def test_version_is_the_servers() -> None:
    header = (ROOT / "core/include/hone/version.h").read_text()
    assert f'"{hone.__version__}"' in header


def test_mypy_strict() -> None:
    done = run("-m", "mypy", "src/hone", "examples")
    assert done.returncode == 0, done.stdout


def test_mypy_strict_of_what_runs_in_a_modules_process() -> None:
    module = ROOT / "core/candidate/module"
    folders = [str(module / side) for side in ("builder", "device", "shared")]
    done = run("-m", "mypy", "--config-file", str(module / "mypy.ini"), *folders)
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


MODULES = sorted(
    path
    for path in (ROOT / "clients/python/src/hone").rglob("*.py")
    if not any(part.startswith("_") and part != "__init__.py" for part in path.relative_to(ROOT).parts)
)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT / "clients/python/src")))
def test_every_public_module_lists_its_public_names(module: Path) -> None:
    tree = ast.parse(module.read_text())
    assigned = [n for n in tree.body if isinstance(n, ast.Assign | ast.AnnAssign)]
    targets = [(n.targets[0] if isinstance(n, ast.Assign) else n.target, n.value) for n in assigned]
    lists = [value for target, value in targets if isinstance(target, ast.Name) and target.id == "__all__"]
    assert len(lists) == 1
    assert lists[0] is not None
    public = ast.literal_eval(lists[0])
    defined = {n.name for n in ast.walk(tree) if isinstance(n, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)}
    defined |= {target.id for target, _ in targets if isinstance(target, ast.Name)}
    defined |= {a.asname or a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for a in n.names}
    assert set(public) <= defined


TYPED = """
import hone

with hone.connect() as client:
    start = client.reset("add_relu")
    result = start.episode.step("x")
    words: str = result.observation["messages"][0]["content"] + start.observation["task"]["title"]
    verdict = result.info["verdict"]
    if verdict is not None and verdict["outcome"] == "correct" and verdict["speedup"] is not None:
        faster: float = verdict["speedup"]["value"]
    seed: int = start.info["seed"]
    {line}
"""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("pass", ""),
        ('print(result.info["verdikt"])', '"verdikt"'),
        ('print(result.observation["feedbak"])', '"feedbak"'),
        ('wrong: int = result.observation["feedback"]', "Incompatible types"),
        ('ok = verdict is not None and verdict["outcome"] == "corect"', "Non-overlapping"),
    ],
)
def test_observations_verdicts_and_infos_are_typed(tmp_path: Path, line: str, said: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(TYPED.format(line=line))
    done = run("-m", "mypy", "--strict", str(program))
    assert (done.returncode == 0) == (said == ""), done.stdout
    assert said in done.stdout
