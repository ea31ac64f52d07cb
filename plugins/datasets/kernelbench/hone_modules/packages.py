"""Packages that a module's source imports and this interpreter does not have."""

import functools
import importlib.util
import re
import sys
from collections.abc import Iterable

from hone_modules.problems import Problem

# At the start of a line: an import that stands in a function or a `try` may never be reached.
IMPORT = re.compile(r"^(?:from\s+([A-Za-z]\w*)[\w.]*\s+import\b|import\s+([\w., \t]+))", re.MULTILINE)
# Packages that are installed by another name than they are imported by.
INSTALLED_AS = {
    "cv2": "opencv-python",
    "PIL": "pillow",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
SHOWN = 8  # problems


@functools.cache
def is_missing(package: str) -> bool:
    """Whether this interpreter cannot find the package."""
    try:
        return importlib.util.find_spec(package) is None
    except (ImportError, ValueError):
        return True


def missing_package(error: BaseException) -> str:
    """The package whose lack is this error; empty: it is another error."""
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return ""
    package = error.name.split(".")[0]
    return package if is_missing(package) else ""


def advice(package: str) -> str:
    """What to do about a package that is missing."""
    lacks = f"the package {package}, which {sys.executable} does not have"
    if package.startswith("_"):  # a file of the module's own repository, on no index
        return lacks
    return f"{lacks}: {sys.executable} -m pip install {INSTALLED_AS.get(package, package)}"


def imported(source: str) -> set[str]:
    """The packages that a source imports at its top level."""
    found = set()
    for one, several in IMPORT.findall(source):
        names = [one] if one else several.split(",")
        found |= {name.split()[0].split(".")[0] for name in names if name.strip()}
    return found


def missing_lines(problems: Iterable[Problem]) -> list[str]:
    """A line for each missing package, with the problems that need it. torch has a message of its own."""
    needed: dict[str, list[str]] = {}
    for problem in problems:
        for package in sorted(imported(problem.source) - {"torch"}):
            if is_missing(package):
                needed.setdefault(package, []).append(problem.id)
    lines = []
    for package, ids in sorted(needed.items()):
        who = f"{ids[0]} needs" if len(ids) == 1 else f"{len(ids)} problems need"
        named = ", ".join(ids[:SHOWN]) + (", …" if len(ids) > SHOWN else "")
        lines.append(f"{who} {advice(package)}" + (f" ({named})" if len(ids) > 1 else ""))
    return lines
