"""Network faults: a proxy that cuts, stalls, delays and half-closes, and a link between two namespaces."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import socket
import subprocess
from pathlib import Path

from server import Place

CHUNK = 65536


class Proxy:
    """Forwards connections to one address until told to do otherwise."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._server: asyncio.AbstractServer | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self.delay_s = 0.0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    @property
    def endpoint(self) -> str:
        return f"tcp://127.0.0.1:{self.port}"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, sock=self._listener)

    def cut(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    def half_close(self) -> None:
        """Says that no more comes, and goes on listening: each side learns of it in its own time."""
        for writer in list(self._writers):
            with contextlib.suppress(OSError, RuntimeError):
                writer.write_eof()

    def stall(self) -> None:
        """From now on everything that is sent is kept: to both sides the other is silent."""
        self._flowing.clear()

    def recover(self, lossy: bool = False) -> None:
        """Ends every disturbance; `lossy`: what was kept is lost, with the connections that it was kept for."""
        self.delay_s = 0.0
        if lossy:
            self.cut()
        self._flowing.set()

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        self.cut()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection(self._host, self._port)
        except OSError:
            writer.transport.abort()
            return
        for source, sink in ((reader, far_writer), (far_reader, writer)):
            self._writers.add(sink)
            task = asyncio.create_task(self._pump(source, sink))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, RuntimeError):
            while data := await source.read(CHUNK):
                await self._flowing.wait()
                if self.delay_s > 0:
                    await asyncio.sleep(self.delay_s)
                sink.write(data)
                await sink.drain()
        self._writers.discard(sink)
        with contextlib.suppress(OSError, RuntimeError):
            sink.close()


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)


class Namespace(Place):
    """The server in a network namespace of its own, with keys, at the other end of a cable that can be pulled.

    Raises OSError or CalledProcessError where the machine does not allow it.
    """

    def __init__(self, binary: Path, folder: Path) -> None:
        super().__init__()
        if os.geteuid() != 0 or shutil.which("ip") is None or shutil.which("nsenter") is None:
            raise PermissionError("namespaces need root, ip and nsenter")
        number = os.getpid() % 60000
        self._name, self._near, self._far = f"hone-chaos-{number}", f"hc{number}n", f"hc{number}f"
        subnet = f"10.{200 + number // 256 % 50}.{number % 256}"
        self.address = f"{subnet}.2"
        self.server_endpoint = f"tcp://{self.address}:{self.port}"
        self.control_endpoint = f"tcp://{self.address}:{self.port + 1}"
        # Rationale: `ip netns exec` would mount another /sys, without the control groups.
        self.prefix = ("nsenter", f"--net=/run/netns/{self._name}")
        run("ip", "netns", "add", self._name)
        try:
            run("ip", "link", "add", self._near, "type", "veth", "peer", "name", self._far, "netns", self._name)
            run("ip", "addr", "add", f"{subnet}.1/24", "dev", self._near)
            run("ip", "link", "set", self._near, "up")
            run("ip", "-n", self._name, "addr", "add", f"{self.address}/24", "dev", self._far)
            run("ip", "-n", self._name, "link", "set", self._far, "up")
            run("ip", "-n", self._name, "link", "set", "lo", "up")
            self.keys = folder / "keys"
            names = [f"chaos{i}" for i in range(4)]
            for name in names:
                subprocess.run(
                    [str(binary), "keys", "new", name, "--keys", str(self.keys)],
                    check=True,
                    capture_output=True,
                    cwd=folder,
                )
            self.key_files = tuple(folder / f"{name}.key" for name in names)
        except BaseException:
            self.close()
            raise

    def set_link(self, up: bool) -> bool:
        run("ip", "link", "set", self._near, "up" if up else "down")
        return True

    def close(self) -> None:
        with contextlib.suppress(subprocess.CalledProcessError):
            run("ip", "netns", "del", self._name)  # takes the cable along
