"""Makes the artifact of a Python module: its source and the task's files. Prints syntax errors like a compiler.

    python -I -S build_module.py SUBMISSION SUPPORT…   in the folder of these files; writes artifact.so

Runs in the builder's sandbox. No code of the submission runs here.
"""

from __future__ import annotations

import ast
import json
import sys
import warnings

ENTRIES = ("ModelNew", "triton_kernel_wrapper")


def names_of(body: list[ast.stmt]) -> list[str]:
    """The names that the top level of a module defines, conditional definitions included."""
    names: list[str] = []
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            names.append(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names += [alias.asname or alias.name for alias in node.names]
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names += [target.id for target in targets if isinstance(target, ast.Name)]
        for part in ("body", "orelse", "finalbody", "handlers"):
            if not isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                names += names_of(getattr(node, part, []))
    return names


def main() -> int:
    warnings.simplefilter("ignore")  # a source may cause thousands
    name, *support = sys.argv[1:]
    with open(name, "rb") as file:
        content = file.read()
    try:
        source = content.decode("utf-8-sig")
        tree = ast.parse(source, name)
        compile(tree, name, "exec", dont_inherit=True)  # finds errors that the parser does not
    except (SyntaxError, UnicodeDecodeError, ValueError, RecursionError, MemoryError) as error:
        line, column = getattr(error, "lineno", None) or 1, getattr(error, "offset", None) or 1
        words = getattr(error, "msg", None) or str(error) or "it is nested too deeply"
        print(f"{name}:{line}:{column}: error: {words}")
        return 1
    names = names_of(tree.body)
    if name == "submission.py" and not set(ENTRIES) & set(names):
        found = ", ".join(names) or "nothing"
        print(f"{name}:1:1: error: expected a class ModelNew or a function triton_kernel_wrapper, found {found}")
        return 1
    files = {}
    for path in support:
        with open(path, encoding="utf-8") as file:
            files[path] = file.read()
    with open("artifact.so", "w", encoding="utf-8") as file:
        json.dump({"name": name, "source": source, "support": files}, file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
