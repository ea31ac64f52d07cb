"""Small problems of KernelBench's kinds. Each once made hone judge an honest copy wrong.

A copy of the reference must be correct, and a submission without work must not be.
"""

import json
import os
from pathlib import Path

import pytest

KINDS = Path(__file__).parent / "kinds/level1"

# What admission reports of these problems, and why it is right to.
NARROW = {
    # One number: in one run of thirty, rounding changes it by less than the tolerance of 5e-5 in both trials.
    "level1/4": ["rounded to float16", "rounded to bfloat16"],
    # The product of the first half is 0 in float32, as that of all is.
    "level1/6": ["the first half of axis 1 of input 0", "zeros after the first half of axis 1 of input 0"],
    # The norm of three million numbers with spikes among them has an error of 2e-4 in float32. The tolerance allows
    # eight times that, and an answer that is rounded to float16 is within it.
    "level1/7": ["rounded to float16"],
}


@pytest.fixture(scope="module")
def options(python):
    dataset = f"datasets=[{{name: kernelbench, plugin: kernelbench, config: {{path: '{KINDS}'}}}}]"
    interpreters = [f"plugins.python={python}", f"cpu.python={python}"]
    return [word for setting in (dataset, *interpreters) for word in ("--set", setting)]


def identity(folder):
    """A run in which every problem's own module is submitted."""
    folder.mkdir()
    for problem in KINDS.glob("*.py"):
        number = problem.name.split("_")[0]
        source = problem.read_text() + "\n\nclass ModelNew(Model):\n    pass\n"
        (folder / f"level_1_problem_{number}_sample_0_kernel.py").write_text(source)


def test_a_copy_of_each_reference_is_correct(hone, options, tmp_path):
    identity(tmp_path / "run")
    judged = hone("eval", "kernelbench/level1", tmp_path / "run", "--json", *options)
    assert judged.returncode == 0, judged.stderr
    results = json.loads((tmp_path / "run/eval_results.json").read_text())
    assert len(results) == len(list(KINDS.glob("*.py")))
    wrong = {number: samples for number, samples in results.items() if not samples[0]["correctness"]}
    assert not wrong, wrong


def test_answers_that_take_no_work_are_wrong_for_each(hone, options):
    admitted = hone("tasks", "--admit", "--dataset", "kernelbench", "--json", *options)
    reports = {report["task"]: report for report in map(json.loads, admitted.stdout.splitlines())}
    assert len(reports) == len(list(KINDS.glob("*.py")))
    for task, report in reports.items():
        passing = [lazy["answer"] for lazy in report["lazy"] if lazy["passes"]]
        # Inputs are drawn anew, so that a narrow answer passes on some of them only.
        assert set(passing) <= set(NARROW.get(task, [])), (task, report)
        for output in report["tolerances"]:
            assert output["norm"] <= 0.1, (task, output)


def test_admission_without_an_interpreter_names_the_key(hone, options):
    ran = hone("tasks", "--admit", "level1/1", *options[:4])  # all but cpu.python
    assert ran.returncode == 1
    assert "no interpreter is configured: set cpu.python" in ran.stdout + ran.stderr


def test_a_problem_larger_than_the_machine_is_refused_with_both_numbers(hone, python, tmp_path):
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if machine > 64 << 30:
        pytest.skip("its tensors fit this machine")
    level = tmp_path / "kb/level1"
    level.mkdir(parents=True)
    (level / "1_Large.py").write_text(LARGE)
    (tmp_path / "new.py").write_text(LARGE + "\n\nclass ModelNew(Model):\n    pass\n")
    dataset = f"datasets=[{{name: kernelbench, plugin: kernelbench, config: {{path: '{tmp_path / 'kb'}'}}}}]"
    settings = [word for each in (dataset, f"plugins.python={python}") for word in ("--set", each)]
    ran = hone("eval", "kernelbench/level1/1", tmp_path / "new.py", *settings, "--set", f"cpu.python={python}")
    assert ran.returncode != 0
    assert "of memory for its tensors, the machine has" in ran.stdout + ran.stderr


LARGE = """import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.rand(65536, 65535)]


def get_init_inputs():
    return []
"""
