"""Inputs with structure: answers from a sample or part of an axis are wrong, and constraints of inputs hold."""

import json

HEAD = """
import ctypes, json, sys
import torch
from module_place import ARENA
from module_reference import Reference
from module_structure import FULL, MIDDLE, MILD, NONE, Structure
from module_values import on_device

torch.manual_seed(1)  # of the plain values: torch begins with a seed of chance

def put(to, values, level):
    structure = Structure(values[0])
    drawn = [(structure.levels(level), structure.random(level, to.device)) for _ in range(len(to))]
    levels, scales = on_device([[one for one, _ in drawn], [[1.0] * len(to)]], to.device)
    structure.put(to, values, level, levels, scales[0], [one for _, one in drawn])

def structured(tensor, seed, level=FULL):
    torch.manual_seed(seed)
    values = tensor.unsqueeze(0)
    made, in_place = torch.empty_like(values), values.clone()
    put(made, values, level)
    torch.manual_seed(seed)
    put(in_place, in_place, level)
    assert torch.equal(made, in_place)
    torch.manual_seed(seed)
    calls = torch.empty((5, 2, *tensor.shape), dtype=tensor.dtype)[:, 1]  # not next to each other
    put(calls, torch.stack([tensor] * 5), level)
    if level != NONE and Structure(tensor).axes and tensor.numel() > 16:
        assert all(not torch.equal(calls[0], other) for other in calls[1:])
    return made[0]
"""

PARTS = """
def apart(part, whole):
    return abs(part.double().mean() / whole.double().mean() - 1).item()

for shape in ((512, 512), (1 << 20,), (8, 16, 128, 64)):
    plain = torch.rand(shape)
    for axis in [axis for axis, extent in enumerate(shape) if extent > 64]:
        near = {"sixteenth": 0, "half": 0, "quarter": 0}
        for seed in range(20):
            x = structured(plain, seed)
            extent = x.shape[axis]
            near["sixteenth"] += apart(x.index_select(axis, torch.arange(0, extent, 16)), x) < 1e-3
            near["half"] += apart(x.narrow(axis, 0, extent // 2), x) < 1e-3
            near["quarter"] += apart(x.narrow(axis, 0, extent // 4), x) < 1e-3
        assert max(near.values()) <= 6, (shape, axis, near)
        assert apart(plain.narrow(axis, 0, shape[axis] // 2), plain) < 0.01
"""


def test_structure_parts_of_every_axis_have_other_means(run_beside_modules):
    run_beside_modules(HEAD + PARTS)


BOUNDS = """
normal, uniform = torch.randn(64, 96), torch.rand(64, 96)
for seed in range(20):
    for plain in (normal, uniform):
        x = structured(plain, seed)
        assert torch.equal(x.sign(), plain.sign()) and (x.abs() <= plain.abs()).all()
        assert torch.equal(x, structured(plain, seed)) and not torch.equal(x, structured(plain, seed + 1))
        kept = x == plain
        assert 5 <= kept.sum() <= 200, kept.sum()
        typical = x.abs().median()
        assert (x.abs() > 5 * typical).any() and (x.abs() < 1000 * typical).all()
        assert x.square().mean().sqrt() > 0.05 * plain.square().mean().sqrt()
    triangle = structured(torch.tril(normal[:, :64]), seed)
    assert torch.equal(triangle, torch.tril(triangle))
    symmetric = structured(normal[:, :64] @ normal[:, :64].T, seed)
    assert torch.allclose(symmetric, symmetric.T, rtol=1e-6)
    assert (torch.linalg.eigvalsh(symmetric.double()) > -1e-3).all()
    rising = torch.rand(8, 100).cumsum(-1)
    assert torch.equal(structured(rising, seed), rising)
for shape in ((), (1,), (2,), (1, 3), (70001,), (5, 70001)):
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        x = structured(torch.rand(shape).to(dtype), 1)
        assert x.dtype == dtype and x.isfinite().all()
assert torch.equal(structured(normal, 1, NONE), normal)
mild = structured(normal, 1, MILD) / normal
assert (mild > 0.4).all() and not (mild == 1).any()
"""


def test_structure_signs_bounds_zeros_and_symmetry_stay(run_beside_modules):
    run_beside_modules(HEAD + BOUNDS)


LEVELS = """
def reference(forward, with_parameters=False):
    source = f'''
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        if {with_parameters}:
            self.register_buffer("mean", torch.zeros(64))
    def forward(self, x):
        return {forward}
def get_inputs():
    return [torch.rand(64, 64)]
'''
    x = {"tensor": "x", "shape": [64, 64], "dtype": "f32"}
    mean = {"name": "mean", "tensor": "parameters", "at": 0, "shape": [64], "dtype": "f32", "kind": "buffer"}
    meta = {"module": "Model", "inputs": [x], "parameters": [mean] if with_parameters else []}
    meta["outputs"] = [{**x, "tensor": "out"}]
    made = Reference({"name": "reference.py", "source": source, "support": {"module.json": json.dumps(meta)}})
    made.memory = ctypes.create_string_buffer(1 << 18)
    ARENA.forget()
    ARENA.use(ctypes.addressof(made.memory), 1 << 18)
    return made, [0, *([1 << 16] if with_parameters else []), 1 << 17, 7]

def filled(forward, with_parameters=False, form="varied"):
    made, values = reference(forward, with_parameters)
    with torch.no_grad():
        made.entry(form)(values)
        made.make_waiting()
    places, _ = made.at(values)
    x, *means = (made.tensor(places, spec).clone() for spec in made.meta["inputs"] + made.meta["parameters"])
    return made, x, *means

made, x = filled("x + 1")
assert made.level == FULL and not made.trusted_double
assert torch.equal(filled("x + 1")[1], x)
made, x, mean = filled("x - self.mean", True)
assert made.level == MIDDLE and mean.abs().max() > 0.01
made, told, mean = filled("x - self.mean", True, f"varied_{MIDDLE}")
assert made.level == MIDDLE and torch.equal(told, x), "a given level makes the same inputs as a found one"
made.prepare_double()
made.run_error([0, 1 << 16, 1 << 17, 7])
assert json.loads(made.report)["structure"] == MIDDLE
# Three random numbers are often sorted, and then have no structure. Every process decides that by the same inputs.
def small(seed, form):
    made, values = reference("x + 1")
    made.meta["inputs"][0]["shape"] = made.meta["outputs"][0]["shape"] = [1, 3]
    made.module.get_inputs = lambda: [torch.rand(1, 3)]
    with torch.no_grad():
        made.entry(form)([*values[:-1], seed])
        made.make_waiting()
    return made.structures[0].axes

axes = [small(seed, form) for seed in range(20) for form in ("varied", f"varied_{FULL}")]
assert axes == axes[:1] * 40, axes

made, plain, mean = filled("x - self.mean", True, "plain_varied")
assert not mean.any() and plain.median() > 2 * x.median()
# Numbers that only such inputs lose, an exception that only they raise, and an error that only they have.
assert filled("torch.log(x.mean() / x.amax() - 0.25) + x")[0].level == MILD
assert filled("torch.log(x.mean() / x.amax() - 0.45) + x")[0].level == NONE
assert filled("torch.linalg.cholesky(torch.eye(64) * (x.mean() / x.amax() - 0.25))")[0].level == MILD
assert filled("torch.where(x.mean() / x.amax() > 0.25, x, (3e3 + x) - 3e3)")[0].level == MILD
assert filled("torch.where(x.mean() / x.amax() > 0.25, x, (1e6 + x) - 1e6)")[0].level == MILD
assert filled("torch.log(x - 2)")[0].level == FULL, "it has no numbers without, either"
"""


def test_reference_that_fails_on_structure_gets_a_lower_level(run_beside_modules):
    run_beside_modules(HEAD + LEVELS)


SHORTCUTS = """
SOURCE = '''
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("offset", torch.zeros(64))
        self.unused = torch.nn.Parameter(torch.zeros(64))
    def forward(self, x):
        return torch.clamp(x.sum(1), min=0) + x[:, :32].sum(1) + self.offset + 0 * self.unused
def get_inputs():
    return [torch.rand(64, 64)]
'''
x = {"tensor": "x", "shape": [64, 64], "dtype": "f32"}
offset = {"name": "offset", "tensor": "parameters", "at": 0, "shape": [64], "dtype": "f32", "kind": "buffer"}
unused = {**offset, "name": "unused", "at": 64, "kind": "parameter"}
meta = {"module": "Model", "inputs": [x], "parameters": [offset, unused]}
meta["outputs"] = [{"tensor": "out", "shape": [64], "dtype": "f32"}]
made = Reference({"name": "reference.py", "source": SOURCE, "support": {"module.json": json.dumps(meta)}})
memory = ctypes.create_string_buffer(1 << 18)
ARENA.use(ctypes.addressof(memory), 1 << 18)
values = [0, 1 << 16, 1 << 17, 7]
found = {}
with torch.no_grad():
    made.entry("varied")(values)
    made.make_waiting()
    places, _ = made.at(values)
    before = made.tensor(places, x).clone()
    while True:
        made.entry("shortcuts")(values)
        report = json.loads(made.report)
        if not report["answer"]:
            break
        found[report["answer"]] = report["outputs"][0][1]
        assert torch.equal(made.tensor(places, x), before), "inputs are as they were between two answers"
print(json.dumps(found))
"""


def test_shortcuts_samples_parts_and_omissions_are_reported(run_beside_modules):
    found = json.loads(run_beside_modules(HEAD + SHORTCUTS))
    for cut in ("every 16th slice", "the first half", "the first quarter", "zeros after the first half"):
        for axis in (0, 1):
            assert found[f"{cut} of axis {axis} of input 0"] > 1e-3
    assert found["without offset"] > 1e-3
    assert "without unused" not in found
    assert found["without limits such as clamp and relu"] < 1e-6, "sums of such inputs are never below zero"
    assert found["without sums and other reductions"] > 1e-3
