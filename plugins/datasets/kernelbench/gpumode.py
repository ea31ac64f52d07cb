"""Reads GPU MODE's problems (gpu-mode/reference-kernels): a folder each, with task.yml, reference.py and task.py."""

import ast
import os
import re
from typing import Any, ClassVar

from hone_modules.dataset import ModuleDataset
from hone_modules.problems import Mistake, Problem, read_text

CASES = ("benchmarks", "tests")
# Imports between the problem's own files, which become one source here.
OWN_IMPORT = re.compile(
    r"^(?:from\s+(?:task|utils|reference)\s+import\s+(?:\([^)]*\)|.*)|import\s+(?:task|utils|reference)\b.*)$", re.M
)
MODULE = '''

def _seed():
    return torch.initial_seed() % (1 << 31)


class Model(torch.nn.Module):
    """What custom_kernel(data) computes; forward() gets the members of data."""

    def forward(self, *data):
        return ref_kernel(data if len(data) > 1 else data[0])


def get_inputs():
    data = generate_input(CASE)
    return list(data) if isinstance(data, (tuple, list)) else [data]


def get_init_inputs():
    return []
'''


def case_of(text: str) -> dict[str, Any]:
    """A flow map of YAML: {"size": 127, "seed": 4242}, with or without quotes around its keys."""
    quoted = re.sub(r"([{,]\s*)([A-Za-z_]\w*)\s*:", r'\1"\2":', text)
    quoted = re.sub(
        r"\b(true|false|null)\b", lambda m: {"true": "True", "false": "False", "null": "None"}[m[1]], quoted
    )
    value = ast.literal_eval(quoted)
    if not isinstance(value, dict):
        raise ValueError(f"expected a map, found {type(value).__name__}")
    return value


def cases_of(text: str, section: str, place: str) -> list[dict[str, Any]]:
    """The maps that `section` of a task.yml lists, one a line."""
    found = re.search(rf"^{section}:[ \t]*\n((?:[ \t]+.*\n?|[ \t]*#.*\n?|[ \t]*\n)*)", text, re.M)
    cases = []
    for line in found[1].splitlines() if found else []:
        if match := re.fullmatch(r"\s*-\s*(\{.*\})\s*(?:#.*)?", line):
            try:
                cases.append(case_of(match[1]))
            except (ValueError, SyntaxError) as error:
                raise Mistake(f"{place}: {section}: {match[1]}: {error}") from None
    return cases


def without_own_imports(text: str) -> str:
    """A file's text without imports of its own files, and on the processor, where hone makes inputs."""
    return OWN_IMPORT.sub("", text).replace("'cuda'", "'cpu'").replace('"cuda"', '"cpu"')


class Dataset(ModuleDataset):
    """GPU MODE's problems; a submission is a ModelNew whose forward() gets the members of data"""

    source = "github.com/gpu-mode/reference-kernels"
    parameters: ClassVar[dict[str, dict[str, Any]]] = {
        **ModuleDataset.parameters,
        "cases": {
            "default": "benchmarks",
            "choices": list(CASES),
            "doc": "the list in task.yml that cases are taken from",
        },
        "case": {"default": 0, "range": [0, 1000], "doc": "index of the case, from 0; beyond the end: the last"},
    }

    def __init__(self, config: dict[str, Any]) -> None:
        self.cases, self.case = config["cases"], config["case"]
        super().__init__(config)

    def read(self, path: str) -> list[Problem]:
        folders = sorted(at for at, _, names in os.walk(path) if "task.yml" in names and "reference.py" in names)
        problems = []
        for folder in folders:
            name = os.path.relpath(folder, path).replace(os.sep, "/")
            name = os.path.basename(os.path.abspath(folder)) if name == "." else name
            try:
                source = self.module_of(folder)
            except Mistake as mistake:
                print(f"warning: {name} is left out: {mistake}")
                continue
            problems.append(
                Problem(name, name.rpartition("/")[2], source, ("gpumode",), "Model", (0, len(problems), ""), folder)
            )
        if not problems:
            raise Mistake(f"{path}: found no problem, expected folders with task.yml and reference.py")
        return problems

    def module_of(self, folder: str) -> str:
        """One source made of a problem's files and one of its cases."""
        task = os.path.join(folder, "task.yml")
        about = read_text(task)
        cases = cases_of(about, self.cases, task)
        if not cases:
            raise Mistake(f"{task}: found no {self.cases}, expected a list of maps, one a line")
        case = cases[min(self.case, len(cases) - 1)]
        texts = ["import torch"]
        for name in ("utils.py", "../utils.py", "task.py", "reference.py"):
            file = os.path.join(folder, name)
            if os.path.isfile(file) and not (
                name.startswith("..") and os.path.isfile(os.path.join(folder, "utils.py"))
            ):
                texts.append(without_own_imports(read_text(file)))
        source = "\n".join(texts)
        for function in ("generate_input", "ref_kernel"):
            if not re.search(rf"^def {function}\(", source, re.M):
                raise Mistake(f"{folder}: reference.py: found no function {function}()")
        given = ", ".join(f"{name}={'_seed()' if name == 'seed' else repr(value)}" for name, value in case.items())
        return source + MODULE.replace("CASE", given)
