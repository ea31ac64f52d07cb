"""ModuleDataset: the base class of datasets of PyTorch modules. Each of them reads its own format."""

import importlib.util
import sys
from dataclasses import replace
from typing import Any, ClassVar

from hone_modules.limit import SECONDS_MAX, SlowModule, limited
from hone_modules.packages import missing_imports, missing_lines, without_unused
from hone_modules.problems import BACKENDS, PRECISION, Mistake, Problem, UnfitTask, syntax_error, unfit_at_sight

LEFT_OUT_SHOWN = 8
BASELINES = ("eager", "compile")
COMPUTE = ("f32", "f16", "bf16")
OWN_KERNELS = ("optional", "expected", "required")
SOURCE_BYTES_MAX = 256 << 10
NO_TORCH = (
    f"found no torch in {sys.executable}, which describes modules: scripts/setup --python makes an environment that has"
    " it; then --set plugins.python=FOLDER/bin/python, and the same for cpu.python (or cuda.python), which runs them"
)


def checked_precision(given: dict[str, Any]) -> dict[str, Any]:
    """The precision in the configuration, completed with torch's defaults."""
    for key, value in given.items():
        if key not in PRECISION:
            raise Mistake(f"precision: found '{key}', expected one of {', '.join(PRECISION)}")
        if key == "compute" and value not in COMPUTE:
            raise Mistake(f"precision: compute: found {value!r}, expected one of {', '.join(COMPUTE)}")
        if key != "compute" and not isinstance(value, bool):
            raise Mistake(f"precision: {key}: found {value!r}, expected true or false")
    return {**PRECISION, **given}


def checked_slowdown(most: float) -> float:
    if 0 < most < 2:
        raise Mistake(f"slowdown_max: found {most:g}, expected 0 or at least 2")
    return most


def task_of(
    problem: Problem,
    split: str,
    exact: bool = False,
    baseline: str = "eager",
    precision: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Describes a problem and makes its task, or raises Mistake with the reason.

    `exact`: only the class that the problem names. `baseline`: one of BASELINES.
    """
    if wrong := syntax_error(problem.source):
        raise UnfitTask(f"{problem.id} cannot be made a task: {wrong}")
    if importlib.util.find_spec("torch") is None:
        raise Mistake(NO_TORCH)
    # Imported only now, because torch takes seconds.
    from hone_modules.describe import describe
    from hone_modules.task import make_task
    from hone_modules.tensors import Unfit

    try:
        description = describe(problem.source, problem.entry, exact)
    except Unfit as unfit:
        raise UnfitTask(f"{problem.id} cannot be made a task: {unfit}") from None
    return make_task(problem, description, split, baseline, precision)


class ModuleDataset:
    """Problems by id. Listing tasks needs no torch and runs no code; get_task() describes a module."""

    version = "1.0.0"
    parameters: ClassVar[dict[str, dict[str, Any]]] = {
        "path": {"type": "str", "doc": "the data: a folder, or a file of JSON, JSON Lines or Parquet"},
        "split": {"default": "train", "doc": "the split that all tasks are of"},
        "baseline": {
            "default": "eager",
            "doc": "what a speedup is over: eager, or compile, the faster one of eager and torch.compile",
        },
        "precision": {
            "default": {},
            "doc": "conv_tf32 (default: true), matmul_tf32 (false): TF32 as torch has it; compute (f32): f16 or bf16",
        },
        "memory_mb": {
            "default": 2048,
            "range": [64, 1 << 20],
            "doc": "megabytes on the processor for a submission, added to what follows from the reference",
        },
        "describe_seconds": {
            "default": SECONDS_MAX,
            "range": [1, 3600],
            "doc": "limit of one description of a module (s of processor time)",
        },
        "slowdown_max": {
            "default": 300.0,
            "range": [0, 1e9],
            "doc": "on a GPU: limit for a call, as a multiple of the baseline's time, but at least 1 s; 0: only 60 s",
        },
        "own_kernels": {
            "default": "optional",
            "doc": "where torch alone does the work: optional (nothing), expected (that is said), required (rejected)",
        },
    }

    def __init__(self, config: dict[str, Any]) -> None:
        self.split, self.own_kernels, self.baseline = config["split"], config["own_kernels"], config["baseline"]
        for name, choices in (("own_kernels", OWN_KERNELS), ("baseline", BASELINES)):
            if config[name] not in choices:
                raise Mistake(f"{name}: found {config[name]!r}, expected one of {', '.join(choices)}")
        self.memory_mb, self.seconds = config["memory_mb"], config["describe_seconds"]
        self.slowdown_max = checked_slowdown(config["slowdown_max"])
        self.precision = checked_precision(config["precision"])
        found = self.read(config["path"])
        self.left_out = {problem.id: why for problem in found if (why := self.unfit(problem))}
        self.problems = {problem.id: problem for problem in found if problem.id not in self.left_out}
        for number, (task, why) in enumerate(self.left_out.items()):
            if number == LEFT_OUT_SHOWN:
                print(f"warning: and {len(self.left_out) - number} more are left out")
                break
            print(f"warning: {task} is left out: {why}")
        if importlib.util.find_spec("torch") is None:
            print(NO_TORCH)
        else:
            for line in missing_lines(self.problems.values()):
                print(f"warning: {line}")

    def read(self, path: str) -> list[Problem]:
        """All problems at this path."""
        raise NotImplementedError

    @staticmethod
    def unfit(problem: Problem) -> str:
        if len(problem.source.encode(errors="replace")) > SOURCE_BYTES_MAX:
            return f"its source is longer than {SOURCE_BYTES_MAX >> 10} KB"
        return unfit_at_sight(problem.source)

    def list_tasks(self) -> list[dict[str, Any]]:
        return [
            {"id": p.id, "title": p.title, "split": self.split, "tags": list(p.tags), "backends": list(BACKENDS)}
            for p in self.problems.values()
        ]

    def get_task(self, task_id: str) -> dict[str, Any]:
        if task_id in self.left_out:
            raise UnfitTask(f"{task_id} cannot be made a task: {self.left_out[task_id]}")
        problem = self.problems[task_id]
        problem = replace(problem, source=without_unused(problem.source))
        try:
            with limited(task_id, self.seconds):
                task = task_of(problem, self.split, baseline=self.baseline, precision=self.precision)
        except SlowModule as slow:
            self.left_out[task_id] = str(slow)
            raise UnfitTask(f"{task_id} cannot be made a task: {slow}") from None
        except Mistake as mistake:
            gone = sorted(missing_imports(self.problems[task_id].source) - missing_imports(problem.source))
            if not gone:
                raise
            raise type(mistake)(f"{mistake}; unused imports were left out: {', '.join(gone)}") from None
        rules = {"own_kernels": self.own_kernels, "memory_mb": self.memory_mb, "slowdown_max": self.slowdown_max}
        return {**task, **rules}
