"""References: PyTorch modules that stand in no list, a JSON file each, called by the SHA-256 of what is in it."""

import hashlib
import json
import os
import re
from typing import Any, ClassVar

from hone_modules.dataset import ModuleDataset, task_of
from hone_modules.problems import Mistake, Problem, last_class, read_text

NAME = re.compile(r"[0-9a-f]{64}")


class Dataset:
    """PyTorch modules that somebody puts into a folder while a server runs: a gateway, for example"""

    version = "1.0.0"
    source = "written by whoever may write into the folder, and run as a dataset's code is"
    parameters: ClassVar[dict[str, dict[str, Any]]] = {
        "path": {"type": "str", "doc": "the folder of files SHA256.json: {source, entry}"},
        "split": {"default": "train", "doc": "the split that all tasks are of"},
    }

    def __init__(self, config: dict[str, Any]) -> None:
        self.path, self.split = config["path"], config["split"]
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
        if why := ModuleDataset.unfit(problem):
            raise Mistake(f"the reference cannot be made a task: {why}")
        return task_of(problem, self.split, exact=entry != "")
