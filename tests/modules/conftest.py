"""Shared by the tests of PyTorch modules: the interpreter with torch, hone, and the real data."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from interpreter import Interpreter
from module_folders import ENVIRONMENT, FOLDERS

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "plugins/datasets/kernelbench"))
sys.path.insert(0, str(ROOT / "tests/modules"))
sys.path.insert(0, str(ROOT / "tests/cli"))
sys.dont_write_bytecode = True

sys.path[:0] = FOLDERS

BUILD = Path(os.environ.get("HONE_BUILD_DIR", ROOT / "build/dev")).resolve()
# The data of the task's author, next to the checkout.
DATA = Path(os.environ.get("HONE_SHARED", ROOT.parent / "shared")) / "data"
SECONDS_MAX = 1200  # bounds a hang: a busy machine takes ten times as long as a quiet one


def modules_python() -> str:
    """The interpreter with torch."""
    named = os.environ.get("HONE_MODULES_PYTHON", "")
    made = ROOT / "build/python/bin/python"
    return named or (str(made) if made.exists() else "")


@pytest.fixture(scope="session")
def python():
    """The interpreter with torch; without one a test is skipped."""
    found = modules_python()
    if not found:
        pytest.skip("no interpreter with torch: scripts/setup --python, or HONE_MODULES_PYTHON")
    return found


@pytest.fixture(scope="session")
def interpreter(python):
    """interpreter.run(file or "-c", …) runs a program with torch imported, like subprocess.run([python, …])."""
    found = Interpreter(python)
    yield found
    found.close()


@pytest.fixture(scope="session")
def run_beside_modules(interpreter):
    """run_beside_modules(code, argument, …) returns the output of code that may import the scripts of modules."""

    def run(code, *arguments, folder=""):
        ran = interpreter.run("-c", code, *arguments, timeout=SECONDS_MAX, variables=ENVIRONMENT, folder=folder)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    return run


@pytest.fixture(scope="session")
def describe(interpreter):
    """describe([(id, source), …]) gives for each a task, or why it is unfit."""

    def ask(rows):
        given = [dict(zip(("id", "source", "entry", "exact"), row, strict=False)) for row in rows]
        program = ROOT / "tests/modules/describe_rows.py"
        ran = interpreter.run(program, given=json.dumps(given), timeout=SECONDS_MAX)
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    return ask


@pytest.fixture(scope="session")
def dry_run(interpreter):
    """dry_run([{"content": an artifact, …}, …]) returns each one's certain failure and its compiled files."""

    def ask(rows, architecture="sm_90a", **device):
        told = json.dumps({"architecture": architecture, **device})
        program = ROOT / "tests/modules/dry_run_rows.py"
        ran = interpreter.run(program, told, given=json.dumps(rows), timeout=SECONDS_MAX)
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    return ask


def without_slowness(text):
    """The lines of `text` without warnings about slow task descriptions."""
    return [line for line in text.splitlines() if "describing it has taken" not in line]


def linear_row(source, kept=()):
    """A submission for the layer of tests/modules/linear, and what was compiled for it before."""
    linear = ROOT / "tests/modules/linear"
    support = {name: (linear / name).read_text() for name in ("module.json", "reference.py")}
    return {"content": {"name": "submission.py", "source": source, "support": support}, "kept": dict(kept)}


@pytest.fixture(scope="session")
def hone_binary():
    """Where hone is."""
    binary = BUILD / "hone"
    if not binary.exists():
        pytest.skip(f"no hone in {BUILD}: build the preset dev, or set HONE_BUILD_DIR")
    return str(binary)


@pytest.fixture(scope="session")
def hone(hone_binary):
    """hone(…) runs the binary."""

    def run(*arguments):
        return subprocess.run(
            [hone_binary, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            env={**os.environ, "NO_COLOR": "1"},
        )

    return run


@pytest.fixture(scope="session")
def kernelbench_data():
    """TritonForge's JSON Lines of level 1."""
    found = DATA / "kernelbench/kernel_bench_triton_level_1.jsonl"
    if not found.exists():
        pytest.skip(f"no {found}")
    return found


@pytest.fixture(scope="session")
def kernelbench_levels():
    """KernelBench's levels 1 to 3 as published."""
    found = DATA / "kernelbench/kernelbench_levels_1_to_3.jsonl"
    if not found.exists():
        pytest.skip(f"no {found}")
    return found


@pytest.fixture(scope="session")
def traces_file():
    """Multi-turn traces of the KernelBench Triton pipeline."""
    found = DATA / "traces/reasoning_traces_qwen3_multiturn.json"
    if not found.exists():
        pytest.skip(f"no {found}")
    return found


@pytest.fixture(scope="module")
def gateway(python, tmp_path_factory):
    if not (BUILD / "hone").exists():
        pytest.skip(f"no hone in {BUILD}: build the preset dev, or set HONE_BUILD_DIR")
    from gateway_process import Gateway

    log = tmp_path_factory.mktemp("gateway") / "log"
    serving = Gateway(log, python)
    yield serving
    status = serving.stop()
    print(log.read_text()[-4000:])
    assert status == 0


@pytest.fixture(scope="module")
def relu(kernelbench_data):
    """A row of TritonForge's training data: the reference, as its clients send it."""
    rows = [json.loads(line) for line in kernelbench_data.read_text().splitlines()]
    return next(row["label"] for row in rows if row["extra_info"]["problem_name"] == "ReLU")


@pytest.fixture(scope="module")
def traces(traces_file):
    """By key: the module and its turns."""
    return {trace["sample_key"]: trace for trace in json.loads(traces_file.read_text())}


@pytest.fixture
def bench(gateway):
    found = pytest.importorskip("hone.kernelbench_triton")
    found.connect(gateway.url)
    return found
