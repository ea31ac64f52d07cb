"""`hone plan`: the device work of modules, recorded without a device.

Recording needs a torch that was built for CUDA: HONE_RECORD_PYTHON names an interpreter that has one.
"""

import json
import os
import subprocess

import pytest

from conftest import BUILD, ROOT, SECONDS_MAX

KINDS = ROOT / "tests/modules/kinds/level1"
DATASET = f"datasets=[{{name: kernelbench, plugin: kernelbench, config: {{path: '{KINDS}'}}}}]"
READS_A_VALUE = """
import torch
class ModelNew(torch.nn.Module):
    def forward(self, *given):
        if given[0].sum() > 0:
            return given[0]
        return given[0] + 1
"""
AUTOTUNED = """
import torch, triton
import triton.language as tl

@triton.autotune([triton.Config({"BLOCK": 512}, num_warps=n) for n in (2, 4, 8)], key=["count"])
@triton.jit
def scale(x, out, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < count) * 2, mask=at < count)

class ModelNew(torch.nn.Module):
    def scaled(self, given):
        out = torch.empty_like(given)
        scale[lambda meta: (triton.cdiv(given.numel(), meta["BLOCK"]),)](given, out, given.numel())
        return out

    def forward(self, given):
        return self.scaled(given), self.scaled(given)
"""


LOGS_IN_TRITON = """
import torch
import triton
import triton.language as tl
@triton.jit
def logs(x, out, ratio, count, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    value = tl.maximum(tl.load(x + at, mask=at < count), 0)
    tl.store(out + at, tl.log(value), mask=at < count)
    tl.store(ratio + at, value / value, mask=at < count)
class ModelNew(torch.nn.Module):
    def forward(self, x):
        out, ratio = torch.empty_like(x), torch.empty_like(x)
        logs[(triton.cdiv(x.numel(), 1024),)](x, out, ratio, x.numel(), block=1024)
        return out, ratio
"""


@pytest.fixture
def plan(python):
    """plan(interpreter, argument, …) runs `hone plan` with this interpreter for modules."""

    def run(interpreter, *arguments):
        settings = ("backend=cuda", f"cuda.python={interpreter}", f"plugins.python={python}", DATASET)
        words = [word for setting in settings for word in ("--set", setting)]
        command = [BUILD / "hone", "plan", *map(str, arguments), *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_MAX)

    return run


@pytest.fixture
def recording_python():
    named = os.environ.get("HONE_RECORD_PYTHON", "")
    if not named:
        pytest.skip("HONE_RECORD_PYTHON names no interpreter with a torch for CUDA")
    return named


def test_an_interpreter_whose_torch_has_no_device_gives_the_reason(plan, python):
    ran = plan(python, "kernelbench/level1/11", "--json")
    answer = json.loads(ran.stdout)
    if not answer["whole"]:
        assert "finds no device" in answer["problem"], answer
        assert ran.returncode == 1


def test_an_unknown_task_is_named(plan, python):
    ran = plan(python, "no_such_task")
    assert ran.returncode == 2
    assert "no task is called 'no_such_task'" in ran.stderr
    assert "hone tasks" in ran.stderr


def test_baselines_of_a_level_have_plans(plan, recording_python):
    ran = plan(recording_python, "kernelbench/level1", "--json")
    *plans, summary = map(json.loads, ran.stdout.splitlines())
    assert len(plans) == len(list(KINDS.glob("*.py")))
    assert summary["whole"] >= len(plans) // 2, plans


def test_a_value_that_is_read_back_is_named_with_its_line(plan, recording_python, tmp_path):
    source = tmp_path / "reads.py"
    source.write_text(READS_A_VALUE)
    answer = json.loads(plan(recording_python, "kernelbench/level1/11", source, "--json").stdout)
    assert answer == {"whole": False, "problem": "a value was read back (submission.py:5)"}


def test_a_recurrent_layer_is_one_operator(plan, recording_python):
    answer = json.loads(plan(recording_python, "kernelbench/level1/2", "--json").stdout)
    assert answer["whole"], answer
    assert [step["name"] for step in answer["run"] if step["do"] == "operator"] == ["_cudnn_rnn"]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("num_layers=2", "num_layers=2, dropout=0.5", "the dropout of gru draws random numbers"),
        ("self.gru(x, h)", "self.gru(PACK(x, [12, 12, 12]), h)", "the input of gru is a packed sequence"),
        # Torch itself does not use these results, and the recording does not know them.
        ("return self.gru(x, h)", "return x, FLAT(self.gru._flat_weights, 4, 16, 3, 24, 0, 2, False, False)", "it "),
    ],
)
def test_a_recurrent_layer_without_a_plan_has_its_reason(plan, recording_python, tmp_path, old, new, problem):
    source = tmp_path / "layer.py"
    module = (KINDS / "2_gru.py").read_text().replace("class Model(", "class ModelNew(")
    assert old in module
    names = "\nPACK = nn.utils.rnn.pack_padded_sequence\nFLAT = torch._cudnn_rnn_flatten_weight\n"
    source.write_text(module.replace(old, new) + names)
    answer = json.loads(plan(recording_python, "kernelbench/level1/2", source, "--json").stdout)
    assert not answer["whole"]
    assert answer["problem"].startswith(problem), answer


def test_a_recurrent_layer_without_its_library_is_many_steps(plan, recording_python, tmp_path):
    source = tmp_path / "plain.py"
    module = (KINDS / "2_gru.py").read_text().replace("class Model(", "class ModelNew(")
    source.write_text(module + "\ntorch.backends.cudnn.enabled = False\n")
    answer = json.loads(plan(recording_python, "kernelbench/level1/2", source, "--json").stdout)
    assert answer["whole"], answer
    names = [step.get("name", "") for step in answer["run"]]
    assert "_cudnn_rnn" not in names
    assert len(names) > 10


def test_a_saved_plan_is_read_again(plan, recording_python, tmp_path):
    saved = tmp_path / "log.plan"
    first = plan(recording_python, "kernelbench/level1/11", "--save", saved, "--json")
    again = plan(recording_python, saved, "--json")
    assert json.loads(first.stdout) == json.loads(again.stdout)
    saved.write_bytes(saved.read_bytes()[:-1])
    cut = plan(recording_python, saved)
    assert cut.returncode == 2
    assert "cut off" in cut.stderr


def test_an_autotuned_kernel_is_recorded_in_each_configuration(plan, recording_python, tmp_path):
    source = tmp_path / "tuned.py"
    source.write_text(AUTOTUNED)
    answer = json.loads(plan(recording_python, "kernelbench/level1/11", source, "--json").stdout)
    launches = [step for step in answer["run"] if step["do"] == "launch"]
    assert [step["configuration"] for step in launches] == [1, 2, 3] * 2, answer
    assert [step["tuned"] for step in launches] == [0] * 6
    assert [step["block"][0] for step in launches] == [64, 128, 256] * 2
    (kernel,) = answer["tuned"]
    assert (kernel["kernel"], len(kernel["configurations"])) == ("scale", 3)
    assert kernel["key"].startswith("count: ")
    shown = plan(recording_python, "kernelbench/level1/11", source).stdout
    assert "configuration 2 of 3" in shown
    assert "1 autotuned kernel" in shown
    assert kernel["configurations"][1] in shown


def test_a_source_that_does_not_build_has_the_reason(plan, recording_python, tmp_path):
    source = tmp_path / "broken.py"
    source.write_text("class ModelNew(torch.nn.Module:\n    pass\n")
    ran = plan(recording_python, "kernelbench/level1/11", source, "--json")
    assert ran.returncode == 1, ran.stderr
    answer = json.loads(ran.stdout)
    assert answer["problem"].startswith("the source does not build: submission.py:1"), answer
    assert answer["problem"] == answer["problem"].strip()


def test_arguments_that_do_not_fit_are_named(plan, python, tmp_path):
    source = tmp_path / "missing.py"
    for arguments, message in (
        (("kernelbench/level1/11", source), "missing.py: no such file"),
        (("a.plan", source), "a.plan: a saved plan takes no FILE"),
        (("kernelbench/level1/11", "a.plan"), "a.plan: expected a source, found a saved plan"),
        (("kernelbench/level1", "--save", "a.plan"), "found the level kernelbench/level1"),
    ):
        ran = plan(python, *arguments)
        assert ran.returncode in (2, 3), arguments
        assert message in ran.stderr, ran.stderr
        assert "hone tasks" not in ran.stderr


def test_machine_code_of_a_submission_names_its_lines(plan, recording_python, tmp_path):
    source = tmp_path / "logs.py"
    source.write_text(LOGS_IN_TRITON)
    answer = json.loads(plan(recording_python, "kernelbench/level1/11", source, "--sass", "--json").stdout)
    (kernel,) = answer["sass"]
    assert kernel["kernel"] == "logs"
    assert kernel["problem"] == ""
    assert kernel["opcodes"]["STG"] >= 2
    assert "// submission.py:9\n" in kernel["text"]
