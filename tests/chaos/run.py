"""One run: clients, a server that is started and killed in rounds, then the final comparison."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from clients import STUCK_S, Player, Pulse
from control import Orders
from faults import Faults
from leases import Silence
from model import Model
from network import Namespace, Proxy
from plan import Round, draw_round
from processes import GONE_WITHIN_S, Remains
from server import Place, Server, ServerFailed
from verify import Verification

PROXIES = 4
PROXIED = 4  # one of this number of clients uses a proxy
LONGEST_LIFE_S = 1.5  # of a server that waits for a count that does not come
SELF_END_S = 15.0  # for a server whose launcher is gone to notice
FINISHED_AT_END = 200  # episodes left open that go on at the end, and ended ones that are asked again
KILLED = -9


@dataclass(frozen=True)
class Settings:
    binary: Path
    folder: Path
    seed: int
    kills: int
    clients: int
    seconds: float | None
    network: str
    sabotage: str | None


class Chaos:
    """Made once and run once; afterwards `model`, `faults`, `ends` and `kills` say how it went."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.model, self.pulse, self.remains = Model(), Pulse(), Remains()
        self.orders = Orders(settings.folder)
        self.place = self._place()
        self.server = Server(settings.binary, settings.folder, self.orders, self.place)
        self.proxies = [Proxy(self.place.address, self.place.port) for _ in range(PROXIES)]
        self.faults = Faults(self.orders, self.place, self.proxies, self.model)
        self.silence = Silence(
            self.server, self.orders, self.model, settings.seed, settings.sabotage == "step-monotonic"
        )
        self.ends: Counter[str] = Counter()
        self.kills = 0
        self.stop = asyncio.Event()
        heavy = asyncio.Semaphore(4)
        self.players = [self._player(index, heavy) for index in range(settings.clients)]

    def _place(self) -> Place:
        if self.settings.network == "proxy":
            return Place()
        try:
            return Namespace(self.settings.binary, self.settings.folder)
        except (OSError, subprocess.CalledProcessError) as error:
            if self.settings.network == "namespaces":
                raise
            print(f"no namespaces here ({error}): the network is cut by proxies alone", file=sys.stderr)
            return Place()

    def _player(self, index: int, heavy: asyncio.Semaphore) -> Player:
        proxied = index % PROXIED == 0
        endpoint = self.proxies[index // PROXIED % PROXIES].endpoint if proxied else self.place.endpoint
        files = self.place.key_files
        key = files[index % len(files)] if files else None
        return Player(index, self.settings.seed, self.model, self.pulse, heavy, endpoint, key)

    async def run(self) -> None:
        try:
            for proxy in self.proxies:
                await proxy.start()
            playing = [asyncio.create_task(self._play(player)) for player in self.players]
            try:
                await self._rounds()
                if not self.model.violations:
                    await self._finish(playing)
            finally:
                for task in playing:
                    task.cancel()
                await asyncio.gather(*playing, return_exceptions=True)
                await asyncio.gather(*(player.close() for player in self.players), return_exceptions=True)
                if self.server.running:
                    self.server.kill()
                    await self.server.ended(10)
            self._spoil_journal()
            Verification(self.settings.binary, self.server.journal, self.model).run()
            if not self.model.violations:  # what a run that broke off leaves says nothing
                await self._nothing_left()
        finally:
            for proxy in self.proxies:
                await proxy.close()
            self.place.close()
            self.remains.end_all(set())

    async def _play(self, player: Player) -> None:
        try:
            await player.play(self.stop)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            if "is lost:" in str(error) or "unknown episode" in str(error):
                self.model.lost += 1
            self.model.violate(f"client {player.index}, {player.doing}: {type(error).__name__}: {error}")

    async def _rounds(self) -> None:
        started, number = time.monotonic(), 0
        end = None if self.settings.seconds is None else started + self.settings.seconds
        while self.kills < self.settings.kills and (end is None or time.monotonic() < end):
            try:
                await self._live(draw_round(self.settings.seed, number))
            except ServerFailed as error:
                self.model.violate(str(error))
            if self.model.violations:
                return
            number += 1
            if number % 25 == 0:
                print(
                    f"{self.kills} kills, {self.model.steps} steps, {self.model.masked} masked, "
                    f"{time.monotonic() - started:.0f} s",
                    file=sys.stderr,
                    flush=True,
                )

    def _arm(self, plan: Round) -> None:
        orders = self.orders
        orders["power_loss"], orders["seed"] = int(plan.power_loss), plan.number + self.settings.seed
        if plan.end in ("send", "ack"):
            self.pulse.arm(plan.end, plan.count, self.server.kill)
        elif plan.end in ("before sync", "after sync"):
            orders[f"die_{plan.end.replace(' ', '_')}"] = orders["syncs"] + plan.count
        elif plan.end == "in write":
            orders["die_in_write"] = orders["writes"] + plan.count
        if self.settings.sabotage == "lose-write":
            orders["lose_write"] = orders["writes"] + 60
        if self.settings.sabotage == "no-sync":
            orders["lie_about_sync"] = orders["power_loss"] = 1

    async def _live(self, plan: Round) -> None:
        """A server's start, life and end."""
        server = self.server
        self.faults.for_a_new_server()
        await server.spawn()
        if plan.end == "starting":
            status = await server.ended(plan.after_s)
        else:
            serves = await server.ready()
            status = None if serves else await server.ended(10)
            self.remains.note_launchers(server.pid)
        making = []
        if status is None and plan.end != "starting":
            self._arm(plan)
            making = [asyncio.create_task(self.faults.make(fault, server)) for fault in plan.faults]
            status = await server.ended(plan.after_s if plan.end == "delay" else LONGEST_LIFE_S)
            if status is None and self.settings.sabotage == "lose-write":
                await self._lose_a_write()
        self.pulse.disarm()
        if status is None and self.faults.done and self.faults.fatal and plan.wait_for_the_dead:
            status = await server.ended(SELF_END_S)  # one that lost its launcher ends by itself
        if status is None:
            server.kill()
            status = await server.ended(10)
        for task in making:
            task.cancel()
        await asyncio.gather(*making, return_exceptions=True)
        self.faults.undo()
        self._reckon(plan, status)
        if plan.wait_for_the_dead:
            await self._wait_for_the_dead()
        for overdue in self.remains.overdue(set()):
            self.model.violate(overdue)

    async def _lose_a_write(self) -> None:
        """Waits until the server has lost the armed write and has acknowledged a turn that began after it."""
        end = time.monotonic() + STUCK_S

        def goes_on() -> bool:
            return self.server.running and time.monotonic() < end

        while goes_on() and self.orders["lose_write"] != 0:
            await asyncio.sleep(0.02)
        # A client has at most one turn under way, so the last of len(players) + 1 further turns began after the loss.
        enough = self.model.steps + len(self.players) + 1
        while goes_on() and self.model.steps < enough:
            await asyncio.sleep(0.02)

    def _reckon(self, plan: Round, status: int | None) -> None:
        if status == KILLED:
            self.kills += 1
            self.ends[plan.end] += 1
        elif self.faults.fatal:
            self.ends["by itself, its launcher or memory taken"] += 1
        else:
            self.model.violate(f"the server ended by itself with {status}: {self.server.last_words()}")
        for report in self.server.tsan_reports():
            self.model.violate(f"thread sanitizer: {report}")

    async def _wait_for_the_dead(self) -> None:
        end = time.monotonic() + GONE_WITHIN_S
        while self.remains.alive(set()) and time.monotonic() < end:
            await asyncio.sleep(0.02)

    async def _finish(self, playing: list[asyncio.Task[None]]) -> None:
        """A last server with no faults: every step under way is answered, and what was left open goes on."""
        await self.server.spawn()
        if not await self.server.ready():
            raise ServerFailed(f"the last server does not start: {self.server.last_words()}")
        self.remains.note_launchers(self.server.pid)
        self.stop.set()
        _, stuck = await asyncio.wait(playing, timeout=STUCK_S + 30)
        for player, task in zip(self.players, playing, strict=True):
            self.model.require(task not in stuck, f"client {player.index} is stuck: {player.doing}")
        if self.model.violations:
            return
        episodes = list(self.model.episodes.values())
        left = [one for one in episodes if not one.ended and not one.closing][-FINISHED_AT_END:]
        ended = [one for one in episodes if one.ended][-FINISHED_AT_END:]
        by_client: dict[int, list[asyncio.Task[None]]] = {}
        for one in left + ended:
            finishing = self.players[one.client].finish(one)
            by_client.setdefault(one.client, []).append(asyncio.create_task(finishing))
        for client, tasks in by_client.items():
            for problem in await asyncio.gather(*tasks, return_exceptions=True):
                if isinstance(problem, BaseException):
                    self.model.violate(f"client {client}, an episode that was left: {problem}")
        if self.settings.sabotage == "leave-process":
            code = "import os, time; os.setsid(); time.sleep(3600)"
            subprocess.Popen([sys.executable, "-c", f"import os\nif os.fork() == 0:\n    exec({code!r})"]).wait()
        status = await self.server.stop()
        self.model.require(status == 0, f"the last server ended with {status}: {self.server.last_words()}")
        if self.model.violations:
            return
        named = next((one for one in left if not one.ended), None)
        player = self.players[named.client if named is not None else 0]
        # A client names what it plays in every heartbeat: silent is who is gone, or connected anew.
        await asyncio.gather(*(one.close() for one in self.players))
        await self.silence.run(player, named)

    def _spoil_journal(self) -> None:
        """So that it is seen that the verification sees."""
        if self.settings.sabotage not in ("drop-turn", "change-reward"):
            return
        with contextlib.closing(sqlite3.connect(self.server.journal)) as database, database:
            if self.settings.sabotage == "drop-turn":
                database.execute("DELETE FROM turns WHERE rowid = (SELECT rowid FROM turns ORDER BY turn DESC LIMIT 1)")
                return
            # What faults have hit has no reward, and cannot lose it.
            valid, spoilt = b"\xacreward_valid\xc3", b"\xacreward_valid\xc2"
            found = database.execute("SELECT rowid, reply FROM turns WHERE instr(reply, ?) > 0 LIMIT 1", (valid,))
            rowid, reply = found.fetchone()
            database.execute("UPDATE turns SET reply = ? WHERE rowid = ?", (reply.replace(valid, spoilt), rowid))

    async def _nothing_left(self) -> None:
        """Processes, control groups and files of all servers are gone."""
        await self._wait_for_the_dead()
        for process in self.remains.alive(set()):
            self.model.violate(f"process {process.pid} ({process.name}) is left over")
        for group in self.remains.groups():
            self.model.violate(f"control group {group} is left over")
        for folder in (self.server.work, self.server.temporary):
            for path in folder.iterdir():
                self.model.violate(f"file {path} is left over")
