"""`hone plan --sass`: real kernels of Triton and the nvdisasm of its package.

triton_plan.py records the kernels without torch.
"""

import json
import os
import re
import subprocess

import pytest

from conftest import BUILD, ROOT, SECONDS_MAX

LIBRARIES = BUILD / "libexec/record"
ELF = b"\x7fELF\x02"


@pytest.fixture(scope="module")
def triton_plan(interpreter, python, tmp_path_factory):
    """The bytes of a plan: two launches of `add`, one of `matmul`."""
    asked = "import triton; print(triton.__version__)"
    ran = interpreter.run("-c", asked, timeout=SECONDS_MAX)
    if [int(part) for part in ran.stdout.split(".")[:2] if part.isdigit()] < [3, 9]:
        pytest.skip(f"Triton {ran.stdout.strip() or 'missing'}; 3.9 or newer runs without torch")
    folder = tmp_path_factory.mktemp("triton")
    variables = {
        "LD_LIBRARY_PATH": str(LIBRARIES),
        "LD_PRELOAD": str(LIBRARIES / "libcudart.so.13"),
        "TRITON_LIBCUDA_PATH": str(LIBRARIES),
        "TRITON_CACHE_DIR": str(folder / "cache"),
    }
    command = [python, "-B", ROOT / "tests/record/triton_plan.py", folder / "made.plan"]
    made = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, timeout=SECONDS_MAX)
    assert made.stdout == "problem: \n", made.stderr
    return (folder / "made.plan").read_bytes()


@pytest.fixture
def sass(hone, python, tmp_path):
    """sass(plan, option, …) runs `hone plan --sass` on the bytes of a plan."""

    def run(plan, *options):
        file = tmp_path / "saved.plan"
        file.write_bytes(plan)
        return hone("plan", file, "--sass", *options, "--set", "backend=cuda", "--set", f"cuda.python={python}")

    return run


def test_kernels_have_their_facts_and_instructions(sass, triton_plan):
    ran = sass(triton_plan, "--json")
    assert ran.returncode == 0, ran.stderr
    add, matmul = json.loads(ran.stdout)["sass"]
    assert (add["kernel"], matmul["kernel"]) == ("add", "matmul")
    for kernel in (add, matmul):
        assert kernel["problem"] == ""
        assert 8 <= kernel["registers"] <= 255
        assert kernel["shared_bytes"] == 0, "Triton's shared memory is dynamic"
        assert kernel["instructions"] == sum(kernel["opcodes"].values())
        lines = [line for line in kernel["text"].splitlines() if line.startswith(" ")]
        assert len(lines) == kernel["instructions"]
        assert re.search(r" // triton_plan\.py:\d+$", kernel["text"], re.MULTILINE)
    assert add["opcodes"]["LDG"] >= 2
    assert add["opcodes"]["STG"] >= 1
    assert matmul["opcodes"]["HGMMA"] >= 1
    assert matmul["opcodes"]["BAR"] >= 1


def test_branch_targets_have_labels(sass, triton_plan):
    ran = sass(triton_plan)
    assert ran.returncode == 0, ran.stderr
    targets = set(re.findall(r"BRA (\.\S+)", ran.stdout))
    labels = re.findall(r"^(\.\S+):$", ran.stdout, re.MULTILINE)
    assert targets
    assert targets <= set(labels)


def test_a_damaged_image_is_named_and_spoils_no_other(sass, triton_plan):
    for damaged in (
        triton_plan.replace(ELF, b"text\x02", 1),
        triton_plan.replace(b"\0.text.add\0", b"\0.text.a;\n\0", 1),
    ):
        assert damaged != triton_plan
        ran = sass(damaged, "--json")
        assert ran.returncode == 1, ran.stderr
        add, matmul = json.loads(ran.stdout)["sass"]
        assert add["problem"]
        assert add["text"] == ""
        assert matmul["problem"] == ""
        assert matmul["opcodes"]["HGMMA"] >= 1
