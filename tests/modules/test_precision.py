"""Tests of the error that a reference reports, and of its report on cheaper answers."""

import json
from pathlib import Path

from conftest import without_slowness

HEAD = """
import ctypes, json, sys
import torch
from module_place import ARENA
from module_precision import Shortened, computes_the_same, error_of, in_fewer_bits, shortened
from module_reference import Reference

def shapes(*specs):
    return [{"tensor": name, "shape": shape, "dtype": dtype} for name, shape, dtype in specs]

def reference(source, inputs, outputs, precision=None):
    meta = {"module": "Model", "inputs": inputs, "parameters": [], "outputs": outputs, "answer": "tensor"}
    meta["precision"] = precision or {}
    made = Reference({"name": "reference.py", "source": source, "support": {"module.json": json.dumps(meta)}})
    memory = ctypes.create_string_buffer(1 << 24)
    ARENA.use(ctypes.addressof(memory), 1 << 24)
    values = [i << 20 for i in range(len(made.tensors))]
    made.memory = memory
    with torch.no_grad():
        made.entry("inputs")([*values, 1])
        made.make_waiting()
    return made, [*values, 1]

def report(made, values, entry="error"):
    with torch.no_grad():
        made.entry(entry)(values)
    return json.loads(made.report)

PRODUCT = '''
import torch
class Model(torch.nn.Module):
    def forward(self, x, y):
        return x @ y
def get_inputs():
    return [torch.randn(64, 256), torch.randn(256, 64)]
'''
MATRICES = (("x", [64, 256], "f32"), ("y", [256, 64], "f32"))
"""

BITS = """
x = torch.tensor([1 + 2.0**-8, 1 + 2.0**-12, -3.14159265])
assert shortened(x, 7, cut=True).tolist() == [1.0, 1.0, -3.140625]
assert shortened(x, 7, cut=False).tolist() == [1.0, 1.0, -3.140625]
assert shortened(torch.tensor([1.005859375]), 7, cut=False).tolist() == [1.0078125]
assert shortened(torch.tensor([1.005859375]), 7, cut=True).tolist() == [1.0]
numbers = torch.randn(1000)
assert torch.equal(shortened(numbers, 7, cut=False), numbers.bfloat16().float())
assert torch.equal(shortened(numbers.double(), 10, cut=True), shortened(numbers, 10, cut=True).double())
assert shortened(torch.arange(3), 7, cut=True).tolist() == [0, 1, 2]
"""


def test_numbers_lose_bits_like_types_and_tensor_cores(run_beside_modules):
    run_beside_modules(HEAD + BITS)


ERRORS = """
exact = torch.sin(torch.arange(1000.0, dtype=torch.float64))
own = exact.float()
element, norm, wide_element, wide_norm, share = error_of(own, exact)
assert 0 < norm < element < 1e-7 and wide_element == wide_norm == share == 0
off = own.clone()
off[5] += 0.1
element, norm, *_ = error_of(off, exact)
assert 0.05 < element < 0.1 and 1e-3 < norm < 4e-3
masked = exact.clone()
masked[::2] = -1e9
element, norm, wide_element, wide_norm, share = error_of(masked.float(), masked)
assert wide_norm > 0 and wide_element > 0
hidden = masked.float()
hidden[1] = 5
assert error_of(hidden, masked)[0] < 1e-7, "it is small relative to -1e9"
assert error_of(hidden, masked)[2] > 0.1, "it is large relative to the others"
tiny = torch.full((8,), 1e-200, dtype=torch.float64)
assert error_of(torch.zeros(8), tiny) == [0, 0, 0, 0, 0]
assert error_of(torch.tensor([float("inf"), 1.0]), torch.tensor([1e39, 1.0], dtype=torch.float64))[4] == 0
assert error_of(torch.tensor([float("nan"), 1.0]), torch.tensor([1.0, 1.0], dtype=torch.float64))[4] == 0.5
assert error_of(torch.tensor([1, 2, 4]), torch.tensor([1, 2, 3]))[4] - 1 / 3 < 1e-9
assert computes_the_same(own, exact) and not computes_the_same(torch.rand(1000), exact)
"""


def test_errors_are_relative_to_an_element_and_its_tensor(run_beside_modules):
    run_beside_modules(HEAD + ERRORS)


REPORTS = """
outputs = shapes(("out", [64, 64], "f32"))
made, values = reference(PRODUCT, shapes(*MATRICES), outputs)
found = report(made, values)
assert found["in_double"] and found["outputs"][0]["own"][1] < 1e-6 and "allowed" not in found["outputs"][0], found
made, values = reference(PRODUCT, shapes(*MATRICES), outputs, {"compute": "bf16"})
allowed = report(made, values)["outputs"][0]["allowed"]
assert 5e-4 < allowed[1] < 5e-3, allowed
made, values = reference(PRODUCT, shapes(*MATRICES), outputs, {"conv_tf32": True, "matmul_tf32": True})
assert "allowed" not in report(made, values)["outputs"][0], "the processor has no TF32"

DRAWS = PRODUCT.replace("return x @ y", "return x @ y + torch.rand(64, 64)")
made, values = reference(DRAWS, shapes(*MATRICES), outputs)
found = report(made, values)
assert not found["in_double"] and found["outputs"][0]["own"][1] == 0, found

OVERFLOWS = PRODUCT.replace("return x @ y", "return (x @ y * 30).exp()")
made, values = reference(OVERFLOWS, shapes(*MATRICES), outputs)
assert report(made, values)["in_double"]
places, seed = made.at(values)
exact = made.exact_answers(places, seed)[0]
assert exact.isinf().any(), "what the reference cannot hold is expected as it gives it"
"""


def test_reference_reports_its_error_and_the_allowed_error(run_beside_modules):
    run_beside_modules(HEAD + REPORTS)


SHORTCUTS = """
made, values = reference(PRODUCT, shapes(*MATRICES), shapes(("out", [64, 64], "f32")))
own = report(made, values)["outputs"][0]["own"]
found = {}
while True:
    one = report(made, values, "shortcuts")
    if not one["answer"]:
        break
    found[one["answer"]] = one
print(json.dumps({"own": own, "found": found}))
"""


def test_answers_that_take_less_work_are_further_off_than_the_reference(run_beside_modules):
    told = json.loads(run_beside_modules(HEAD + SHORTCUTS))
    found = told["found"]
    wanted = {"zeros", "ones", "a constant", "yesterday's answer", "a copy of input 0", "a copy of input 1"}
    wanted |= {"products in float16", "products in bfloat16"}
    assert wanted | {"every 16th slice of axis 1 of input 0 and axis 0 of input 1"} <= set(found)
    for name, one in found.items():
        assert not one["right"]
        assert one["outputs"][0][1] > 100 * told["own"][1], name


SWITCHES = """
from module_tf32 import strict, use_precision
from module_state import State
as_it_was = State()
with strict():
    assert not torch.backends.cudnn.allow_tf32 and not torch.backends.cuda.matmul.allow_tf32
assert not as_it_was.difference(), as_it_was.difference()
use_precision({"conv_tf32": False, "matmul_tf32": True})
assert not torch.backends.cudnn.allow_tf32 and torch.backends.cuda.matmul.allow_tf32
with strict():
    assert not torch.backends.cuda.matmul.allow_tf32
assert torch.backends.cuda.matmul.allow_tf32
use_precision(None)
assert not as_it_was.difference(), as_it_was.difference()
"""


def test_switches_are_as_they_were_for_the_next_module(run_beside_modules):
    run_beside_modules(HEAD + SWITCHES)


PRECISIONS = """
import json, sys
sys.path.insert(0, sys.argv[1])
import kernelbench
config = {name: value.get("default") for name, value in kernelbench.Dataset.parameters.items()}
for given in json.loads(sys.argv[3]):
    try:
        dataset = kernelbench.Dataset({**config, "path": sys.argv[2], "precision": given})
        task = dataset.get_task("level1/4")
        print(json.loads(task["backends"]["cuda"]["support"][0]["text"])["precision"], task["tolerance"].get("norm"))
    except ValueError as error:
        print(error)
"""


def test_the_precision_is_the_datasets(run_beside_modules):
    root = Path(__file__).parents[2]
    given = [{}, {"matmul_tf32": True}, {"compute": "bf16"}, {"compute": "fp8"}, {"conv_tf32": 1}, {"tf32": True}]
    problems = root / "tests/modules/kinds/level1"
    plugin = root / "plugins/datasets/kernelbench"
    told = without_slowness(run_beside_modules(PRECISIONS, plugin, problems, json.dumps(given)))
    assert told == [
        "{'conv_tf32': True, 'matmul_tf32': False, 'compute': 'f32'} 1e-05",
        "{'conv_tf32': True, 'matmul_tf32': True, 'compute': 'f32'} 1e-05",
        "{'conv_tf32': True, 'matmul_tf32': False, 'compute': 'bf16'} 0.008",
        "precision: compute: found 'fp8', expected one of f32, f16, bf16",
        "precision: conv_tf32: found 1, expected true or false",
        "precision: found 'tf32', expected one of conv_tf32, matmul_tf32, compute",
    ]
