"""KernelBench: its repository's folders, the published data set, or TritonForge's JSON Lines."""

from collections import Counter
from typing import Any, ClassVar

from hone_modules.dataset import ModuleDataset
from hone_modules.problems import Mistake, Problem, read_kernelbench


class Dataset(ModuleDataset):
    """KernelBench's problems: PyTorch modules to make faster"""

    source = "github.com/ScalingIntelligence/KernelBench"
    parameters: ClassVar[dict[str, dict[str, Any]]] = {
        **ModuleDataset.parameters,
        "level": {"default": 0, "range": [0, 99], "doc": "only this level; 0: all"},
    }

    def __init__(self, config: dict[str, Any]) -> None:
        self.tag = f"level{config['level']}" if config["level"] else ""
        super().__init__(config)

    def read(self, path: str) -> list[Problem]:
        problems = read_kernelbench(path)
        found = [problem for problem in problems if not self.tag or self.tag in problem.tags]
        if not found:
            counts = Counter(problem.tags[-1] for problem in problems)  # in the order of the levels
            levels = ", ".join(f"{level} ({count})" for level, count in counts.items())
            raise Mistake(f"{path}: found no problem of {self.tag}; levels found: {levels}")
        return found
