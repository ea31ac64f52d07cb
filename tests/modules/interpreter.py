"""Runs programs with the interpreter that has torch, in forks of one process (fork_server.py)."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

SERVER = Path(__file__).resolve().parent / "fork_server.py"


class Interpreter:
    """One fork server, which ends with close()."""

    def __init__(self, python: str) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="hone-fork-server-")
        self.socket = f"{self.folder.name}/socket"
        self.server = subprocess.Popen(
            [python, "-B", SERVER, self.socket], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        ready = self.server.stdout and self.server.stdout.readline()
        assert ready == b"ready\n", "the fork server did not start"

    def run(
        self,
        *arguments: str | Path,
        given: str = "",
        timeout: float,
        variables: Mapping[str, str] | None = None,
        folder: str | Path = "",
    ) -> subprocess.CompletedProcess[str]:
        """Like subprocess.run([python, *arguments], input=given, …). `arguments` begin with a file, or -c and code."""
        request = {
            "arguments": [str(word) for word in arguments],
            "variables": dict(os.environ if variables is None else variables),
            "folder": str(folder or os.getcwd()),
        }
        text = json.dumps(request).encode()
        with (
            tempfile.TemporaryFile() as read,
            tempfile.TemporaryFile() as output,
            tempfile.TemporaryFile() as errors,
            socket.socket(socket.AF_UNIX) as connection,
        ):
            read.write(given.encode())
            read.seek(0)
            connection.settimeout(timeout)
            connection.connect(self.socket)
            socket.send_fds(connection, [f"{len(text):8}".encode()], [file.fileno() for file in (read, output, errors)])
            connection.sendall(text)
            connection.shutdown(socket.SHUT_WR)
            with connection.makefile("r") as answer:
                pid = int(answer.readline())
                try:
                    status = int(answer.readline())
                except TimeoutError:
                    os.kill(pid, 9)
                    raise
            output.seek(0)
            errors.seek(0)
            return subprocess.CompletedProcess(
                request["arguments"], status, output.read().decode(), errors.read().decode()
            )

    def close(self) -> None:
        self.server.communicate()
        self.folder.cleanup()
