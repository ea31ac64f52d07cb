"""Reads flashinfer-bench's definitions: JSON files with axes, inputs, outputs and a reference run(), and workloads."""

import json
import os
from typing import Any, ClassVar

from hone_modules.dataset import ModuleDataset
from hone_modules.problems import Mistake, Problem, parse_json_lines, read_text

FLOATS = {"float64", "float32", "float16", "bfloat16"}
MODULE = '''

class Model(torch.nn.Module):
    """What run() computes."""

    def forward(self, {names}):
        return run({names})


def get_inputs():
    return [{inputs}]


def get_init_inputs():
    return []
'''


def json_files(path: str, folder: str, ending: str) -> list[str]:
    """The files below path/folder, or below path where there is no such folder."""
    below = os.path.join(path, folder)
    below = below if os.path.isdir(below) else path
    found = [os.path.join(at, name) for at, _, names in os.walk(below) for name in names if name.endswith(ending)]
    return sorted(found)


class Dataset(ModuleDataset):
    """flashinfer-bench's definitions, with the sizes of their first workload"""

    source = "github.com/flashinfer-ai/flashinfer-bench"
    parameters: ClassVar[dict[str, dict[str, Any]]] = {
        **ModuleDataset.parameters,
        "axes": {"default": {}, "doc": "sizes of variable axes, instead of the workload's: {batch_size: 64}"},
        "axis": {
            "default": 64,
            "range": [1, 1 << 24],
            "doc": "size of variable axes without a size in axes or the workload",
        },
    }

    def __init__(self, config: dict[str, Any]) -> None:
        self.axes, self.axis = config["axes"], config["axis"]
        super().__init__(config)

    def read(self, path: str) -> list[Problem]:
        if not os.path.isdir(path):
            raise Mistake(f"{path}: no such folder")
        self.workloads: dict[str, dict[str, Any]] = {}
        for file in json_files(path, "workloads", ".jsonl"):
            for _, row in parse_json_lines(read_text(file), file):
                if isinstance(row, dict) and isinstance(row.get("workload"), dict):
                    self.workloads.setdefault(str(row.get("definition")), row["workload"])
        problems = []
        for file in json_files(path, "definitions", ".json"):
            try:
                definition = json.loads(read_text(file))
                if not isinstance(definition, dict) or "reference" not in definition:
                    continue
                name, source = str(definition["name"]), self.module_of(definition)
            except Mistake as mistake:
                print(f"warning: {file} is left out: {mistake}")
                continue
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                print(f"warning: {file} is left out: {type(error).__name__}: {error}")
                continue
            tags = ("flashinfer", str(definition.get("op_type", "")))
            problems.append(Problem(name, name, source, tags, "Model", (0, len(problems), ""), file))
        if not problems:
            raise Mistake(f"{path}: found no definition, expected definitions/**/*.json with a reference")
        return problems

    def module_of(self, definition: dict[str, Any]) -> str:
        """The reference as a module, with inputs of the definition's shapes and types."""
        workload = self.workloads.get(definition["name"], {})
        sizes = {
            name: axis["value"]
            if axis["type"] == "const"
            else self.axes.get(name, workload.get("axes", {}).get(name, self.axis))
            for name, axis in definition["axes"].items()
        }
        inputs = []
        for name, spec in definition["inputs"].items():
            given = workload.get("inputs", {}).get(name, {})
            if spec["shape"] is None:
                if given.get("type") != "scalar":
                    raise Mistake(f"input {name} is a number, and no workload gives it")
                inputs.append(repr(given["value"]))
            elif spec["dtype"] in FLOATS:
                shape = [sizes[axis] for axis in spec["shape"]]
                inputs.append(f"torch.randn({shape}).to(torch.{spec['dtype']})")
            else:
                raise Mistake(
                    f"input {name} is of {spec['dtype']}: its values mean something and cannot be drawn at random"
                )
        names = ", ".join(definition["inputs"])
        return "import torch\n" + definition["reference"] + MODULE.format(names=names, inputs=", ".join(inputs))
