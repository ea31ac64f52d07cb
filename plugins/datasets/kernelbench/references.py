"""References: unlisted PyTorch modules, one JSON file each, named by the SHA-256 of its content."""

import hashlib
import json
import os
import re
from typing import Any, ClassVar

from hone_modules.apart import SECONDS_MAX, NoAnswer, run_apart
from hone_modules.dataset import ModuleDataset, checked_slowdown, task_of
from hone_modules.problems import Late, LateTask, Mistake, Problem, UnfitTask, last_class, read_text, syntax_error

NAME = re.compile(r"[0-9a-f]{64}")
# Described once in this process, so that its forks have the modules that torch imports on the way.
SMALL = Problem(
    "small",
    "Small",
    "import torch\nclass Small(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.fc = torch.nn.Linear(2, 2)\n    def forward(self, x):\n        return self.fc(x)\n"
    "def get_inputs():\n    return [torch.rand(2, 2)]\n",
    (),
)


class Dataset:
    """PyTorch modules that somebody puts into a folder while a server runs: a gateway, for example"""

    version = "1.0.0"
    source = "written by whoever may write into the folder, and run as a dataset's code is"
    parameters: ClassVar[dict[str, dict[str, Any]]] = {
        "path": {"type": "str", "doc": "the folder of files SHA256.json: {source, entry}"},
        "split": {"default": "train", "doc": "the split that all tasks are of"},
        "describe_seconds": {
            "default": SECONDS_MAX,
            "range": [1, 3600],
            "doc": "time limit of one description (s); keep it below plugins.start_seconds",
        },
        "slowdown_max": ModuleDataset.parameters["slowdown_max"],
    }

    def __init__(self, config: dict[str, Any]) -> None:
        self.path, self.split, self.seconds = config["path"], config["split"], config["describe_seconds"]
        self.slowdown_max = checked_slowdown(config["slowdown_max"])
        self.warm = False
        if not os.path.isdir(self.path):
            raise Mistake(f"{self.path}: no such folder")

    def list_tasks(self) -> list[dict[str, Any]]:
        return []

    def get_task(self, task_id: str) -> dict[str, Any]:
        path = os.path.join(self.path, f"{task_id}.json")
        if not NAME.fullmatch(task_id) or not os.path.isfile(path):
            raise LookupError(task_id)
        text = read_text(path)
        if hashlib.sha256(text.encode()).hexdigest() != task_id:
            raise Mistake(f"{path}: what is in it is not what its name says")
        about = json.loads(text)
        source, entry = about["source"], about["entry"]
        problem = Problem(task_id, entry or last_class(source), source, ("reference",), entry)
        if why := syntax_error(source) or ModuleDataset.unfit(problem):
            raise UnfitTask(f"{task_id} cannot be made a task: {why}")
        if not self.warm:
            task_of(SMALL, self.split)
            self.warm = True
        try:
            task = run_apart(lambda: task_of(problem, self.split, exact=entry != ""), self.seconds)
            return {**task, "slowdown_max": self.slowdown_max}
        except NoAnswer as reason:
            raise UnfitTask(f"{task_id} cannot be made a task: {reason}") from None
        except Late as late:
            raise LateTask(f"{task_id} cannot be made a task: {late}") from None
