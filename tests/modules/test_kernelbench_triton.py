"""hone.kernelbench_triton with a real gateway: results, batches, exceptions for faults."""

import asyncio
import json
import os
import re

import pytest
from gateway_process import RELU

from conftest import ROOT

KEYS = {"kernel_name", "timestamp", "correctness", "speedup", "reference_time_ms", "kernel_time_ms"}
KEYS |= {"fast_0", "fast_1", "fast_2", "error"}


def test_kernelbench_results(bench, traces):
    trace = traces["kernelbook_632"]
    turns = {turn["turn"]: turn["triton_code"] for turn in trace["turns"]}
    result = bench.benchmark_kernelbench.remote(
        triton_code=turns[2], pytorch_code=trace["pytorch_code"], kernel_name="two", n_trials=20, rtol=1e-4, atol=1e-4
    )
    assert set(result) == KEYS | {"not_measured"}
    assert (result["correctness"], result["fast_0"], result["error"]) == (True, True, None)
    untimed = (result["speedup"], result["reference_time_ms"], result["kernel_time_ms"], result["fast_1"])
    assert untimed == (0.0, None, None, False)
    failed = asyncio.run(bench.benchmark_kernelbench.remote.aio(turns[4], trace["pytorch_code"]))
    assert set(failed) == KEYS
    assert failed["error"].startswith("ValueError: arange's range must be a power of 2")
    long = bench.benchmark_kernelbench(triton_code="#" * (5 << 20), pytorch_code=trace["pytorch_code"])
    assert long["error"].startswith("ValueError: the request is longer than 4 MB")
    json.dumps([result, failed, long])


def test_a_fault_of_the_reference_is_no_answer_of_the_model(bench, relu):
    import hone as package

    kernel = RELU.format("torch.relu(x)")
    for reference, why in (
        ("import torch", "it has no get_inputs"),
        ("def get_inputs(:\n", "SyntaxError: invalid syntax"),
        ("#" * (5 << 20), "expected at most 256 KB"),
        ("\ud800", "expected text that UTF-8 can encode"),
        (None, "found NoneType, expected its source"),
    ):
        with pytest.raises(package.InvalidArgument, match=why):
            bench.benchmark_kernelbench(kernel, reference)
    with pytest.raises(package.InvalidArgument, match="defines no module called 'Sun'"):
        bench.benchmark_kernelbench(kernel, relu, entry_point="Sun")
    with pytest.raises(package.InvalidArgument, match="SyntaxError"):
        bench.benchmark_triton_kernel("", "def reference_impl(x:", {"x": {"shape": [2]}})
    for shapes in (None, {}, {"x": None}, {"x": {}}, {"x": {"shape": 3}}, {"x": {"shape": ["a"]}}, {1: {"shape": [1]}}):
        with pytest.raises(package.InvalidArgument, match="input_shapes: "):
            bench.benchmark_triton_kernel("", "def reference_impl(x): return x", shapes)


def test_kernelbench_batch(bench, traces):
    trace = traces["kernelbook_632"]
    kernels = [
        {"triton_code": turn["triton_code"], "pytorch_code": trace["pytorch_code"], "kernel_name": str(turn["turn"])}
        for turn in trace["turns"]
    ]
    results = bench.benchmark_batch.remote(kernels)
    assert [result["kernel_name"] for result in results] == ["1", "2", "3", "4"]
    assert [result["correctness"] for result in results] == [False, True, True, False]


def test_batch_with_an_unusable_reference_names_it(bench, traces):
    import hone as package

    good = {"triton_code": "", "pytorch_code": traces["kernelbook_632"]["pytorch_code"]}
    with pytest.raises(package.InvalidArgument, match=r"^kernels\[1\]: "):
        bench.benchmark_batch([good, {**good, "pytorch_code": "def broken(:"}])


def test_the_migration_page_runs(bench, gateway, traces, capsys):
    page = (ROOT / "docs/migration/kernelbench-triton.md").read_text()
    blocks = re.findall(r"^```python gateway\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    trace = traces["kernelbook_632"]
    known = {"kernel": trace["turns"][1]["triton_code"], "module": trace["pytorch_code"]}
    for block in blocks:
        exec(block.replace("http://127.0.0.1:18188", gateway.url), known)
    assert capsys.readouterr().out.startswith("True 0.0 None not measured")
    with known["app"].run():
        assert known["benchmark_batch"].remote([]) == []


SUBTRACT = "def triton_kernel_wrapper(b, a):\n    return {}\n"


def test_triton_kernel_by_the_inputs_names(bench):
    asked = {
        "reference_torch_code": "import torch\n\ndef reference_impl(a, b):\n    return a - b\n",
        "input_shapes": {"a": {"shape": [8, 4], "dtype": "float32"}, "b": {"shape": [8, 4]}},
        "n_correctness": 3,
    }
    right = bench.benchmark_triton_kernel.remote(kernel_code=SUBTRACT.format("a - b"), **asked)
    assert (right["correctness"], right["error"]) == (True, None)
    assert right["input_shapes"] == asked["input_shapes"]
    assert (right["n_correctness"], right["n_trials"]) == (3, 100)
    wrong = bench.benchmark_triton_kernel.remote(kernel_code=SUBTRACT.format("b - a"), **asked)
    assert (wrong["correctness"], wrong["error"]) == (False, None)
    module = "import torch\nclass Model(torch.nn.Module):\n    def forward(self, a, b):\n        return a - b\n"
    module += (
        "def get_inputs():\n    return [torch.rand(8, 4), torch.rand(8, 4)]\ndef get_init_inputs():\n    return []\n"
    )
    said = bench.benchmark_kernelbench(SUBTRACT.format("a + b"), module)["error"]
    assert said.startswith("AssertionError: output out is wrong")  # not an unknown error
    none = bench.benchmark_triton_kernel.remote(kernel_code="x = 1", **asked)
    assert "triton_kernel_wrapper" in none["error"]
    with pytest.raises(ValueError, match="expected an identifier"):
        bench.benchmark_triton_kernel("", "", {"not a name": {"shape": [1]}})


def test_missing_server_gives_no_result(bench, gateway, monkeypatch):
    import hone as package

    bench.connect("http://127.0.0.1:1")
    with pytest.raises(package.Unavailable, match="hone gateway tritonforge"):
        bench.benchmark_kernelbench("x", "y")
    monkeypatch.setenv("HONE_GATEWAY", gateway.url)
    bench.connect("")
    assert os.environ["HONE_GATEWAY"] == gateway.url
    with pytest.raises(package.InvalidArgument, match="no get_inputs"):
        bench.benchmark_kernelbench("x", "nothing")
