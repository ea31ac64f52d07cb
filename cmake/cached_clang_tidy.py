#!/usr/bin/env python3
"""Runs clang-tidy, unless it has passed the same text before: what ccache does for compilers.

CMake calls it with the arguments of clang-tidy: PROGRAM [options] SOURCE -- COMPILER ARGUMENTS...
A pass is an empty file in ~/.cache/hone/clang-tidy. Its name is the hash of the preprocessed source with its comments,
the rules, the version and the arguments. Paths of this checkout are left out, so other checkouts have the same hash.
Preprocessing takes 2 % of clang-tidy's time.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def key(arguments: list[str]) -> str:
    """The hash, or "" if the source cannot be preprocessed."""
    compiler = arguments[arguments.index("--") + 1 :]
    output = compiler.index("-o")
    wanted = [word for word in compiler[:output] + compiler[output + 2 :] if word != "-c"]
    text = subprocess.run([*wanted, "-E", "-C"], capture_output=True)
    versions = subprocess.run([arguments[0], "--version"], capture_output=True)
    if text.returncode != 0 or versions.returncode != 0:
        return ""
    digest = hashlib.sha256(versions.stdout + (ROOT / ".clang-tidy").read_bytes() + Path(__file__).read_bytes())
    for part in ("\0".join(arguments).encode(), text.stdout):
        digest.update(part.replace(bytes(ROOT), b""))
    return digest.hexdigest()


def main() -> int:
    arguments = sys.argv[1:]
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "hone/clang-tidy")
    hashed = key(arguments)
    if hashed and (folder / hashed).exists():
        return 0
    ran = subprocess.run(arguments)
    if ran.returncode == 0 and hashed:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / hashed).touch()
    return ran.returncode


if __name__ == "__main__":
    sys.exit(main())
