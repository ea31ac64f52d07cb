"""Keeps tasks in a folder, so that later processes need no description. Importing torch alone takes seconds."""

import ast
import functools
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import pwd
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any

NONE = "none"  # the option's value for: keep nothing
FILES_MAX = 20_000  # about 10 KB each
# A source that imports more may depend on things that the key does not have, such as files or other packages.
IMPORTS = frozenset(
    [
        "__future__",
        "abc",
        "collections",
        "copy",
        "dataclasses",
        "enum",
        "functools",
        "itertools",
        "math",
        "numbers",
        "numpy",
        "operator",
        "random",
        "torch",
        "typing",
        "warnings",
    ]
)


def default_folder() -> str:
    """Of the user that runs this process, whose environment has no $HOME."""
    return os.path.join(pwd.getpwuid(os.geteuid()).pw_dir, ".cache/hone/tasks")


@functools.cache
def describer() -> str:
    """What describes tasks here: this package, Python, and torch and numpy with their versions and files."""
    digest = hashlib.sha256(sys.version.encode())
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    for package in ("torch", "numpy"):
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.origin:
            found = os.stat(spec.origin)
            version = importlib.metadata.version(package)
            digest.update(f"{package} {version} {spec.origin} {found.st_mtime_ns} {found.st_size}".encode())
    return digest.hexdigest()


def may_be_kept(source: str) -> bool:
    """Whether a task follows from the source and describer() alone, as far as its imports tell."""
    names: set[str] = set()
    try:
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add((node.module or "").split(".")[0])
    except (SyntaxError, ValueError, RecursionError):
        return False
    return names <= IMPORTS and "__import__" not in source and "open(" not in source


class KeptTasks:
    """Tasks by what they were made of. If one cannot be read or written, it is described as without a folder."""

    def __init__(self, folder: str) -> None:
        self.folder = "" if folder == NONE else folder or default_folder()
        try:
            why = self.folder and self.unsafe()
        except OSError as error:  # such as that of a user without a home
            self.folder, why = "", folder and f"{folder}: {error.strerror}"
        if why:
            print(f"warning: kept_tasks: {why}; tasks are described anew at each start")
            self.folder = ""

    def unsafe(self) -> str:
        """Why others could put tasks into the folder, or "". Makes the folder."""
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        found = os.stat(self.folder)
        if found.st_uid != os.geteuid():
            return f"{self.folder}: found the owner {found.st_uid}, expected {os.geteuid()}, this process' user"
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return (
                f"{self.folder}: other users can write to it: found mode {stat.S_IMODE(found.st_mode):o}, expected 700"
            )
        return ""

    def path(self, made_of: dict[str, Any]) -> str:
        """The file of a task, or "" if it is not kept. `made_of` has its "source"."""
        if not self.folder or not may_be_kept(made_of["source"]):
            return ""
        key = json.dumps([describer(), made_of], sort_keys=True)
        return os.path.join(self.folder, f"{hashlib.sha256(key.encode()).hexdigest()}.json")

    def read(self, path: str) -> dict[str, Any] | None:
        try:
            with open(path, encoding="utf-8") as file:
                task = json.load(file)
        except (OSError, ValueError):
            return None
        return task if isinstance(task, dict) else None

    def write(self, path: str, task: dict[str, Any]) -> None:
        """Writes all of it or nothing."""
        try:
            self.make_room()
            with tempfile.NamedTemporaryFile("w", dir=self.folder, encoding="utf-8", delete=False) as file:
                json.dump(task, file)
            os.replace(file.name, path)
        except OSError as error:
            print(f"warning: {path}: {error.strerror}; tasks are described anew at each start")
            self.folder = ""

    def make_room(self) -> None:
        """Deletes the oldest tenth of the tasks if there are too many."""
        files = list(os.scandir(self.folder))
        if len(files) < FILES_MAX:
            return
        for file in sorted(files, key=lambda file: file.stat().st_mtime)[: FILES_MAX // 10]:
            os.unlink(file.path)
