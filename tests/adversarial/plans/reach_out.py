"""Tries: finds files, sockets, variables and processes that are not its own.

Stopped by: the recording's sandbox is a builder's.
"""

import contextlib
import json
import os
import pathlib
import socket

FOUND = []
for path in (
    "/etc/passwd",
    "/etc/shadow",
    "/root",
    "/home",
    "/tmp",
    "/var",
    "/proc/1/environ",
    f"/proc/{os.getppid()}/mem",
):
    with contextlib.suppress(OSError):
        FOUND.append(os.listdir(path) if os.path.isdir(path) else pathlib.Path(path).read_bytes()[:64])
for family, kind, address in (
    (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 5917)),
    (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 5917)),
    (socket.AF_UNIX, socket.SOCK_STREAM, "\0hone"),
    (socket.AF_UNIX, socket.SOCK_DGRAM, "\0hone"),
):
    try:
        socket.socket(family, kind).connect(address)
        FOUND.append(address)
    except PermissionError:
        pass
    except OSError as error:
        FOUND.append(error)
for call, *arguments in ((os.kill, os.getppid(), 0), (os.setpriority, os.PRIO_PROCESS, 0, -5)):
    with contextlib.suppress(OSError):
        call(*arguments)
        FOUND.append(call.__name__)


def answer():
    return json.dumps({"problem": f"found {FOUND}" if FOUND else "nothing was found"}).encode() + b"\n"
