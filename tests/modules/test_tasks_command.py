"""`hone tasks` for datasets of modules: listing needs no torch, and missing packages are reported."""

import json
import sys
from pathlib import Path

import pytest


def configured(plugin, path, python, more=""):
    dataset = f"datasets=[{{name: {plugin}, plugin: {plugin}, config: {{path: '{path}'{more}}}}}]"
    return ["--set", dataset, "--set", f"plugins.python={python}"]


def test_a_level_is_listed_without_torch(hone, kernelbench_data):
    options = configured("kernelbench", kernelbench_data, sys.executable)
    listed = hone("tasks", "--dataset", "kernelbench", "--level", 1, "--json", *options)
    assert listed.returncode == 0, listed.stderr
    tasks = json.loads(listed.stdout)
    assert len(tasks) == 100
    assert tasks[18] == {
        "id": "kernelbench/level1/19",
        "title": "19_ReLU",
        "split": "train",
        "tags": ["kernelbench", "level1"],
        "backends": ["cpu", "cuda"],
    }
    none = hone("tasks", "--dataset", "kernelbench", "--level", 2, *options)
    assert (none.returncode, none.stderr) == (
        2,
        "hone: found no task that is tagged level2; levels found: level1 (100)\n",
    )
    other = hone("tasks", *configured("kernelbench", kernelbench_data, sys.executable, ", level: 7"))
    assert f"{kernelbench_data}: found no problem of level7; levels found: level1 (100)\n" in other.stderr


def test_missing_thing_is_reported_with_a_remedy(hone, tmp_path):
    unknown = hone("tasks", "--dataset", "kernelbnch")
    assert unknown.stderr == "hone: unknown dataset 'kernelbnch'; valid: tasks\n"
    missing = hone("tasks", "--dataset", "kernelbench")
    assert missing.returncode == 2
    assert "is not configured; add it with the path of its data: --set 'datasets=[{name: kernelbench" in missing.stderr
    nowhere = hone("tasks", *configured("kernelbook", tmp_path / "nowhere", sys.executable))
    assert nowhere.stderr.startswith("hone: --set datasets=[{name: kernelbook, plugin: kernelbook, ")
    assert f": dataset 'kernelbook': kernelbook: open: {tmp_path}/nowhere: no such file" in nowhere.stderr


def test_unfit_module_is_left_out_with_the_reason(hone, python, tmp_path):
    head = "import torch\nclass A(torch.nn.Module): pass\n"
    sources = [head, "class B(\ndef get_inputs", head + "def get_inputs():\n    return [torch.rand(2)]\n"]
    rows = [{"python_code": source, "uuid": i} for i, source in enumerate(sources)]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    options = configured("kernelbook", tmp_path / "rows.json", python)
    listed = hone("tasks", "--json", *options)
    assert [task["id"] for task in json.loads(listed.stdout)] == ["kernelbook/1", "kernelbook/2"]
    assert " kernelbook.py: 0 is left out: it has no get_inputs()" in listed.stderr
    for task, why in (("1", "SyntaxError: '(' was never closed"), ("2", "A.forward() fails: NotImplementedError")):
        shown = hone("tasks", task, *options)
        assert shown.returncode == 2
        assert f"{task} cannot be made a task: {why}" in shown.stderr


def test_package_that_many_problems_need_is_reported_once(hone, python, tmp_path):
    body = "class A(torch.nn.Module): part = {}\ndef get_inputs():\n    return [torch.rand(2)]\n"
    heads = [
        ("import torch, no_such_library", "no_such_library.part"),
        ("import torch\nfrom no_such_library.part import a", "a"),
        ("import torch", "None"),
    ]
    rows = [
        {"code": f"{head}\n{body.format(use)}", "level": 4, "problem_id": i, "name": "x"}
        for i, (head, use) in enumerate(heads)
    ]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    options = configured("kernelbench", tmp_path / "rows.json", python)
    listed = hone("tasks", "--json", *options)
    assert len(json.loads(listed.stdout)) == 3
    lines = [line for line in listed.stderr.splitlines() if "no_such_library" in line]
    assert len(lines) == 1
    own = Path(python).absolute()
    advice = f"need the package no_such_library, which {own} does not have: {own} -m pip install no_such_library"
    assert lines[0].endswith(f"2 problems {advice} (level4/0, level4/1)")
    shown = hone("tasks", "level4/1", *options)
    assert f"level4/1 cannot be made a task: it needs{advice.removeprefix('need')}" in shown.stderr


def test_task_without_torch_names_the_command(hone, kernelbench_data, tmp_path):
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')  # without its packages
    bare.chmod(0o755)
    shown = hone("tasks", "level1/19", *configured("kernelbench", kernelbench_data, bare))
    assert shown.returncode == 2
    assert "found no torch in " in shown.stderr
    assert "scripts/setup --python makes an environment that has it" in shown.stderr


@pytest.mark.parametrize("task", ["level1/33", "level1/97"])
def test_a_task_is_shown_as_a_model_sees_it(hone, python, kernelbench_data, task):
    shown = hone("tasks", task, "--json", *configured("kernelbench", kernelbench_data, python))
    assert shown.returncode == 0, shown.stderr
    value = json.loads(shown.stdout)
    assert (value["entry"], value["languages"], value["cache"]) == ("ModelNew", ["python"], "warm")
    assert value["arguments"][-1] == "seed"
    assert "class Model(nn.Module)" in value["description"]


BASELINE_OF = """
import json, sys
sys.path.insert(0, sys.argv[1])
import kernelbench
config = {name: value.get("default") for name, value in kernelbench.Dataset.parameters.items()}
dataset = kernelbench.Dataset({**config, "path": sys.argv[2], "baseline": sys.argv[3]})
print(json.loads(dataset.get_task("level1/19")["backends"]["cuda"]["support"][0]["text"])["baseline"])
"""


def test_configuration_chooses_the_baseline_of_a_speedup(hone, python, run_beside_modules, kernelbench_data):
    plugin = Path(__file__).parents[2] / "plugins/datasets/kernelbench"
    for word in ("eager", "compile"):
        assert run_beside_modules(BASELINE_OF, plugin, kernelbench_data, word) == word + "\n"
    wrong = hone("tasks", *configured("kernelbench", kernelbench_data, python, ", baseline: fastest"))
    assert "baseline: found 'fastest', expected one of eager, compile" in wrong.stderr


def test_configuration_decides_whether_own_kernels_are_required(hone, python, kernelbench_data):
    def configured_with(word):
        return configured("kernelbench", kernelbench_data, python, f", own_kernels: {word}")

    shown = hone("tasks", "level1/19", "--json", *configured_with("required"))
    assert json.loads(shown.stdout)["own_kernels"] == "required", shown
    wrong = hone("tasks", *configured_with("always"))
    assert "own_kernels: found 'always', expected one of optional, expected, required" in wrong.stderr
