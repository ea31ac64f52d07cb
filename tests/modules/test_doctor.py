"""hone doctor looks at the interpreter of modules as they would find it: in a jail."""

import json
import sys


def test_an_interpreter_is_started_in_its_jail(hone, python):
    ran = hone("doctor", "--json", "--set", f"cpu.python={python}")
    (found,) = (one for one in json.loads(ran.stdout)["findings"] if one["what"] == "cpu.python")
    assert found["state"] == "ok", found
    assert found["found"].startswith("Python 3."), found
    assert ", torch 2." in found["found"], found


def test_an_interpreter_without_torch_is_said_to_be_missing(hone):
    ran = hone("doctor", "--json", "--set", f"cpu.python={sys.executable}")
    told = json.loads(ran.stdout)
    (found,) = (one for one in told["findings"] if one["what"] == "cpu.python")
    assert (ran.returncode, told["serves"], found["state"]) == (1, False, "missing")
    assert "without torch: No module named 'torch'" in found["found"]
    assert "scripts/setup --python" in found["advice"]
