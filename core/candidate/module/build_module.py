"""Makes an artifact of a Python module: whether it parses, with the words of a compiler, and all that running it needs.

    python -I -S build_module.py SUBMISSION SUPPORT…   in the folder of these files; leaves artifact.so

Runs in the builder's jail. Nothing of the submission is run here.
"""

import ast
import json
import sys

ENTRIES = ("ModelNew", "triton_kernel_wrapper")


def main() -> int:
    name, *support = sys.argv[1:]
    with open(name, "rb") as file:
        content = file.read()
    try:
        source = content.decode("utf-8")
        tree = ast.parse(source, name)
    except (SyntaxError, UnicodeDecodeError, ValueError, RecursionError, MemoryError) as error:
        line, column = getattr(error, "lineno", None) or 1, getattr(error, "offset", None) or 1
        print(f"{name}:{line}:{column}: error: {getattr(error, 'msg', None) or error}")
        return 1
    names = [node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))]
    names += [
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    if name == "submission.py" and not set(ENTRIES) & set(names):
        found = ", ".join(names) or "nothing"
        print(f"{name}:1:1: error: expected a class ModelNew or a function triton_kernel_wrapper, found {found}")
        return 1
    files = {}
    for path in support:
        with open(path, encoding="utf-8") as file:
            files[path] = file.read()
    with open("artifact.so", "w", encoding="utf-8") as file:
        json.dump({"hone_module": 1, "name": name, "source": source, "support": files}, file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
