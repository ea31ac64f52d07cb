"""Reads folders of Python files with one PyTorch module each, such as MultiKernelBench or robust-kbench."""

import os
from typing import Any, ClassVar

from hone_modules.dataset import ModuleDataset
from hone_modules.problems import Mistake, Problem, read_text, unfit_at_sight

FILES_MAX = 100_000


class Dataset(ModuleDataset):
    """Files of PyTorch modules: class Model, get_inputs() and get_init_inputs()"""

    source = "files in the form of KernelBench's problems"
    parameters: ClassVar[dict[str, dict[str, Any]]] = {
        **ModuleDataset.parameters,
        "below": {"default": "", "doc": "only files whose path begins with this: activation/"},
    }

    def __init__(self, config: dict[str, Any]) -> None:
        self.below = config["below"]
        super().__init__(config)

    def read(self, path: str) -> list[Problem]:
        if not os.path.isdir(path):
            raise Mistake(f"{path}: no such folder")
        files = [os.path.join(at, name) for at, _, names in os.walk(path) for name in names if name.endswith(".py")]
        if len(files) > FILES_MAX:
            raise Mistake(f"{path}: found {len(files)} files below it, expected at most {FILES_MAX}")
        problems = []
        for file in sorted(files):
            name = os.path.relpath(file, path).removesuffix(".py").replace(os.sep, "/")
            if not name.startswith(self.below):
                continue
            text = read_text(file)
            if not unfit_at_sight(text):  # else it is a file of another kind
                folder, _, title = name.rpartition("/")
                title = folder.rpartition("/")[2] if title == "func_forward" else title
                problems.append(
                    Problem(
                        name,
                        title,
                        text,
                        tuple(folder.split("/")) if folder else (),
                        "Model",
                        (0, len(problems), ""),
                        file,
                    )
                )
        if not problems:
            raise Mistake(
                f"{path}: found no file with a class and get_inputs(){' below ' + self.below if self.below else ''}"
            )
        return problems
