"""Problems of other projects in their published formats: own samples, read and described."""

import importlib
import json

import pytest
from hone_modules.problems import Mistake, read_kernelbook

MODULE = """import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return torch.relu(self.linear(x))

def get_inputs():
    return [torch.rand(4, 8)]

def get_init_inputs():
    return [8]
"""
DEFAULTS = {"split": "train", "own_kernels": "optional", "baseline": "eager", "precision": {}, "memory_mb": 2048}
DEFAULTS |= {"describe_seconds": 50, "slowdown_max": 300.0}
TASK = """# name: scale
files:
  - {"name": "submission.py", "source": "@SUBMISSION@"}
lang: "py"
description: |
  Multiply by a number.
  - {"not": "a case"}

tests:
  - {"size": 4, "seed": 1}
benchmarks:
  # the large ones
  - {"size": 16, "seed": 31232}
  - {size: 32, seed: 5, half: true}
test_timeout: 180
"""
REFERENCE = """from utils import make_match_reference
from task import input_t, output_t
import torch

def generate_input(size: int, seed: int, half: bool = False) -> input_t:
    generator = torch.Generator(device='cuda')
    generator.manual_seed(seed)
    kind = torch.float16 if half else torch.float32
    a = torch.randn(size, size, device="cuda", dtype=kind, generator=generator)
    return (a, torch.empty_like(a))

def ref_kernel(data: input_t) -> output_t:
    a, out = data
    return a * 2

check_implementation = make_match_reference(ref_kernel)
"""
DEFINITION = {
    "name": "norm_h8",
    "op_type": "rmsnorm",
    "axes": {"batch": {"type": "var"}, "hidden": {"type": "const", "value": 8}},
    "inputs": {
        "x": {"shape": ["batch", "hidden"], "dtype": "float32"},
        "weight": {"shape": ["hidden"], "dtype": "float32"},
        "eps": {"shape": None, "dtype": "float32"},
    },
    "outputs": {"y": {"shape": ["batch", "hidden"], "dtype": "float32"}},
    "reference": "import torch\n\n@torch.no_grad()\ndef run(x, weight, eps):\n"
    "    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight\n",
}
WORKLOAD = {"axes": {"batch": 6}, "inputs": {"x": {"type": "random"}, "eps": {"type": "scalar", "value": 1e-6}}}


@pytest.fixture(autouse=True)
def _plugins_of_this_tree(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)  # no warnings about packages


def dataset(plugin, path, **config):
    cls = importlib.import_module(plugin).Dataset
    known = {name: spec["default"] for name, spec in cls.parameters.items() if "default" in spec}
    return cls({**known, "path": str(path), **config})


def described(describe, opened):
    """The tasks of all its problems, as hone has them."""
    answers = describe([(p.id, p.source, p.entry) for p in opened.problems.values()])
    assert [answer.get("unfit") for answer in answers] == [None] * len(opened.problems)
    return {problem: answer["task"] for problem, answer in zip(opened.problems, answers, strict=True)}


def test_modules_in_folders_are_named_by_their_paths(tmp_path, describe):
    for name in ("reference/activation/relu", "reference/arch/mlp", "tasks/linear/func_forward"):
        file = tmp_path / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(MODULE.replace("def forward(self, x)", "def forward(self, x, fn=None)"))
    (tmp_path / "tasks/linear/func_backward.py").write_text("def backward_fn(grad): return grad\n")
    (tmp_path / "reference/__init__.py").write_text("")
    multi = dataset("modules", tmp_path / "reference")
    assert [(p.id, p.title, p.tags) for p in multi.problems.values()] == [
        ("activation/relu", "relu", ("activation",)),
        ("arch/mlp", "mlp", ("arch",)),
    ]
    robust = dataset("modules", tmp_path / "tasks")
    assert [(p.id, p.title) for p in robust.problems.values()] == [("linear/func_forward", "linear")]
    below = dataset("modules", tmp_path, below="reference/arch/")
    assert list(below.problems) == ["reference/arch/mlp"]
    described(describe, multi)
    with pytest.raises(Mistake, match="found no file with a class and get_inputs"):
        dataset("modules", tmp_path / "reference", below="loss/")


def test_the_archive_of_the_ai_cuda_engineer_has_each_task_once(tmp_path, describe):
    row = {"Op_Name": "1_Linear Relu", "Level_ID": 1, "Task_ID": 3, "PyTorch_Code_Module": MODULE, "CUDA_Code": "…"}
    rows = [row, {**row, "Kernel_Name": "v2"}, {**row, "Level_ID": "level_2", "Task_ID": "7"}]
    (tmp_path / "level_1.jsonl").write_text("\n".join(map(json.dumps, rows)))
    archive = dataset("ai_cuda_engineer", tmp_path)
    assert [(p.id, p.tags) for p in archive.problems.values()] == [
        ("level1/3", ("kernelbench", "level1")),
        ("level2/7", ("kernelbench", "level2")),
    ]
    described(describe, archive)
    (tmp_path / "level_1.jsonl").write_text(json.dumps({**row, "Task_ID": None}))
    with pytest.raises(Mistake, match=r"level_1.jsonl:1: Task_ID: found None, expected a number"):
        dataset("ai_cuda_engineer", tmp_path)


def test_dr_kernels_rows_are_read_by_kernelbook(tmp_path, describe):
    row = {
        "data_source": "cuda_llm",
        "prompt": [{"role": "user", "content": "…"}],
        "reward_model": {"ground_truth": MODULE, "style": "rule"},
        "extra_info": {"uuid": 632, "entry_point": "Model"},
    }
    (tmp_path / "train.jsonl").write_text(json.dumps(row) + "\n" + json.dumps({**row, "extra_info": {}}))
    found = read_kernelbook(str(tmp_path / "train.jsonl"))
    assert [(p.id, p.source) for p in found] == [("1", MODULE), ("632", MODULE)]
    described(describe, dataset("kernelbook", tmp_path / "train.jsonl"))


@pytest.mark.parametrize(("config", "size"), [({}, 16), ({"cases": "tests"}, 4), ({"case": 9}, 32)])
def test_a_problem_of_gpu_mode_is_one_module(tmp_path, describe, config, size):
    folder = tmp_path / "pmpp/scale_py"
    folder.mkdir(parents=True)
    (folder / "task.yml").write_text(TASK)
    (folder / "task.py").write_text("from typing import TypeVar\ninput_t = TypeVar('input_t')\noutput_t = input_t\n")
    (folder / "reference.py").write_text(REFERENCE)
    (folder.parent / "utils.py").write_text("def make_match_reference(ref):\n    return lambda data, out: (True, '')\n")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/task.yml").write_text("tests: []\n")
    (tmp_path / "broken/reference.py").write_text("")
    problems = dataset("gpumode", tmp_path, **config)
    assert list(problems.problems) == ["pmpp/scale_py"]
    task = described(describe, problems)["pmpp/scale_py"]
    assert f"{size} x {size}" in json.dumps(task)
    assert list(dataset("gpumode", folder, **config).problems) == ["scale_py"]


def test_a_limit_below_the_baselines_time_is_refused(tmp_path):
    with pytest.raises(Mistake, match=r"slowdown_max: found 1.5, expected 0 or at least 2"):
        importlib.import_module("references").Dataset({"path": str(tmp_path), **DEFAULTS, "slowdown_max": 1.5})


def test_a_mistake_in_a_task_yml_is_left_out_with_its_place(tmp_path, capsys):
    for name, cases in (("a", "  - {size: }\n"), ("b", "")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "task.yml").write_text(f"benchmarks:\n{cases}")
        (tmp_path / name / "reference.py").write_text(REFERENCE)
    with pytest.raises(Mistake, match="found no problem"):
        dataset("gpumode", tmp_path)
    said = capsys.readouterr().out
    for words in (
        "a is left out: ",
        "task.yml: benchmarks: {size: }",
        "b is left out: ",
        "found no benchmarks, expected",
    ):
        assert words in said


def test_a_definition_of_flashinfer_bench_has_its_first_workloads_sizes(tmp_path, describe, capsys):
    (tmp_path / "definitions/rmsnorm").mkdir(parents=True)
    (tmp_path / "workloads/rmsnorm").mkdir(parents=True)
    (tmp_path / "definitions/rmsnorm/norm_h8.json").write_text(json.dumps(DEFINITION))
    paged = {**DEFINITION, "name": "paged", "inputs": {"indices": {"shape": ["batch"], "dtype": "int32"}}}
    (tmp_path / "definitions/rmsnorm/paged.json").write_text(json.dumps(paged))
    row = {"definition": "norm_h8", "workload": WORKLOAD}
    (tmp_path / "workloads/rmsnorm/norm_h8.jsonl").write_text(json.dumps(row) + "\n")
    bench = dataset("flashinfer", tmp_path)
    assert [(p.id, p.tags) for p in bench.problems.values()] == [("norm_h8", ("flashinfer", "rmsnorm"))]
    assert "input indices is of int32: its values mean something" in capsys.readouterr().out
    assert "6 x 8" in json.dumps(described(describe, bench))
    assert "randn([3, 8])" in dataset("flashinfer", tmp_path, axes={"batch": 3}).problems["norm_h8"].source
