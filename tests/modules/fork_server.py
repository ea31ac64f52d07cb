"""Runs programs in forks of an interpreter that has imported torch, so that a test does not pay for the import.

    python -B fork_server.py SOCKET

Theory of operation. Each connection asks for one program (interpreter.py writes the request). A fork stays with the
connection and waits for a second fork, which takes over the request's descriptors, folder and variables and runs the
program as __main__. Triton and hone's own scripts are not imported here: they read variables that programs set.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import random
import runpy
import select
import signal
import socket
import sys
import traceback
import types
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # other threads would not survive a fork
# Not import statements, because a formatter removes those of unused modules.
for name in ("torch", "torch._subclasses.fake_tensor", "torch.fx.experimental.symbolic_shapes"):
    importlib.import_module(name)


def run(arguments: list[str]) -> None:
    """As `python FILE …` or `python -c CODE …`."""
    if arguments[0] == "-c":
        main = types.ModuleType("__main__")
        sys.modules["__main__"] = main
        sys.argv = ["-c", *arguments[2:]]
        exec(compile(arguments[1], "<string>", "exec"), main.__dict__)
        return
    sys.argv = arguments
    sys.path.insert(0, os.path.dirname(arguments[0]))
    runpy.run_path(arguments[0], run_name="__main__")


def status_of(request: dict[str, Any]) -> int:
    """The exit status of the program."""
    try:
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["variables"])
        folders = request["variables"].get("PYTHONPATH", "")
        sys.path[:0] = [folder for folder in folders.split(os.pathsep) if folder]
        random.seed()
        run(request["arguments"])
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return ended.code or 0
        print(ended.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def serve(connection: socket.socket) -> None:
    """In a fork: runs one program and reports its process, then its status."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    length, descriptors, _, _ = socket.recv_fds(connection, 8, 3)
    with connection.makefile("rb") as file:
        request = json.loads(file.read(int(length)))
    pid = os.fork()
    if pid == 0:
        connection.close()
        for standard, descriptor in enumerate(descriptors):
            os.dup2(descriptor, standard)
            os.close(descriptor)
        status = status_of(request)
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    for descriptor in descriptors:
        os.close(descriptor)
    connection.sendall(f"{pid}\n".encode())
    connection.sendall(f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n".encode())


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(sys.argv[1])
    listening.listen()
    gc.freeze()  # collections leave the imported modules alone, so forks share their memory
    print("ready", flush=True)
    sys.path.pop(0)  # this file's folder
    while select.select([listening, sys.stdin], [], [])[0] == [listening]:  # until the tests close its input
        connection, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            serve(connection)
            os._exit(0)
        connection.close()


if __name__ == "__main__":
    main()
