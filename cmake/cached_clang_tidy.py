#!/usr/bin/env python3
"""Caches successful runs of clang-tidy, as ccache caches compilations.

CMake calls it with the arguments of clang-tidy: PROGRAM [options] SOURCE -- COMPILER ARGUMENTS...
A successful run leaves an empty file in ~/.cache/hone/clang-tidy. Its name is a hash of the source with all that it
includes, the rules, the version and the arguments. Paths of this checkout are left out, so other checkouts have the
same hash.
"""

import contextlib
import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def key(arguments: list[str]) -> str:
    """The hash, or "" if preprocessing fails."""
    compiler = arguments[arguments.index("--") + 1 :]
    output = compiler.index("-o")
    wanted = [word for word in compiler[:output] + compiler[output + 2 :] if word != "-c"]
    # Not -E alone, which removes macros, their comments and inactive branches. clang-tidy sees all of them.
    text = subprocess.run([*wanted, "-E", "-frewrite-includes"], capture_output=True)
    versions = subprocess.run([arguments[0], "--version"], capture_output=True)
    if text.returncode != 0 or versions.returncode != 0:
        return ""
    digest = hashlib.sha256(versions.stdout + (ROOT / ".clang-tidy").read_bytes() + Path(__file__).read_bytes())
    for part in ("\0".join(arguments).encode(), text.stdout):
        digest.update(part.replace(bytes(ROOT), b""))
    return digest.hexdigest()


def main() -> int:
    arguments = sys.argv[1:]
    hashed = key(arguments)
    passed = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "hone/clang-tidy", hashed)
    with contextlib.suppress(OSError):
        if hashed and passed.is_file():
            return 0
    ran = subprocess.run(arguments)
    if ran.returncode == 0 and hashed:
        with contextlib.suppress(OSError):  # the cache only saves time
            passed.parent.mkdir(parents=True, exist_ok=True)
            passed.touch()
    return ran.returncode


if __name__ == "__main__":
    sys.exit(main())
