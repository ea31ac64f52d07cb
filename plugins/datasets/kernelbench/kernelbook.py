"""KernelBook: PyTorch modules as Parquet, JSON or JSON Lines; multi-turn traces are read as well."""

from hone_modules.dataset import ModuleDataset
from hone_modules.problems import Problem, read_kernelbook


class Dataset(ModuleDataset):
    """KernelBook's modules, a small one each, to make faster"""

    source = "huggingface.co/datasets/GPUMODE/KernelBook"

    def read(self, path: str) -> list[Problem]:
        return read_kernelbook(path)
