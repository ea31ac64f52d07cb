"""hone doctor checks the interpreter of modules in a sandbox, where modules run."""

import json
import sys
from pathlib import Path

from module_folders import MODULE

HERE = Path(__file__).parent


def test_an_interpreter_is_started_in_its_jail(hone, python):
    ran = hone("doctor", "--json", "--set", f"cpu.python={python}")
    (found,) = (one for one in json.loads(ran.stdout)["findings"] if one["what"] == "cpu.python")
    assert found["state"] == "ok", found
    assert found["found"].startswith("Python 3."), found
    assert ", torch 2." in found["found"], found


ON_A_DEVICE = """
import runpy, sys
import torch
torch.cuda.is_available, torch.cuda.get_device_name = lambda: True, lambda index: "A Device"
script, sys.argv = sys.argv[1] + "/shared/describe_interpreter.py", ["describe_interpreter.py", "device"]
runpy.run_path(script, run_name="__main__")
"""


def test_doctor_on_a_device_looks_for_its_compiler(run_beside_modules, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = run_beside_modules(ON_A_DEVICE, MODULE)
    assert ", A Device, " in words
    assert ", nvcc in /" in words or ", no nvcc (load_inline of CUDA needs it)" in words


def dataset_of(hone, path, interpreter):
    """What is said of a level's dataset."""
    dataset = json.dumps({"path": str(path)})
    given = f"datasets=[{{name: level, plugin: kernelbench, config: {dataset}}}]"
    ran = hone("doctor", "--json", "--set", given, "--set", f"plugins.python={interpreter}")
    told = json.loads(ran.stdout)
    (found,) = (one for one in told["findings"] if one["what"].startswith("dataset"))
    assert (ran.returncode, told["serves"]) == ((0, True) if found["state"] == "ok" else (1, False)), told
    return found["state"], found["found"]


def test_datasets_are_opened_and_a_task_described(hone, python, tmp_path):
    level = tmp_path / "level1"
    level.mkdir()
    (level / "1_Linear.py").write_text((HERE / "linear/reference.py").read_text())
    state, found = dataset_of(hone, tmp_path, python)
    assert (state, found.split(";")[0]) == ("ok", "1 task")
    state, found = dataset_of(hone, tmp_path, sys.executable)
    assert state == "missing"
    assert "the first tasks are not supported: " in found
    assert f"found no torch in {sys.executable}" in found
    state, found = dataset_of(hone, tmp_path / "nosuch", python)
    assert state == "missing"
    assert f"{tmp_path}/nosuch: no such file or folder" in found


def test_interpreter_without_torch_is_reported_as_missing(hone):
    ran = hone("doctor", "--json", "--set", f"cpu.python={sys.executable}")
    told = json.loads(ran.stdout)
    (found,) = (one for one in told["findings"] if one["what"] == "cpu.python")
    assert (ran.returncode, told["serves"], found["state"]) == (1, False, "missing")
    assert "without torch: No module named 'torch'" in found["found"]
    assert "scripts/setup --python" in found["advice"]
