"""Runs every Python example of the documents and of the package's docstrings."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import textwrap

import pytest

from conftest import ROOT

# Blocks with a name have tests of their own.
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:^(?: {4}.*)?\n)+", re.MULTILINE)
FOUND = ["README.md", "clients/python/README.md", *(str(p.relative_to(ROOT)) for p in (ROOT / "docs").rglob("*.md"))]
DOCUMENTS = sorted(name for name in FOUND if BLOCK.search((ROOT / name).read_text()))
MODULES = ["hone", "hone.aio", "hone.gym", "hone.gym_vector", "hone.pool", "hone.vector"]

# What examples take from their reader, and a runner for those that await.
PRELUDE = f"""
import asyncio, ast, inspect, types
import hone
source = open({str(ROOT / "envs/kernel_refine/tasks/add_relu/golden/demo_1_wrong.cpp")!r}).read()
policy = lambda observation: source
my_model = lambda observation: f"It adds.\\n\\n```cpp\\n{{source}}\\n```\\n"
"""
RUNNER = """
code = compile(example, "example", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
done = types.FunctionType(code, globals())()
if inspect.isawaitable(done):
    asyncio.run(done)
"""


def run(example: str, endpoint: str) -> str:
    example = example.replace('"tcp://127.0.0.1:5917"', repr(endpoint)).replace("connect()", f"connect({endpoint!r})")
    for make in ("gymnasium.make(", "gymnasium.make_vec("):
        example = example.replace(make, f"{make}endpoint={endpoint!r}, id=")
    program = f"{PRELUDE}\nexample = {example!r}\n{RUNNER}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, f"{example}\n{done.stderr}"
    return done.stdout


def test_readme_is_among_the_documents() -> None:
    assert {"README.md", "clients/python/README.md"} <= set(DOCUMENTS)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_document(document: str, endpoint: str) -> None:
    printed = run("\n".join(BLOCK.findall((ROOT / document).read_text())), endpoint)
    if document.endswith("README.md"):
        assert re.search(r"^0\.1 .*wrong", printed, re.MULTILINE), printed


@pytest.mark.parametrize("module", MODULES)
def test_docstring(module: str, endpoint: str) -> None:
    text = importlib.import_module(module).__doc__ or ""
    example = max(INDENTED.findall(text), key=len, default="")
    assert "hone" in example, f"{module} has no indented example"
    run(f"import {module}\n" + textwrap.dedent(example), endpoint)


@pytest.mark.parametrize("name", ["gymnasium", "numpy"])
def test_hone_gym_without_gymnasium_names_the_command_to_install_it(name: str) -> None:
    program = f"import sys; sys.modules[{name!r}] = None\nimport hone.gym"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    said = f"ModuleNotFoundError: hone.gym needs {name}, which is not installed: pip install 'hone-rl[gym]'"
    assert said in done.stderr
