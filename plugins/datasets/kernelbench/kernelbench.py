"""KernelBench: its repository's folders, the published data set, or TritonForge's JSON Lines."""

from hone_modules.dataset import ModuleDataset
from hone_modules.problems import Problem, read_kernelbench


class Dataset(ModuleDataset):
    """KernelBench's problems: PyTorch modules to make faster"""

    source = "github.com/ScalingIntelligence/KernelBench"

    def read(self, path: str) -> list[Problem]:
        return read_kernelbench(path)
