"""Reads what a program writes to a pseudo-terminal."""

import os


def read_terminal(descriptor: int) -> bytes:
    """All bytes until no process has the other end open. Closes the descriptor."""
    said = b""
    try:
        while part := os.read(descriptor, 1 << 16):
            said += part
    except OSError:  # the other end has closed
        pass
    os.close(descriptor)
    return said
