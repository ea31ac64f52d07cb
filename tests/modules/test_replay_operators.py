"""Operators of a forged plan, on the processor: only those of the list are called, and write only their results."""

import json

import pytest

CALL = """
import ctypes, json, sys
import numpy
from module_place import PLACE
from replay_operators import ReplayedOperator

def answer(given):
    arrays = [numpy.arange(16, dtype="float32") for _ in range(3)]
    before = [array.copy() for array in arrays]
    answer = {}
    try:
        failures = iter(given.pop("failures", []))
        PLACE.failed_allocations = lambda: next(failures, 0)
        operator = ReplayedOperator(given)
        answer["loaded"] = True
        operator.run([array.ctypes.data for array in arrays][: len(given["tensors"])])
    except BaseException as error:
        answer["raised"] = type(error).__name__ + ": " + str(error)
    answer["changed"] = [i for i in range(3) if (arrays[i] != before[i]).any()]
    return answer

print(json.dumps([answer(given) for given in json.loads(sys.argv[1])]))
"""
SQUARE = {"dtype": "float32", "sizes": [4, 4], "strides": [4, 1]}


def operator(name, arguments, **changes):
    call = {
        "name": name,
        "arguments": arguments,
        "keywords": {},
        "settings": {},
        "tensors": [SQUARE] * 3,
        "results": [2],
    }
    return {**call, **changes}


def tensors(*numbers):
    return [{"tensor": number} for number in numbers]


REDIRECTED = operator("mm", tensors(0, 1), keywords={"out": {"tensor": 0}})
UNKNOWN = [operator(name, tensors(0, 1)) for name in ("set_", "copy_", "from_file", "mm.out", "__class__", "resize_")]
SETTING = operator("mm", tensors(0, 1), settings={"cudnn_enabled": False})
SMALL = operator("mm", tensors(0, 1), tensors=[SQUARE, SQUARE, {"dtype": "float32", "sizes": [2], "strides": [1]}])
IMAGE = {"dtype": "float32", "sizes": [1, 1, 4, 4], "strides": [16, 16, 4, 1]}


def recurrent(**changes):
    """A layer of the smallest size; `changes`: arguments of torch._cudnn_rnn by name."""
    given = {"input": {"tensor": 0}, "weight": [{"tensor": 1}], "weight_stride0": 4, "weight_buf": None}
    given |= {"hx": {"tensor": 0}, "cx": None, "mode": 3, "hidden_size": 4, "proj_size": 0, "num_layers": 1}
    given |= {"batch_first": False, "dropout": 0.0, "train": False, "bidirectional": False}
    given |= {"batch_sizes": [], "dropout_state": None}
    return operator("_cudnn_rnn", list({**given, **changes}.values()))


# torch does not check these numbers, and reads or writes beyond its arrays, or divides by zero.
WILD = [
    recurrent(batch_sizes=[1, 1 << 20, 1 << 20]),
    recurrent(weight_stride0=0),
    recurrent(num_layers=0),
    recurrent(mode=7),
    recurrent(hidden_size=1 << 40),
    operator("_cudnn_rnn", tensors(0, 1)),
    operator("_fft_r2c", [{"tensor": 0}, [99], 0, True]),
    operator("_fft_r2c", [{"tensor": 0}, [-1], 0, True]),
    operator("_fft_c2c", [{"tensor": 0}, [0, 0], 0, True]),
    operator("_fft_c2r", [], keywords={"self": {"tensor": 0}, "dim": [7], "normalization": 0, "last_dim_size": 4}),
    operator(
        "cudnn_convolution", [*tensors(0, 1), [65] * 999, [1] * 999, [1] * 999, 1, *[False] * 3], tensors=[IMAGE] * 3
    ),
    operator("cudnn_convolution", [*tensors(0, 1), [], [1, 1], [1, 1], 1, *[False] * 3], tensors=[IMAGE] * 3),
    operator("cudnn_convolution", [*tensors(0, 1), [-1, 0], [1, 1], [1, 1], 1, *[False] * 3], tensors=[IMAGE] * 3),
]
# torch checks these.
WRONG = [
    operator("addmm", tensors(0, 1, 1), keywords={"beta": "much"}),
    operator("mm", tensors(0)),
    operator("mm", [None, [[[]]]]),
]
# Numbers of failed allocations before and after the call.
LACKING = operator("mm", tensors(0, 1), failures=[3, 4])
LAYER = recurrent()
CALLS = [operator("mm", tensors(0, 1)), LACKING, LAYER, REDIRECTED, SETTING, SMALL, *UNKNOWN, *WILD, *WRONG]


@pytest.fixture(scope="module")
def run(run_beside_modules):
    """run(call) gives the answer to one of CALLS. All are made by one process, because torch is imported in seconds."""
    answers = json.loads(run_beside_modules(CALL, json.dumps(CALLS)))
    return lambda call: answers[CALLS.index(call)]


def test_the_results_of_an_operator_are_written(run):
    assert run(CALLS[0]) == {"loaded": True, "changed": [2]}


def test_an_operator_that_went_on_without_memory_raises(run):
    assert run(LACKING)["raised"].startswith("OutOfMemoryError: the operator 'mm' found no memory for its work area")


def test_an_operator_that_is_not_on_the_list_is_refused(run):
    for call in UNKNOWN:
        assert run(call)["raised"].startswith(f"UnknownOperator: found the operator '{call['name']}'")
        assert run(call)["changed"] == []


def test_a_setting_that_is_not_on_the_list_is_refused(run):
    assert run(SETTING)["raised"].startswith("UnknownOperator: found unknown settings: cudnn_enabled")


def test_a_keyword_does_not_redirect_the_results(run):
    assert run(REDIRECTED)["changed"] == [2]


def test_numbers_that_torch_does_not_check_are_refused_before_the_call(run):
    for call in WILD:
        assert "does not take" in run(call)["raised"], call
        assert "loaded" not in run(call)


def test_a_recurrent_layer_is_loaded(run):
    assert run(LAYER)["loaded"]


def test_other_wrong_arguments_raise(run):
    for call in WRONG:
        assert run(call)["raised"], call
        assert run(call)["changed"] == []


def test_a_result_that_is_too_small_is_not_enlarged(run):
    assert "resize storage" in run(SMALL)["raised"]
    assert run(SMALL)["changed"] == []
