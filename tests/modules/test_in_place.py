"""References that change their inputs in place, from source to verdict."""

import pytest

from conftest import ROOT

HEAD = "import torch\nimport torch.nn as nn\n"
TAIL = "def get_inputs():\n    return [torch.randn(8, 16)]\ndef get_init_inputs():\n    return []\n"
BODIES = {  # forward of the reference
    "layer": "return self.relu(x) + 1",
    "view": "x[:, 3:].t().mul_(2); return x.sum(1)",
    "weights": "self.fc.weight.data.clamp_(-0.1, 0.1); return self.fc(x)",
    "plain": "return torch.relu(x) + 1",
}


def module(name, body):
    return (
        f"{HEAD}class {name}(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.relu = nn.ReLU(inplace=True)\n        self.fc = nn.Linear(16, 4)\n"
        f"    def forward(self, x):\n        {body}\n"
    )


@pytest.fixture
def outcome(gateway):
    """outcome(task, body) gives the outcome and reason of a submission with this forward()."""

    def judge(task, body):
        status, reply = gateway.judge(module("Model", BODIES[task]) + TAIL, module("ModelNew", body))
        assert status == 200, reply
        return reply["metadata"]["outcome"], reply["metadata"].get("correctness_issue", "")

    return judge


@pytest.mark.parametrize("task", BODIES)
def test_a_reference_submitted_as_itself_is_correct(outcome, task):
    assert outcome(task, BODIES[task])[0] == "correct"


def test_a_submission_may_change_only_what_the_reference_changes(outcome):
    assert outcome("layer", BODIES["plain"])[0] == "correct"
    also_weights = "y = self.relu(x) + 1; self.fc.weight.data.mul_(2); return y"
    for task, body, changed in (("plain", BODIES["layer"], "x"), ("layer", also_weights, "parameters")):
        found, reason = outcome(task, body)
        assert (found, reason.split(" (")[0]) == ("wrong", f"changed the input tensor {changed}")


IN_PLACE = """
import ctypes, json, sys
from module_place import ARENA
from module_reference import ERROR, EXACT, OWN, REFERENCE, Reference
import torch

folder = sys.argv[1]
support = {name: open(f"{folder}/{name}").read() for name in ("module.json", "reference.py")}
artifact = Reference({"name": "reference.py", "source": support["reference.py"], "support": support})
memory = (ctypes.c_char * 8192)()
ARENA.use(ctypes.addressof(memory), len(memory))
ARENA.bytes.view(torch.float32)[: 8 * 16 + 16 * 17].uniform_(-1, 1)
given = bytes(memory[:1600])
for form in (REFERENCE, OWN, EXACT, ERROR):
    with torch.no_grad():
        for _ in range(2):
            artifact.entry(form)([0, 512, 4096, 7])
    print(form, bytes(memory[:1600]) == given)
"""


def test_no_form_of_a_reference_that_works_in_place_changes_the_judges_inputs(run_beside_modules):
    assert run_beside_modules(IN_PLACE, ROOT / "tests/modules/in_place") == (
        "reference True\nown True\nexact True\nerror True\n"
    )
