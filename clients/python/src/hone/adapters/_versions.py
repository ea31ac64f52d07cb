"""Checks the version of a trainer, with an error of one line."""

from __future__ import annotations

import re
from importlib import metadata


def require(adapter: str, distribution: str, at_least: str, below: str) -> None:
    """Checks that a trainer is installed in a supported version.

    Args:
        adapter: The adapter's module, such as ``"hone.adapters.trl"``.
        distribution: The trainer's name on PyPI.
        at_least: The first supported version.
        below: The first version after it that is not supported.

    Raises:
        ImportError: It is missing, or another version; one line says which are supported.
    """
    wanted = f"{adapter} supports {distribution} >= {at_least}, < {below}"
    get_it = f"pip install '{distribution}>={at_least},<{below}'"
    try:
        found = metadata.version(distribution)
    except metadata.PackageNotFoundError:
        message = f"{wanted}; found none: {get_it}"
        raise ModuleNotFoundError(message, name=distribution) from None
    if not numbers(at_least) <= numbers(found) < numbers(below):
        raise ImportError(f"{wanted}; found {found}: {get_it}", name=distribution)


def numbers(version: str) -> tuple[int, ...]:
    """The release numbers of a version: ``(1, 16, 0)`` for ``"1.16.0.dev1+cpu"``."""
    release = re.match(r"\d+(?:\.\d+)*", version)
    return tuple(int(part) for part in release.group().split(".")) if release else ()
