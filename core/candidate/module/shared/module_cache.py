"""Compiled files that travel from the dry run to the process with the device.

They lie in Triton's cache and in a folder of built extensions, both in the working folder of the process.
"""

from __future__ import annotations

import base64
import contextlib
import os

BYTES_MAX = 16 << 20  # of all files together
TRITON = os.path.join(".triton", "cache")
EXTENSIONS = ".extensions"  # built extensions by key: KEY.so; refused ones: KEY.txt
FOLDERS = (TRITON, EXTENSIONS)


def compiled() -> dict[str, bytes]:
    """The files in these folders, by path, up to BYTES_MAX."""
    files: dict[str, bytes] = {}
    total = 0
    for folder, _, names in (part for top in FOLDERS for part in os.walk(top)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            with contextlib.suppress(OSError), open(path, "rb") as file:
                content = file.read(BYTES_MAX + 1)
                total += len(content)
                if total > BYTES_MAX:
                    return files
                files[path] = content
    return files


def keep(files: dict[str, bytes]) -> None:
    """Writes the files to this process' folders. Paths that lead elsewhere are left out."""
    for path, content in files.items():
        at = os.path.normpath(path)
        if not at.startswith(FOLDERS):
            continue
        os.makedirs(os.path.dirname(at), exist_ok=True)
        with open(at, "wb") as file:
            file.write(content)


def packed(files: dict[str, bytes]) -> dict[str, str]:
    """The files as JSON can hold them."""
    return {path: base64.b64encode(content).decode() for path, content in files.items()}


def unpacked(files: dict[str, str]) -> dict[str, bytes]:
    """The reverse of packed()."""
    return {path: base64.b64decode(content) for path, content in files.items()}
