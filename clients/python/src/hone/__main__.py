"""``python -m hone``: the server's commands, if the package has them, and ``mcp``.

Without arguments it prints the first commands. ``mcp`` is a part of the client: an MCP server for
agents.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from . import __version__

__all__ = [
    "main",
    "welcome",
]

SERVER = Path(__file__).parent / "_server" / "hone"


def main() -> None:
    """Replaces this process with the server's program, or prints how to get it."""
    arguments = sys.argv[1:]
    if not arguments:
        print(welcome())
        return
    if arguments[0] == "mcp":
        serve_agents(arguments[1:])
        return
    if not SERVER.exists():
        print(
            f"hone {__version__}: this is the client alone, and has no {arguments[0]!r}\n"
            "  a wheel with the server: scripts/wheel, in a checkout of hone",
            file=sys.stderr,
        )
        sys.exit(2)
    os.execv(SERVER, [str(SERVER), *arguments])


def serve_agents(arguments: list[str]) -> None:
    """``python -m hone mcp``: hone.adapters.mcp, if the MCP SDK is installed."""
    try:
        from .adapters import mcp
    except ImportError as error:
        print(f"hone mcp: {error}", file=sys.stderr)
        sys.exit(2)
    mcp.main(arguments)


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
agents: python -m hone mcp"""


if __name__ == "__main__":
    main()
