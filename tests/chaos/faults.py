"""Faults that are injected into a serving server, and their removal."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
from collections import Counter
from pathlib import Path

from control import Orders
from model import Model
from network import Proxy
from plan import Fault
from processes import victims
from server import Place, Server

SPARE_BYTES = 1 << 20  # what a process that is short of memory may still take


def address_space(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize()


class Faults:
    """Makes the plan's faults; `done` counts those that came about, `fatal` tells that the server may end of one."""

    def __init__(self, orders: Orders, place: Place, proxies: list[Proxy], model: Model) -> None:
        self.orders, self.place, self.proxies, self.model = orders, place, proxies, model
        self.done: Counter[str] = Counter()
        self.fatal = False
        self._killed: Counter[str] = Counter()  # of this server: a step's again and again is the submission's doing

    def for_a_new_server(self) -> None:
        self.fatal = False
        self._killed.clear()

    async def make(self, fault: Fault, server: Server) -> None:
        await asyncio.sleep(fault.at_s)
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):
            if fault.kind == "helper":
                await self.kill_helper(fault, server)
            elif fault.kind == "clock":
                self.orders["clock_offset_s"] = fault.number
                self.done["clock steps"] += 1
            elif fault.kind == "memory":
                await self.short_of_memory(fault, server)
            elif fault.kind == "disk":
                await self.spoil_disk(fault)
            else:
                await self.spoil_network(fault)

    async def kill_helper(self, fault: Fault, server: Server) -> None:
        """The first one that is seen within the fault's time: compilers come and go."""
        if fault.what in ("candidate", "builder", "compiler") and self._killed[fault.what] > 0:
            return
        loop = asyncio.get_running_loop()
        end = loop.time() + fault.for_s
        while server.running:
            found = victims(server.pid, fault.what)
            if found:
                if fault.what == "launcher":
                    self.fatal = True
                self._killed[fault.what] += 1
                self.model.note_fault()
                os.kill(found[fault.number % len(found)].pid, signal.SIGKILL)
                self.done[f"{fault.what}s"] += 1
                return
            if loop.time() > end:
                return
            await asyncio.sleep(0.02)

    async def short_of_memory(self, fault: Fault, server: Server) -> None:
        pids = [server.pid] if fault.what == "server" else [one.pid for one in victims(server.pid, "launcher")]
        for pid in pids:
            before = resource.prlimit(pid, resource.RLIMIT_AS)
            self.model.note_fault()
            self.fatal = True
            resource.prlimit(pid, resource.RLIMIT_AS, (address_space(pid) + SPARE_BYTES, before[1]))
            self.done["memory short"] += 1
            try:
                await asyncio.sleep(fault.for_s)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    resource.prlimit(pid, resource.RLIMIT_AS, before)

    async def spoil_disk(self, fault: Fault) -> None:
        if fault.what == "sync fails":
            self.orders["sync_fails"] = 1
            self.done["failed syncs"] += 1
            return
        self.orders["disk_full"] = 1
        self.done["full disks"] += 1
        try:
            await asyncio.sleep(fault.for_s)
        finally:
            self.orders["disk_full"] = 0

    async def spoil_network(self, fault: Fault) -> None:
        self.done["network"] += 1
        proxy = self.proxies[fault.number % len(self.proxies)]
        if fault.what == "link" and self.place.set_link(False):
            try:
                await asyncio.sleep(fault.for_s)
            finally:
                self.place.set_link(True)
        elif fault.what == "half-close":
            proxy.half_close()
        elif fault.what == "delay":
            proxy.delay_s = 0.02
            await asyncio.sleep(fault.for_s)
            proxy.recover()
        elif fault.what == "stall":
            proxy.stall()
            try:
                await asyncio.sleep(fault.for_s)
            finally:
                proxy.recover(lossy=fault.number % 2 == 1)
        else:
            proxy.cut()

    def undo(self) -> None:
        """Whatever was under way when its server ended."""
        self.orders["disk_full"] = self.orders["sync_fails"] = 0
        for proxy in self.proxies:
            proxy.recover()
