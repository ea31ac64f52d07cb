"""`hone serve` on one journal, which can be restarted."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import socket
import subprocess
from pathlib import Path

from control import JOURNAL, Orders

START_S = 60.0
STOP_S = 90.0
CONFIG = """\
# What the harness serves: little is measured, leases outlast a server that is down.
server:
  lease_s: 600
  ended_lease_s: 600
  heartbeat_s: 2
  drain_s: 60
evaluate:
  builders: 1
  max_interval: 0
  build_seconds: 90
  measure: {round_ms: 0.5, pairs_min: 3, pairs_max: 3, seconds_max: 0.2, set_mb: 8, singles: 1}
log:
  level: info
"""


class ServerFailed(Exception):
    """It did not start, or did not end as it should."""


def free_port() -> int:
    """Below those that the kernel gives to connections: none may take it while its server is dead."""
    end = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for _ in range(1000):
        port = random.SystemRandom().randrange(min(10_000, end - 1), end)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise OSError(f"found no free port below {end}")


class Server:
    """One process at a time. `address`: where it listens; `prefix`: the command that runs it elsewhere."""

    def __init__(self, binary: Path, folder: Path, orders: Orders, network: Place) -> None:
        self.binary, self.folder, self.orders = binary, folder, orders
        self.journal = folder / JOURNAL
        self.log = folder / "serve.log"
        self.work = folder / "work"
        self.temporary = folder / "tmp"
        for each in (self.work, self.temporary):
            each.mkdir()
        config = folder / "chaos.yaml"
        config.write_text(CONFIG)
        reward = Path(__file__).with_name("reward.py")
        settings = {"journal.path": self.journal, "reward.name": reward, "isolation.workdir": self.work}
        self._command = [*network.prefix, str(binary), "serve", str(config), "--json"]
        self._command += ["--endpoint", network.server_endpoint, "--control", network.control_endpoint]
        for key, value in settings.items():
            self._command += ["--set", f"{key}={json.dumps(str(value))}"]
        if network.keys is not None:
            self._command += ["--keys", str(network.keys)]
        self.process: asyncio.subprocess.Process | None = None
        self.starts = 0

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.returncode is None

    async def spawn(self, *settings: str) -> None:
        self.orders.for_a_new_server()
        environment = {**os.environ, **self.orders.environment(), "TMPDIR": str(self.temporary)}
        # Rationale: a report ends the process with a status of its own, and the harness looks into the log besides.
        environment["TSAN_OPTIONS"] = f"halt_on_error=0:exitcode=66:log_path={self.folder / 'tsan'}"
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *self._command,
                *(word for one in settings for word in ("--set", one)),
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
                start_new_session=True,
            )
        self.starts += 1

    async def ready(self) -> bool:
        """False when it ended before."""
        assert self.process is not None
        assert self.process.stdout is not None
        try:
            line = await asyncio.wait_for(self.process.stdout.readline(), START_S)
        except asyncio.TimeoutError:
            raise ServerFailed(f"it does not serve within {START_S:.0f} s: {self.last_words()}") from None
        return line.endswith(b"\n")

    def kill(self) -> bool:
        """SIGKILL now; False when there is nothing left to kill."""
        if not self.running:
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
            return True
        return False

    async def ended(self, within_s: float) -> int | None:
        """Its exit status (negative: the signal), or None when it goes on."""
        assert self.process is not None
        try:
            return await asyncio.wait_for(asyncio.shield(self.process.wait()), max(within_s, 0.0))
        except asyncio.TimeoutError:
            return None

    async def stop(self) -> int:
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        status = await self.ended(STOP_S)
        if status is None:
            self.kill()
            await self.process.wait()
            raise ServerFailed(f"it does not stop within {STOP_S:.0f} s of SIGTERM: {self.last_words()}")
        return status

    def last_words(self, size: int = 2000) -> str:
        with self.log.open("rb") as log:
            log.seek(max(0, self.log.stat().st_size - size))
            return log.read().decode(errors="replace")

    def tsan_reports(self) -> list[str]:
        """Of races; that it finds no memory where a fault has taken it is no report."""
        texts = [path.read_text(errors="replace") for path in sorted(self.folder.glob("tsan.*"))]
        return [text[:4000] for text in texts if "WARNING: ThreadSanitizer" in text]


class Place:
    """Where a server listens and how clients get there; network.py makes one with a link to cut."""

    prefix: tuple[str, ...] = ()
    keys: Path | None = None
    key_files: tuple[Path, ...] = ()

    def __init__(self) -> None:
        self.port = free_port()
        self.address = "127.0.0.1"
        self.server_endpoint = f"tcp://127.0.0.1:{self.port}"
        self.control_endpoint = f"tcp://127.0.0.1:{free_port()}"

    @property
    def endpoint(self) -> str:
        return f"tcp://{self.address}:{self.port}"

    def set_link(self, up: bool) -> bool:
        """False where there is no link of our own."""
        del up
        return False

    def close(self) -> None:
        """Takes down what was made."""
