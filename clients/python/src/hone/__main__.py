"""``python -m hone``: the server's commands, if the package has them, ``mcp`` and ``openenv``.

Without arguments it prints the first commands. ``mcp`` and ``openenv`` are parts of the client: an
MCP server for agents, and a server of OpenEnv's protocol.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

from . import __version__

__all__ = [
    "main",
    "welcome",
]

SERVER = Path(__file__).parent / "_server" / "hone"
#: Commands that the client itself runs: modules of hone.adapters.
ADAPTERS = ("mcp", "openenv")


def main() -> None:
    """Replaces this process with the server's program, or prints how to get it."""
    arguments = sys.argv[1:]
    if not arguments:
        print(welcome())
        return
    if arguments[0] in ADAPTERS:
        serve(arguments[0], arguments[1:])
        return
    if not SERVER.exists():
        print(
            f"hone {__version__}: this is the client alone, and has no {arguments[0]!r}\n"
            "  a wheel with the server: scripts/wheel, in a checkout of hone",
            file=sys.stderr,
        )
        sys.exit(2)
    os.execv(SERVER, [str(SERVER), *arguments])


def serve(adapter: str, arguments: list[str]) -> None:
    """Runs an adapter's command, if the package that it needs is installed."""
    try:
        module = importlib.import_module(f"hone.adapters.{adapter}")
    except ImportError as error:
        print(f"hone {adapter}: {error}", file=sys.stderr)
        sys.exit(2)
    module.main(arguments)


def welcome() -> str:
    """The version and the first commands."""
    if SERVER.exists():
        start = "python -m hone serve        (python -m hone --help lists the other commands)"
    else:
        start = "hone serve                 (built by ./scripts/demo: build/release/hone serve)"
    return f"""hone {__version__}, the Python client{" and the server" if SERVER.exists() else ""}

Start a server:   {start}
Then, in Python:  import hone
                  with hone.connect("tcp://127.0.0.1:5917") as client:
                      start = client.reset("add_relu")
                      result = start.episode.step(source_of_a_kernel)
                      print(result.reward, result.observation["feedback"])

asyncio: hone.aio  many episodes: hone.vector, hone.pool  Gymnasium: hone.gym
agents: python -m hone mcp  OpenEnv: python -m hone openenv"""


if __name__ == "__main__":
    main()
