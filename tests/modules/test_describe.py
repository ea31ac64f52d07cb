"""Describing modules on fake tensors: names, shapes, parameters, what cannot be described, and all of level 1."""

import json

import pytest
from hone_modules.problems import read_kernelbench, read_kernelbook

HEAD = "import torch\nimport torch.nn as nn\nimport random\n"
INPUT = "def get_inputs():\n    return [torch.rand(4, 8)]\n"


def module(forward, inputs=INPUT, init="pass", name="Model", extra=""):
    """A source with one module."""
    return (
        f"{HEAD}class {name}(nn.Module):\n    def __init__(self, *args, **kwargs):\n        super().__init__()\n"
        f"        {init}\n    {forward}\n{inputs}{extra}"
    )


PLAIN = "def forward(self, x):\n        return x * 2"
FIT = {
    "packed": module(
        "def forward(self, x):\n        return self.fc(x), (self.fc(x) > 0, x.sum())",
        init="self.fc = nn.Linear(8, 3); self.norm = nn.BatchNorm1d(3); self.m = nn.Buffer(torch.ones(2).bool())",
    ),
    "names": module(
        "def forward(self, out, seed, parameters_x, weights, flag=None):\n        return out",
        inputs="def get_inputs():\n    r = torch.rand\n    return [r(2), r(()), r(3), [r(1), [2.5]], None]\n",
    ),
    "both_forms": module(PLAIN, extra="def get_init_inputs():\n    return [[1], {'a': 2}]\n"),
    "huge": module(PLAIN, inputs="def get_inputs():\n    return [torch.rand(40000, 40000)]\n"),
    "own_name": module(PLAIN, name="Actor") + "class Helper(nn.Module):\n    def __init__(self, a, b):\n        pass\n",
    "by_value": module("def forward(self, x):\n        return x * 2 if x.sum() > -1 else x[0]"),
    "half": module("def forward(self, x):\n        return x.bfloat16(), x.half(), x"),
    "whole": module("def forward(self, x):\n        return x.argmax()"),
    "fence": "# ```\n" + module(PLAIN),
}
UNFIT = {
    module("def forward(self, x):\n        return {'a': x}"): "forward() answers with a dict, expected tensors",
    module(PLAIN, inputs=INPUT.replace("8)", "8, device='cuda')")): "input x is made on the device 'cuda'",
    module("def forward(self, x):\n        return x.to(torch.complex64)"): "output 0 has the type complex64",
    module("def forward(self, x):\n        return x[:0]"): "output 0 has 0 elements, expected 1 to 2^32",
    module("def forward(self, x):\n        return []"): "forward() answers with no tensor",
    module("def forward(self, x):\n        return x[x > 0.5]"): "drawn at random",
    module("def forward(self, x):\n        return x + 'a'"): "Model.forward() fails: TypeError",
    module(PLAIN, init="raise ValueError('no')"): "Model(…) fails: ValueError: no",
    module(PLAIN, inputs=""): "it has no get_inputs()",
    module(PLAIN, inputs="def get_inputs():\n    return 3\n"): "get_inputs() gives a int, expected a list",
    module(
        PLAIN.replace("x)", "x, y)"), inputs="def get_inputs():\n    return [torch.rand(2), random.random()]\n"
    ): "drawn at random",
    module(PLAIN, inputs="def get_inputs():\n    return [torch.rand(random.randint(1, 999))]\n"): "drawn at random",
    module(
        "def forward(self, *x):\n        return x[0]", inputs="def get_inputs():\n    return [torch.rand(2)] * 20\n"
    ): "it has 21 tensors, and with its seed at most 16 arguments are possible",
    module(PLAIN, extra="def get_init_inputs():\n    return 1 / 0\n"): "get_init_inputs() fails: ZeroDivisionError",
    HEAD + "import no_such_library\n": "its source does not run: ModuleNotFoundError",
    HEAD + "raise SystemExit(3)\n": "its source exits: 3",
    HEAD + INPUT: "it defines no module",
    HEAD + "class A(nn.Module):\n    def __init__(self, n): pass\n" + INPUT: "none of its modules takes what",
}


@pytest.fixture(scope="module")
def fit(describe):
    answers = dict(zip(FIT, describe(list(FIT.items())), strict=True))
    assert {name: answer.get("unfit") for name, answer in answers.items()} == dict.fromkeys(FIT)
    return {name: answer["task"] for name, answer in answers.items()}


def module_json(task):
    support = {file["name"]: file["text"] for file in task["backends"]["cpu"]["support"]}
    assert support["reference.py"] == task["backends"]["cpu"]["reference"]["text"]
    return json.loads(support["module.json"])


def shapes(task):
    return {t["name"]: (t["role"], t["dtype"], t["shape"]) for t in task["tensors"]}


def test_parameters_and_buffers_are_packed_by_type_at_multiples_of_16(fit):
    task, about = fit["packed"], module_json(fit["packed"])
    assert [(p["name"], p["tensor"], p["at"], p["shape"], p["dtype"], p["kind"]) for p in about["parameters"]] == [
        ("m", "parameters_u8", 0, [2], "bool", "buffer"),
        ("fc.weight", "parameters", 0, [3, 8], "f32", "parameter"),
        ("fc.bias", "parameters", 32, [3], "f32", "parameter"),
        ("norm.weight", "parameters", 48, [3], "f32", "parameter"),
        ("norm.bias", "parameters", 64, [3], "f32", "parameter"),
        ("norm.running_mean", "parameters", 80, [3], "f32", "buffer"),
        ("norm.running_var", "parameters", 96, [3], "f32", "buffer"),
        ("norm.num_batches_tracked", "parameters_i64", 0, [], "i64", "buffer"),
    ]
    assert shapes(task) == {
        "x": ("in", "f32", ["4", "8"]),
        "parameters": ("in", "f32", ["99"]),
        "parameters_u8": ("in", "u8", ["2"]),
        "parameters_i64": ("in", "i64", ["1"]),
        "out0": ("out", "f32", ["4", "3"]),
        "out1": ("out", "u8", ["4", "3"]),
        "out2": ("out", "f32", ["1"]),
    }
    assert task["arguments"] == [*(t["name"] for t in task["tensors"]), "seed"]
    assert [(o["dtype"], o["shape"]) for o in about["outputs"]] == [("f32", [4, 3]), ("bool", [4, 3]), ("f32", [])]
    assert "- `fc.weight`: f32, 3 x 8\n" in task["description"]


def test_inputs_are_named_as_forward_names_them_where_nothing_else_is_called_so(fit):
    about = module_json(fit["names"])
    assert about["inputs"] == [
        {"tensor": "x0", "shape": [2], "dtype": "f32"},
        {"tensor": "x1", "shape": [], "dtype": "f32"},
        {"tensor": "x2", "shape": [3], "dtype": "f32"},
        {"list": [{"tensor": "weights0", "shape": [1], "dtype": "f32"}, {"list": [{"value": 2.5}]}]},
        {"value": None},
    ]
    assert fit["names"]["tensors"][1]["shape"] == ["1"]


def test_nothing_is_computed_and_no_memory_taken_for_large_inputs(fit):
    assert shapes(fit["huge"])["x"] == ("in", "f32", ["40000", "40000"])


def test_the_module_is_found_by_name_or_as_the_last_that_fits(fit):
    assert module_json(fit["own_name"])["module"] == "Actor"
    assert fit["own_name"]["backends"]["cpu"]["baseline"]["text"].endswith("\n\nModelNew = Actor\n")
    assert module_json(fit["both_forms"])["module"] == "Model"


TWO = module(PLAIN) + module("def forward(self, x):\n        return x.sum()", name="Sum")


def test_a_named_class_is_taken_before_model_only_where_it_is_asked_for(describe):
    """KernelBook's rows name a class beside which a Model counts; who names one to a gateway means that one."""
    rows = [("loose", TWO, "Sum"), ("exact", TWO, "Sum", True), ("none", TWO, "Sun", True), ("other", TWO, "Sun")]
    loose, exact, none, other = describe(rows)
    assert module_json(loose["task"])["module"] == "Model"
    assert module_json(exact["task"])["module"] == "Sum"
    assert exact["task"]["backends"]["cpu"]["baseline"]["text"].endswith("\n\nModelNew = Sum\n")
    assert none["unfit"].endswith("it defines no module called 'Sun', found Model, Sum")
    assert module_json(other["task"])["module"] == "Model"


def test_small_modules_that_look_at_values_are_computed(fit):
    assert shapes(fit["by_value"])["out"] == ("out", "f32", ["4", "8"])


def test_the_tolerance_is_that_of_the_loosest_output(fit):
    assert fit["half"]["tolerance"]["rtol"] == 4e-2
    assert fit["packed"]["tolerance"]["rtol"] == fit["packed"]["tolerance"]["rms"] == 2e-3
    assert set(fit["whole"]["tolerance"]) == {"reason"}


def test_the_reference_cannot_close_its_fence(fit):
    assert "\n````python\n# ```\nimport torch" in fit["fence"]["description"]
    assert fit["fence"]["description"].endswith("\n````")


def test_what_cannot_be_described_says_why(describe):
    answers = describe([(str(i), source) for i, source in enumerate(UNFIT)])
    found = [answer.get("unfit", "(a task)") for answer in answers]
    assert [(why in said, said) for why, said in zip(UNFIT.values(), found, strict=True)] == [
        (True, said) for said in found
    ]


def test_all_of_level_1_is_described_in_seconds(describe, kernelbench_data):
    problems = read_kernelbench(str(kernelbench_data))
    answers = describe([(p.id, p.source, p.entry) for p in problems])
    assert [answer.get("unfit") for answer in answers] == [None] * 100
    tasks = {answer["task"]["id"]: answer["task"] for answer in answers}
    assert shapes(tasks["level1/19"]) == {"x": ("in", "f32", ["16", "16384"]), "out": ("out", "f32", ["16", "16384"])}
    assert shapes(tasks["level1/51"])["out"] == ("out", "i64", ["16", "256"])
    assert shapes(tasks["level1/93"])["mask"][1] == "u8"
    assert all(len(task["arguments"]) <= 16 for task in tasks.values())


def test_the_modules_of_the_traces_are_described(describe, traces_file):
    problems = read_kernelbook(str(traces_file))
    answers = describe([(p.id, p.source, p.entry) for p in problems])
    assert {p.id: a.get("unfit") for p, a in zip(problems, answers, strict=True)} == dict.fromkeys(
        p.id for p in problems
    )
