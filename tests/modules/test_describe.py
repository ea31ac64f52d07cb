"""Describing modules on fake tensors: names, shapes, parameters, what cannot be described, and all of level 1."""

import json

import pytest
from hone_modules.problems import read_kernelbench, read_kernelbook

from conftest import ROOT

PLUGIN = ROOT / "plugins/datasets/kernelbench"
SECONDS_OF_ONE = 15  # about 1 on an idle machine; recurrent layers took 20 and more step by step
HEAD = "import torch\nimport torch.nn as nn\nimport random\nimport numpy as np\n"
INPUT = "def get_inputs():\n    return [torch.rand(4, 8)]\n"
LARGE = "def get_inputs():\n    return [torch.rand(1 << 25)]\n"  # 128 MB: more than is computed to describe a module


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
    "reads_values": module(
        "def forward(self, x):\n        return self.fc(x) * self.steps[1]",
        init="self.steps = [v.item() for v in torch.linspace(0, 1, 3)]; self.fc = nn.Linear(1 << 25, 2)",
        inputs=LARGE,
    ),
    "seeds_itself": module("def forward(self, x):\n        random.seed(3)\n        return x * random.random()"),
    "draws_in_torch": module("def forward(self, x):\n        return x + torch.rand_like(x)"),
}
# A forward of one operator or layer, its constructor, and its floating-point operations for an input of 4 x 8.
FLOPS = {
    "product": ("self.fc(x)", "self.fc = nn.Linear(8, 3)", 2 * 4 * 8 * 3),
    "convolution": ("self.conv(x[None, None])", "self.conv = nn.Conv2d(1, 5, 3)", 2 * 2 * 6 * 5 * 9),
    "attention": (
        "nn.functional.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None])",
        "pass",
        2 * (2 * 4 * 4 * 8),
    ),
    "elements": ("torch.relu(x)", "pass", None),
    "vector": ("self.fc(x) + torch.mv(x, x[0])[:, None]", "self.fc = nn.Linear(8, 3)", None),
    "encoder": (
        "self.fc(self.encoder(x[None]))",
        "self.fc = nn.Linear(8, 3); self.encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()",
        4800,
    ),
    "recurrent": ("self.fc(self.rnn(x)[0])", "self.rnn = nn.LSTM(8, 4); self.fc = nn.Linear(4, 2)", None),
}
UNFIT = {
    module("def forward(self, x):\n        return {'a': x}"): "forward() answers with a dict, expected tensors",
    module(PLAIN, inputs=INPUT.replace("8)", "8, device='cuda')")): "input x is made on the device 'cuda'",
    module("def forward(self, x):\n        return x.to(torch.complex64)"): "output 0 has the type complex64",
    module("def forward(self, x):\n        return x[:0]"): "output 0 has 0 elements, expected 1 to 2^32",
    module("def forward(self, x):\n        return []"): "forward() answers with no tensor",
    module("def forward(self, x):\n        return x[x > 0.5]"): "torch.Tensor.__getitem__: the output shape depends on",
    module("def forward(self, x):\n        return torch.nonzero(x > 0.5)"): (
        "Model.forward() fails: torch.nonzero: the output shape depends on values; expected outputs whose shapes follow"
    ),
    module("def forward(self, x):\n        return x.unique()", inputs=LARGE): "the output shape depends on values",
    module("def forward(self, x):\n        return x * x.sum().item()", inputs=LARGE): (
        "torch.Tensor.item: it reads a value"
    ),
    module("def forward(self, x):\n        return x * random.random()"): (
        "forward() draws from Python's random, which is not seeded for each call, so that a submission draws other"
    ),
    module("def forward(self, x):\n        return x + float(np.random.rand())"): "forward() draws from numpy.random",
    module(
        "def forward(self, x):\n        return x + self.rng.random()", init="self.rng = np.random.default_rng(0)"
    ): "forward() draws from the numpy.random.Generator rng",
    module(
        PLAIN, init="self.a = float(torch.ones(1 << 31, 8).sum())"
    ): "Model(…) fails: it takes more than 2048 MB on real",
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
    HEAD + "import no_such_library.part\n": "-m pip install no_such_library",
    HEAD + "import _no_such_helpers\n" + INPUT: "it needs the package _no_such_helpers, which",
    module(PLAIN, init="import cv2"): "-m pip install opencv-python",
    module(PLAIN, init="from_pretrained = None; raise OSError('no such weights')"): (
        "it loads pretrained files that are not on this machine, and none are downloaded: OSError: no such weights"
    ),
    HEAD + "raise SystemExit(3)\n": "its source exits: 3",
    HEAD + INPUT: "it defines no module",
    HEAD + "class A(nn.Module):\n    def __init__(self, n): pass\n" + INPUT: "none of its modules takes what",
}


@pytest.fixture(scope="module")
def fit(describe):
    answers = dict(zip(FIT, describe(list(FIT.items())), strict=True))
    assert {name: answer.get("unfit") for name, answer in answers.items()} == dict.fromkeys(FIT)
    return {name: answer["task"] for name, answer in answers.items()}


def test_operations_of_products_are_counted_and_unknown_ones_left_out(describe):
    rows = [
        (name, module(f"def forward(self, x):\n        return {forward}", init=init))
        for name, (forward, init, _) in FLOPS.items()
    ]
    found = {name: answer["task"].get("flops") for name, answer in zip(FLOPS, describe(rows), strict=True)}
    assert found == {name: flops for name, (_, _, flops) in FLOPS.items()}


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


def test_inputs_have_the_names_of_forward_unless_they_collide(fit):
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


def test_named_class_precedes_model_only_on_request(describe):
    """In rows of KernelBook a class Model precedes the named one. A gateway's request means the named class."""
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
    packed = fit["packed"]["tolerance"]
    assert packed["from_reference"]
    assert packed["rtol"] == packed["rms"] == 5e-5
    assert packed["norm"] == 1e-5
    assert set(fit["whole"]["tolerance"]) == {"from_reference", "reason"}
    assert fit["packed"]["precision"] == "conv_tf32 on, matmul_tf32 off, compute f32"


def test_the_reference_cannot_close_its_fence(fit):
    assert "\n````python\n# ```\nimport torch" in fit["fence"]["description"]
    assert fit["fence"]["description"].endswith("\n````")


def test_undescribable_module_has_a_reason(describe):
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


def in_place(forward, inputs=INPUT, init="pass"):
    return module(f"def forward(self, x, *y):\n        {forward}", inputs, init)


LISTS = "def get_inputs():\n    r = torch.rand\n    return [r(2, 3), [r(2), [r(3)]], r(4)]\n"
CHANGES = {  # forward, and the inputs that it changes
    "own": (in_place("return x.mul_(x.sigmoid())"), {"x"}),
    "layer": (in_place("return self.relu(x)", init="self.relu = nn.ReLU(inplace=True)"), {"x"}),
    "operator": (in_place("x += 1; return x * 2"), {"x"}),
    "view": (in_place("x.t()[0].zero_(); return x + 1"), {"x"}),
    "part": (in_place("x[x > 0.5] = 0; return x + 1"), {"x"}),
    "data": (in_place("x.data.mul_(2); return x + 1"), {"x"}),
    "result": (in_place("torch.add(x, 1, out=x); return x + 1"), {"x"}),
    "large": (in_place("return x.relu_()", LARGE), {"x"}),
    "computed": (in_place("return x.add_(x.sum().item())"), {"x"}),
    "lists": (in_place("y[0][1][0].add_(1); y[1].add_(1); return x + 1", LISTS), {"x2", "x3"}),
    "shape": (in_place("return x.unsqueeze_(0)"), {"x"}),
    "weights": (
        in_place("self.fc.weight.data.mul_(2); return self.fc(x)", init="self.fc = nn.Linear(8, 3)"),
        {"parameters"},
    ),
    "copy": (in_place("x = x.clone(); x += 1; return x"), set()),
    "inner": (in_place("return (x * 2).relu_()"), set()),
    "buffers": (in_place("return self.norm(x)", init="self.norm = nn.BatchNorm1d(8)"), set()),
}


def test_inputs_that_forward_changes_in_place_may_be_changed(describe):
    answers = describe([(name, source) for name, (source, _) in CHANGES.items()])
    tasks = {name: answer.get("task", answer) for name, answer in zip(CHANGES, answers, strict=True)}
    found = {name: {t["name"] for t in task["tensors"] if t.get("may_change")} for name, task in tasks.items()}
    assert found == {name: changed for name, (_, changed) in CHANGES.items()}
    assert "- `x`: f32, 4 x 8; may be changed in place, as the reference does\n" in tasks["own"]["description"]
    assert "may be changed" not in tasks["copy"]["description"]
    assert module_json(tasks["own"])["inputs"] == [{"tensor": "x", "shape": [4, 8], "dtype": "f32", "may_change": True}]
    assert shapes(tasks["shape"])["x"] == ("in", "f32", ["4", "8"])  # as forward() gets it
    parameters = module_json(tasks["weights"])["parameters"]
    assert {p["name"]: p.get("may_change", False) for p in parameters} == {"fc.weight": True, "fc.bias": False}


RECURRENT = """
import itertools, sys
sys.path.insert(0, sys.argv[1])
import torch
from hone_modules.fake_run import FakeFunctions, fake_mode

def shapes(values):
    return [shapes(v) if isinstance(v, (list, tuple)) else (v.shape, v.dtype) for v in values]

layers = [(torch.nn.GRU, {}), (torch.nn.LSTM, {}), (torch.nn.LSTM, {"proj_size": 3}),
          (torch.nn.RNN, {}), (torch.nn.RNN, {"nonlinearity": "relu"})]
flags = itertools.product((False, True), (False, True), (1, 3), (1, 6))
for (cls, more), (first, both, depth, steps) in itertools.product(layers, flags):
    layer = cls(4, 5, depth, batch_first=first, bidirectional=both, **more)
    x = torch.rand(2, steps, 4) if first else torch.rand(steps, 2, 4)
    packed = torch.nn.utils.rnn.pack_padded_sequence(torch.rand(6, 3, 4), [6, 2, 1])
    state = torch.zeros(depth * (1 + both), 3, 5)
    state = (state[..., :layer.proj_size or 5], state) if cls is torch.nn.LSTM else state
    function = torch.lstm if cls is torch.nn.LSTM else torch.gru if cls is torch.nn.GRU else torch.rnn_tanh
    settings = (layer._flat_weights, True, depth, 0.0, True, both)
    real = [layer(x), layer(x[0]), function(packed.data, packed.batch_sizes, state, *settings)]
    with fake_mode() as mode, FakeFunctions():
        made = cls(4, 5, depth, batch_first=first, bidirectional=both, **more)
        fake = mode.from_tensor
        states = tuple(map(fake, state)) if isinstance(state, tuple) else fake(state)
        data = (fake(packed.data), fake(packed.batch_sizes), states, list(map(fake, settings[0])), *settings[1:])
        got = [made(fake(x)), made(fake(x[0])), function(*data)]
    if shapes(real) != shapes(got):
        print(cls, more, first, both, depth, steps, shapes(real), shapes(got))
"""


def test_recurrent_layers_have_the_shapes_of_a_real_run(run_beside_modules):
    assert run_beside_modules(RECURRENT, PLUGIN) == ""


def test_levels_1_to_3_are_described_in_seconds_each(describe, kernelbench_levels):
    problems = read_kernelbench(str(kernelbench_levels))
    answers = dict(zip((p.id for p in problems), describe([(p.id, p.source, p.entry) for p in problems]), strict=True))
    assert len(answers) == 250
    refused = {name: answer["unfit"] for name, answer in answers.items() if "unfit" in answer}
    assert {name: why for name, why in refused.items() if "-m pip install einops" not in why} == {}
    assert set(refused) <= {"level3/48", "level3/49"}
    slow = {name: answer["seconds"] for name, answer in answers.items() if answer["seconds"] > SECONDS_OF_ONE}
    assert slow == {}
    assert shapes(answers["level3/41"]["task"])["out"] == ("out", "f32", ["512", "10", "512"])
