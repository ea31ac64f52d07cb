"""A module's dry run: compiled kernels, its report, and honest modules that it must not refuse."""

import subprocess
from pathlib import Path

import pytest
import run_goldens
from module_folders import ENVIRONMENT

from conftest import linear_row

HERE = Path(__file__).parent
STUB = """
int cuDeviceGetCount(int* count) { return STARTED ? 0 : 3; }
"""


def submission(name):
    return (HERE / "submissions" / f"{name}.py").read_text()


def suffixes(answer):
    return {Path(path).suffix for path in answer["compiled"]}


def test_compiled_kernel_is_not_compiled_again(dry_run):
    source = submission("triton_model")
    (first,) = dry_run([linear_row(source)])
    assert first["words"] == ""
    assert ".cubin" in suffixes(first)
    (second,) = dry_run([linear_row(source, first["compiled"])])
    assert second == {**first, "compiled": {}}


def test_another_vendors_device_is_compiled_for(dry_run):
    (answer,) = dry_run([linear_row(submission("wrapper"))], "gfx942")
    assert answer["words"] == ""
    assert ".hsaco" in suffixes(answer)


def test_each_configuration_that_is_tried_is_compiled(dry_run):
    tuned = "@triton.autotune([triton.Config({}, num_warps=n) for n in (1, 2, 4)], key=[])\n@triton.jit\n"
    source = submission("triton_model").replace("@triton.jit\n", tuned)
    (answer,) = dry_run([linear_row(source)])
    assert answer["words"] == ""
    assert sum(path.endswith(".cubin") for path in answer["compiled"]) == 3


DEVICE = {"name": "A device", "memory_bytes": 1 << 37, "multiprocessors": 132, "shared_bytes": 232448}
COUNTED = "(torch.cuda.get_device_properties('cuda').multi_processor_count,)"
TOLD = """import torch
import triton
properties = torch.cuda.get_device_properties(torch.device("cuda"))
name, capability = torch.cuda.get_device_name(), torch.cuda.get_device_capability(0)
shared = triton.runtime.driver.active.utils.get_device_properties(0)["max_shared_mem"]
words = (name, properties.major, capability, properties.total_memory, shared)
__import__(f"told {words}")
ModelNew = None
"""


def test_known_device_properties_are_available(dry_run):
    source = submission("triton_model")
    assert source.count("leaky[(1,)]") == 1
    counted = linear_row(source.replace("leaky[(1,)]", f"leaky[{COUNTED}]"))
    unknown = TOLD.replace("properties.total_memory", "properties.ECC_enabled")
    answers = dry_run([counted, linear_row(TOLD), linear_row(unknown)], **DEVICE)
    assert ".cubin" in suffixes(answers[0])
    told = ("A device", 9, (9, 0), 1 << 37, 232448)
    assert str(told) in answers[1]["words"]
    assert answers[2]["words"] == ""
    (answer,) = dry_run([counted])
    assert answer == {"words": "", "work": None, "compiled": {}}


def test_started_kernels_are_counted(dry_run):
    """The counts equal those on a device: compiled here or there, tuned or not, and torch's operators that run."""
    names = ("model", "triton_model", "wrapper")
    torch_alone, triton, wrapper = (one["work"] for one in dry_run([linear_row(submission(name)) for name in names]))
    assert torch_alone["kernels"] == {}
    assert set(torch_alone["operators"]) == {"aten.t", "aten.mm", "aten.add", "aten.gt", "aten.mul", "aten.where"}
    assert triton["kernels"] == {"leaky": 1}
    assert set(triton["operators"]) == {"aten.t", "aten.addmm", "aten.add", "aten.empty_like"}
    assert wrapper == {"kernels": {"layer": 1}, "operators": {"aten.empty_like": 1}}


# In place of triton_model's call of its layer: with each of them a run on a device may start other kernels.
UNKNOWN = {
    "a value": "y = self.fc(x) if x.sum() > 0 else x",
    "a property": "y = self.fc(x) if torch.cuda.get_device_properties(0).ECC_enabled else x",
    "an exception that is caught": "y = self.probed(x)",
    "an operator of its own": "y = torch.ops.hone_test.twice(self.fc(x))",
}
EARLIER = """
@torch.library.custom_op("hone_test::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x + x


@twice.register_fake
def _(x):
    return torch.empty_like(x)


class ModelNew("""
PROBES = """
    def probed(self, x):
        try:
            torch.cuda.Stream()
        except Exception:
            return x
        return self.fc(x)

    def forward("""


def test_uncertain_course_is_no_evidence(dry_run):
    source = submission("triton_model").replace("class ModelNew(", EARLIER).replace("    def forward(", PROBES)
    call = "y = self.fc(x) + self.shift"
    assert source.count(call) == 1
    sources = [source] + [source.replace(call, other) for other in UNKNOWN.values()]
    works = [one["work"] for one in dry_run([linear_row(source) for source in sources], **DEVICE)]
    assert works[0]["kernels"] == {"leaky": 1}
    assert dict(zip(UNKNOWN, works[1:], strict=True)) == dict.fromkeys(UNKNOWN)


def test_kernels_started_once_are_not_counted(dry_run):
    """On a device, the watched call is not the first one either."""
    once = "self.kept = getattr(self, 'kept', None) or [torch.ones(3).cumsum(0)]\n        y = "
    (answer,) = dry_run([linear_row(submission("model").replace("y = ", once, 1))])
    assert "aten.mm" in answer["work"]["operators"]
    assert "aten.cumsum" not in answer["work"]["operators"]


QUESTIONS = [
    "torch.cuda.get_device_properties(torch.cuda.device(1))",
    "torch.cuda.get_device_capability('cpu')",
    "torch.cuda.get_device_properties(0).ECC_enabled",
    "torch._C._cuda_getCurrentRawStream(0) + 'x'",
    "torch.cuda.get_rng_state()",
    "kernels['max_num_regs']",
    "1 / int('max_num_regs' in kernels)",
    "1 / int(kernels.get('max_num_regs') is not None)",
    "1 / int(len(list(kernels)) > 3)",
    "1 / int(len(kernels.items()) > 3)",
]
ANSWERED = [
    "torch.cuda.get_device_properties(torch.cuda.device(0)).name",
    "torch.cuda.get_device_properties(torch.device('cuda:0')).multi_processor_count",
    "torch.cuda.set_device(0)",
    "torch.cuda.device(0).__enter__()",
    "kernels.get('max_shared_mem') + ('max_shared_mem' in kernels)",
]
ASKS = """import torch
import triton
kernels = triton.runtime.driver.active.utils.get_device_properties(0)
try:
    QUESTION
except Exception as error:
    import a_library_that_is_not_there
import another_library_that_is_not_there
ModelNew = None
"""


def test_unknown_value_is_no_answer(dry_run):
    """On a device it may be an answer, and the module may take another path."""
    sources = [ASKS.replace("QUESTION", question) for question in QUESTIONS + ANSWERED]
    words = [answer["words"] for answer in dry_run([linear_row(source) for source in sources], **DEVICE)]
    assert dict(zip(QUESTIONS, words, strict=False)) == dict.fromkeys(QUESTIONS, "")
    wanted = "load ModuleNotFoundError: No module named 'another_library_that_is_not_there' (submission.py:8)"
    assert dict(zip(ANSWERED, words[len(QUESTIONS) :], strict=True)) == dict.fromkeys(ANSWERED, wanted)


RECOVERS = """import torch, triton, triton.language as tl
try:
    import a_module_that_is_not_there
except ImportError:
    pass

@triton.jit
def broken(x):
    tl.store(x, tl.not_a_function(tl.load(x)))

class ModelNew(torch.nn.Module):
    def __init__(self, *settings):
        super().__init__()
        torch.cuda.get_device_properties(0)

    def forward(self, x):
        try:
            broken[(1,)](x)
        except Exception:
            return x
"""


def test_dry_run_reports_only_certain_failures(dry_run):
    at_value = submission("model").replace("y > 0", "y > 0 if y.sum() > 0 else y < 0")
    answers = dry_run(
        [linear_row(submission("missing_import")), linear_row(submission("kernel_raises"))]
        + [linear_row(submission(name)) for name in ("raises", "other_shape", "no_parameters", "temporary_file")]
        + [
            linear_row(source)
            for source in (RECOVERS, at_value, "import sys\nsys.exit(0)\n", "while True:\n    break\n")
        ]
    )
    words = [answer["words"] for answer in answers]
    assert words[0] == "load ModuleNotFoundError: No module named 'a_module_that_is_not_there' (submission.py:3)"
    assert words[1].startswith("run CompilationError: at 3:23: AttributeError(")
    assert words[1].endswith("(submission.py:16)")
    assert set(words[2:]) == {""}


MOVES = {"aten.empty", "aten.empty_like", "aten.view"}


def test_no_golden_is_refused(dry_run, describe, kernelbench_data):
    from hone_modules.problems import read_kernelbench

    problems = {problem.id: problem for problem in read_kernelbench(str(kernelbench_data))}
    # Each takes seconds, and 41 a minute, because its blocks are large without a device. test_goldens.py judges all.
    chosen = [number for number in sorted(run_goldens.TWINS)[::4] if number != 41]
    tasks = describe([(number, problems[f"level1/{number}"].source) for number in chosen])
    rows = []
    for number, answer in zip(chosen, tasks, strict=True):
        support = {file["name"]: file["text"] for file in answer["task"]["backends"]["cuda"]["support"]}
        source = run_goldens.golden_file(number).read_text()
        rows.append({"content": {"name": "submission.py", "source": source, "support": support}})
    answers = dry_run(rows, **DEVICE)
    assert [answer["words"] for answer in answers] == [""] * len(chosen)
    assert all(".cubin" in suffixes(answer) for answer in answers)
    # What they start is known, too: kernels, and of torch's operators none that computes. Some take longer to compile
    # than the limit of a dry run, because without a device torch uses large blocks.
    works = [answer["work"] for answer in answers if answer["work"]]
    assert len(works) > 0.75 * len(chosen)
    assert all(work["kernels"] for work in works)
    assert {name for work in works for name in work["operators"]} <= MOVES


@pytest.mark.parametrize("started", [0, 1])
def test_a_driver_that_is_started_is_seen(python, tmp_path, started):
    """An interpreter in which it is must not be copied."""
    (tmp_path / "stub.c").write_text(STUB)
    library = tmp_path / "libcuda.so.1"
    subprocess.run(
        ["gcc", "-shared", "-fPIC", f"-DSTARTED={started}", "-o", library, tmp_path / "stub.c"], check=True, timeout=60
    )
    code = "import module_absent_device; print(module_absent_device.driver_is_started())"
    ran = subprocess.run(
        [python, "-B", "-c", code, "processor"],
        env={**ENVIRONMENT, "LD_LIBRARY_PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.stdout.strip() == str(bool(started)), ran.stderr
