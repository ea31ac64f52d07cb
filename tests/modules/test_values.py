"""Changed inputs differ from the original ones, and parameters keep their distribution."""

VARIED = """
import sys
import torch
from module_values import Variation, mix_and_scale, on_device

def vary(floats):
    variation = Variation([one.shape for one in floats])
    tables = [[number] for number in variation.weights], [[number] for number in variation.scales]
    mix_and_scale([one.unsqueeze(0) for one in floats], *on_device(tables, torch.device("cpu")))

torch.manual_seed(0)
least, mixes = 1.0, []
for _ in range(200):
    first, second, other = torch.randn(4096), torch.randn(4096), torch.rand(16)
    given = [first.clone(), second.clone(), other.clone()]
    vary(given)
    alike = torch.corrcoef(torch.stack([given[0], given[1]]))[0, 1].item()
    mixes.append(alike)
    scales = [now.std() / was.std() for now, was in zip(given, (first, second, other))]
    least = min(least, max(abs(1 - scale.item()) for scale in scales))
    assert (given[2] >= 0).all() and (given[2] <= 1).all()
assert least > 0.001, least
assert sum(alike > 0.05 for alike in mixes) > 150, mixes  # the second has of the first, if by little
alone = torch.rand(4096)
for _ in range(50):
    given = alone.clone()
    vary([given])
    assert given.max() < alone.max()
"""


def test_something_is_mixed_and_something_is_scaled(run_beside_modules):
    run_beside_modules(VARIED)


PARAMETERS = """
import ctypes, json, sys
import torch
from module_reference import Reference
from module_place import ARENA

SOURCE = '''
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.linspace(-1, 1, 20).reshape(4, 5))
        self.bias = torch.nn.Parameter(torch.zeros(4))
        self.short = torch.nn.Parameter(torch.ones(8, dtype=torch.float16))
        self.register_buffer("variance", torch.full((4,), 0.01))
        self.register_buffer("mask", torch.tensor([True, False, True]))

    def forward(self, x):
        return x

def get_inputs():
    return [torch.rand(2, 2), torch.arange(4)]

def get_init_inputs():
    return []
'''
KEYS = ("name", "tensor", "at", "shape", "dtype", "kind")
PARAMETERS = [dict(zip(KEYS, values)) for values in (
    ("weight", "parameters", 0, [4, 5], "f32", "parameter"),
    ("bias", "parameters", 32, [4], "f32", "parameter"),
    ("short", "parameters_f16", 0, [8], "f16", "parameter"),
    ("variance", "parameters", 48, [4], "f32", "buffer"),
    ("mask", "parameters_u8", 0, [3], "bool", "buffer"),
)]
INPUTS = [{"tensor": "x", "shape": [2, 2], "dtype": "f32"}, {"tensor": "n", "shape": [4], "dtype": "i64"}]
meta = {"module": "Model", "inputs": INPUTS, "parameters": PARAMETERS, "outputs": [{**INPUTS[0], "tensor": "out"}]}
meta["answer"] = "tensor"
artifact = Reference({"name": "reference.py", "source": SOURCE, "support": {"module.json": json.dumps(meta)}})
memory = ctypes.create_string_buffer(1 << 16)
ARENA.use(ctypes.addressof(memory), 1 << 16)
values = [1024 * i for i in range(len(artifact.tensors))]

def made(entry, seed):
    with torch.no_grad():
        artifact.entry(entry)([*values, seed])
        artifact.make_waiting()
    places, _ = artifact.at([*values, seed])
    given = {spec["tensor"]: artifact.tensor(places, spec).clone() for spec in INPUTS}
    given.update({spec["name"]: artifact.tensor(places, spec).clone() for spec in PARAMETERS})
    return given

base = {name: value.detach() for name, value in artifact.module.Model().state_dict().items()}
for entry in ("inputs", "varied"):
    first, again, other = made(entry, 1), made(entry, 1), made(entry, 2)
    for name, value in first.items():
        assert torch.equal(value, again[name]), name
        assert value.isfinite().all(), name
        if value.is_floating_point():
            assert (value != other[name]).any(), name
    for given in (first, other):
        assert torch.equal(given["n"], torch.arange(4)) and torch.equal(given["mask"], base["mask"])
        assert ((given["variance"] > 0.0089) & (given["variance"] < 0.0111)).all(), given["variance"]
        for name in ("weight", "bias", "short"):
            apart = (given[name] - base[name]).abs().max().item()
            assert 0.001 < apart < 0.6, (name, apart)
    inside = (first["x"] >= 0) & (first["x"] < 1)
    assert inside.all()
own = made("inputs", 1)["x"]
# Several calls of a round, of which the last one lies elsewhere.
calls = [[*(value + by for value in values), 7 + number] for number, by in enumerate((0, 8192, 16384, 20480))]
kept = torch.empty(2, 2)
artifact.module.get_inputs, fresh = lambda: [kept.uniform_(), torch.arange(4)], artifact.module.get_inputs
assert artifact.most_together() == 1, "its calls share a tensor"
whole = torch.zeros(1 << 22)
artifact.module.get_inputs = lambda: [whole.clone()[:4].view(2, 2), torch.arange(4)]
assert artifact.most_together() == 3, "its inputs are parts of a large tensor"
mask = torch.ones(4)
artifact.module.get_inputs = lambda: [torch.rand(2, 2), torch.arange(4), "mean", None, 3, [mask[:0]]]
assert artifact.most_together() > 100, "other values count for nothing"
artifact.module.get_inputs = fresh
for entry in ("inputs", "varied"):
    with torch.no_grad():
        run = artifact.entry(entry)
        for call in calls:
            run(call)
        assert [len(together.places) for together in artifact.waiting] == [3, 1]
        artifact.make_waiting()
    assert artifact.waiting == []
    each = []
    for call in calls:
        places, _ = artifact.at(call)
        each.append({spec["tensor"]: artifact.tensor(places, spec).clone() for spec in INPUTS})
        weight = artifact.tensor(places, PARAMETERS[0])
        assert 0.001 < (weight - base["weight"]).abs().max() < 0.6
        each[-1]["weight"] = weight.clone()
    for name in ("x", "weight"):
        assert all(not torch.equal(one[name], other[name]) for one in each for other in each if one is not other), name
    assert all(torch.equal(one["n"], torch.arange(4)) for one in each)
# The inputs of a call follow from its own seed, whatever calls they are made with: a submission that finds the seed of
# another call knows nothing of them.
def made_with(others, entry="varied"):
    with torch.no_grad():
        run = artifact.entry(entry)
        for call in [*others, calls[1]]:
            run(call)
        artifact.make_waiting()
    places = artifact.at(calls[1])[0]
    return [artifact.tensor(places, spec).clone() for spec in (INPUTS[0], *PARAMETERS[:4])]

other = [*calls[0][:-1], 99]
for entry in ("inputs", "varied"):
    alone = made_with([], entry)
    for others in ([calls[0]], [other]):
        assert all(map(torch.equal, made_with(others, entry), alone)), entry
# Parameters do not follow from a seed that get_inputs() sets.
artifact.module.get_inputs = lambda: [torch.manual_seed(5) and torch.rand(2, 2), torch.arange(4)]
first, other = made("inputs", 1), made("inputs", 2)
assert torch.equal(first["x"], other["x"]) and not torch.equal(first["weight"], other["weight"])
torch.manual_seed(1)
assert torch.equal(own, torch.rand(2, 2)), own
"""


def test_parameters_are_near_the_constructors_and_differ_each_time(run_beside_modules):
    run_beside_modules(PARAMETERS)


OTHERS = """
import json
from module_reference import OWN, Reference
import torch

SOURCE = '''
import random
import numpy
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return x

def get_inputs():
    drawn = [numpy.random.rand(), random.random(), torch.rand(1).item()]
    return [torch.tensor(drawn, dtype=torch.float64)]

def get_init_inputs():
    return []
'''
VALUE = {"shape": [3], "dtype": "f64"}
meta = {"module": "Model", "inputs": [{**VALUE, "tensor": "x"}], "parameters": [], "answer": "tensor"}
meta["outputs"] = [{**VALUE, "tensor": "out"}]
artifact = Reference({"name": "reference.py", "source": SOURCE, "support": {"module.json": json.dumps(meta)}})
artifact.entry(OWN)
first, again, other = (artifact.answers_to_others({}, seed)[0] for seed in (8, 8, 9))
assert torch.equal(first, again), (first, again)
assert (first != other).all(), (first, other)
"""


def test_inputs_drawn_with_numpy_and_random_follow_from_the_seed(run_beside_modules):
    run_beside_modules(OTHERS)


CONSTRUCTED = """
import sys
from types import SimpleNamespace
from module_values import constructor_arguments

def of(given):
    return constructor_arguments(SimpleNamespace(get_init_inputs=lambda: given))

assert constructor_arguments(SimpleNamespace()) == ([], {})
assert of([]) == of(()) == ([], {})
assert of([1, {"a": 2}]) == ([1, {"a": 2}], {})
assert of([[1], {"a": 2}]) == ([1], {"a": 2})
assert of({"a": 2}) == ([], {"a": 2})
"""


def test_constructor_gets_the_described_arguments(run_beside_modules):
    run_beside_modules(CONSTRUCTED)
