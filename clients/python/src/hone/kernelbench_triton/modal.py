"""Runs a script that calls the KernelBench Triton pipeline's functions on Modal, unchanged.

    python -m hone.kernelbench_triton.modal SCRIPT [ARGUMENTS]

In the script ``import modal`` is this module, and ``import modal_app`` is
``hone.kernelbench_triton``; the gateway is the one of ``HONE_GATEWAY``.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import runpy
import sys
from collections.abc import Iterator
from typing import Any

from hone import kernelbench_triton as bench
from hone.errors import InvalidArgument

FUNCTIONS = ("benchmark_batch", "benchmark_kernelbench", "benchmark_triton_kernel")


class Function:
    """Stands in for ``modal.Function``, which finds deployed functions."""

    @staticmethod
    def from_name(app_name: str, name: str, **_: object) -> Any:  # noqa: ANN401 - one of three
        """Finds a function of the pipeline by its name; ``app_name`` is ignored.

        Raises:
            InvalidArgument: The pipeline has no function of that name.
        """
        if name not in FUNCTIONS:
            raise InvalidArgument(
                f"modal.Function.from_name: found {name!r}, expected one of {', '.join(FUNCTIONS)}"
            )
        return getattr(bench, name)

    lookup = from_name


@contextlib.contextmanager
def enable_output(*_: object, **__: object) -> Iterator[None]:
    """Does nothing: there is no build output to show."""
    yield


def __getattr__(name: str) -> Any:  # noqa: ANN401 - never returns
    raise AttributeError(
        f"found modal.{name}, expected modal.Function.from_name or modal.enable_output: "
        "hone runs scripts that call the pipeline's functions, not scripts that deploy them"
    )


def main(arguments: list[str]) -> None:
    """Runs the script as the main program.

    Args:
        arguments: The script's path and its arguments.
    """
    if not arguments or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    sys.modules["modal"] = importlib.import_module("hone.kernelbench_triton.modal")
    sys.modules["modal_app"] = bench
    sys.argv = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
    runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])

__all__ = ["Function", "enable_output", "main"]
