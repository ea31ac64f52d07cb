"""Reads the AI CUDA Engineer archive: rows of kernels. Several kernels of one task make one problem."""

import re
from typing import Any

from hone_modules.dataset import ModuleDataset
from hone_modules.problems import Mistake, Problem, data_files, in_order, kernelbench_problem, rows_of

SOURCE, LEVEL, NUMBER, NAME = "PyTorch_Code_Module", "Level_ID", "Task_ID", "Op_Name"


def number_in(value: Any, place: str, key: str) -> int:
    """The number in 3, "3" or "level_3"."""
    found = re.search(r"\d+", str(value))
    if isinstance(value, bool) or not found:
        raise Mistake(f"{place}: {key}: found {value!r}, expected a number")
    return int(found[0])


class Dataset(ModuleDataset):
    """Tasks of the AI CUDA Engineer archive, which are KernelBench's"""

    source = "huggingface.co/datasets/SakanaAI/AI-CUDA-Engineer-Archive"

    def read(self, path: str) -> list[Problem]:
        found: dict[str, Problem] = {}
        for file in data_files(path):
            for place, row in rows_of(file, (SOURCE, LEVEL, NUMBER, NAME)):
                if not isinstance(row.get(SOURCE), str):
                    raise Mistake(
                        f"{place}: {SOURCE}: expected a module's source, found {type(row.get(SOURCE)).__name__}"
                    )
                level, number = (number_in(row.get(key), place, key) for key in (LEVEL, NUMBER))
                name = re.sub(r"\W+", "_", str(row.get(NAME) or "module"))
                problem = kernelbench_problem(level, number, name, row[SOURCE], place)
                found.setdefault(problem.id, problem)
        return in_order(list(found.values()), path, f"rows with {SOURCE}, {LEVEL} and {NUMBER}")
