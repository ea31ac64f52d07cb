"""Packages that a module's source imports and that this interpreter does not have."""

import ast
import functools
import importlib.util
import re
import sys
from collections.abc import Iterable

from hone_modules.problems import Problem

# Only at the start of a line: an import in a function or a `try` may never run.
IMPORT = re.compile(r"^(?:from\s+([A-Za-z]\w*)[\w.]*\s+import\b|import\s+([\w., \t]+))", re.MULTILINE)
# Packages with a different name for pip.
INSTALLED_AS = {
    "cv2": "opencv-python",
    "PIL": "pillow",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
# Modules of torch that import a package which torch does not require.
NEEDED_BY = {"torch.utils.tensorboard": "tensorboard"}
IMPORTED = re.compile(r"^(?:from|import)\s+([A-Za-z][\w.]*)", re.MULTILINE)
SHOWN = 8  # problems


@functools.cache
def is_missing(package: str) -> bool:
    """Whether this interpreter cannot find the package."""
    try:
        return importlib.util.find_spec(package) is None
    except (ImportError, ValueError):
        return True


def missing_package(error: BaseException) -> str:
    """The missing package that causes this error; "" for other errors."""
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return ""
    package = error.name.split(".")[0]
    return package if is_missing(package) else ""


def advice(package: str) -> str:
    """Names a missing package and the command to install it."""
    lacks = f"the package {package}, which {sys.executable} does not have"
    if package.startswith("_"):  # a file of the module's own repository: pip cannot install it
        return lacks
    extra = " (or scripts/setup --python --level4, for build/python)" if package == "transformers" else ""
    return f"{lacks}: {sys.executable} -m pip install {INSTALLED_AS.get(package, package)}{extra}"


def imported(source: str) -> set[str]:
    """The packages that a source imports at its top level."""
    found = set()
    for one, several in IMPORT.findall(source):
        names = [one] if one else several.split(",")
        found |= {name.split()[0].split(".")[0] for name in names if name.strip()}
    return found


def needs(module: str) -> str:
    """The missing package that an import of `module` needs, or ""."""
    package = next((needed for name, needed in NEEDED_BY.items() if f"{module}.".startswith(f"{name}.")), "")
    package = package or module.split(".")[0]
    return package if is_missing(package) else ""


def without_unused(source: str) -> str:
    """The source without top-level imports that fail here and whose names it does not use.

    Lines keep their numbers. A source that Python cannot parse is returned unchanged.
    """
    if not missing_imports(source):
        return source
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return source
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    lines = source.split("\n")
    for node in tree.body:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        kept = [alias for alias in node.names if alias_is_used(node, alias, used)]
        if len(kept) == len(node.names):
            continue
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        if ";" in lines[last] or ";" in lines[first]:  # other statements share its lines
            continue
        node.names = kept
        lines[first] = ast.unparse(node) if kept else "# left out: an import that fails and is not used"
        lines[first + 1 : last + 1] = [""] * (last - first)
    return "\n".join(lines)


def alias_is_used(node: ast.Import | ast.ImportFrom, alias: ast.alias, used: set[str]) -> bool:
    """Whether to keep an import: it does not fail, or the source may use the name that it binds."""
    if isinstance(node, ast.ImportFrom):
        fails = node.level == 0 and bool(needs(node.module or ""))
    else:
        fails = bool(needs(alias.name))
    return not fails or alias.name == "*" or (alias.asname or alias.name.split(".")[0]) in used


def missing_imports(source: str) -> set[str]:
    """The missing packages of top-level imports, without torch, which has its own message."""
    modules = imported(source) | set(IMPORTED.findall(source))
    return {package for module in modules if (package := needs(module))} - {"torch"}


def missing_lines(problems: Iterable[Problem]) -> list[str]:
    """A line for each missing package with the problems that need it, without torch, which has its own message."""
    needed: dict[str, list[str]] = {}
    for problem in problems:
        missing = missing_imports(problem.source)
        for package in sorted(missing and missing_imports(without_unused(problem.source))):
            needed.setdefault(package, []).append(problem.id)
    lines = []
    for package, ids in sorted(needed.items()):
        who = f"{ids[0]} needs" if len(ids) == 1 else f"{len(ids)} problems need"
        named = ", ".join(ids[:SHOWN]) + (", …" if len(ids) > SHOWN else "")
        lines.append(f"{who} {advice(package)}" + (f" ({named})" if len(ids) > 1 else ""))
    return lines
