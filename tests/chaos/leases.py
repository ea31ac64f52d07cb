"""Clients that stay silent until their leases expire, while the server's clock is changed repeatedly."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sqlite3
import time

import hone
from clients import Player
from control import Orders
from model import Episode, Model
from plan import HOUR
from server import Server, ServerFailed

LEASE_S = 5.0
# Lease of a server whose monotonic clock is changed, too. A slow machine must see an expiry before it is due.
SABOTAGED_LEASE_S = 60.0
CLOCK_HOURS_MAX = 72  # largest offset of the clock, in both directions
OVERDUE_S = 20.0  # seconds by which the end of a lease may go unnoticed
LOOK_EVERY_S = 0.1
REAPED, ENDED = 3, 1  # states in the journal


class Silence:
    """A server of its own on the journal: leases run from its start, by the monotonic clock."""

    def __init__(self, server: Server, orders: Orders, model: Model, seed: int, sabotage: bool) -> None:
        self.server, self.orders, self.model, self.sabotage = server, orders, model, sabotage
        self.draw = random.Random(f"{seed}/leases")
        self.lease_s = SABOTAGED_LEASE_S if sabotage else LEASE_S
        self.reaped = 0
        self.renewed = 0.0  # when the episode was last named that is not silent

    async def run(self, player: Player, named: Episode | None) -> None:
        """Everybody is silent, but `player` names `named` now and then."""
        silent = self._held() - (named is not None)
        self.model.require(silent > 0, "no episode was left open, so that no lease can run out")
        started = time.monotonic()
        self.orders["clock_offset_s"] = -CLOCK_HOURS_MAX * HOUR
        await self.server.spawn(f"server.lease_s={self.lease_s}", f"server.ended_lease_s={self.lease_s}")
        self.orders["step_monotonic"] = int(self.sabotage)
        if not await self.server.ready():
            raise ServerFailed(f"the server with short leases does not start: {self.server.last_words()}")
        ready = time.monotonic()
        await player.connect()
        hours = CLOCK_HOURS_MAX  # the first step is the largest possible one, from the lowest offset to the highest
        while self.reaped < silent:
            self.orders["clock_offset_s"] = hours * HOUR
            hours = self.draw.randint(-CLOCK_HOURS_MAX, CLOCK_HOURS_MAX)
            if named is not None and not await self._renew(player, named, started):
                named, silent = None, silent + 1
            assert player.client is not None
            self.reaped = int((await player.client.metrics())["episodes_reaped"])
            age = time.monotonic() - started
            if self.reaped > 0:
                self._require_due(age)
            overdue = time.monotonic() - ready > self.lease_s + OVERDUE_S
            self.model.require(not overdue, f"{silent - self.reaped} of {silent} leases do not run out")
            if self.model.violations:
                return
            await asyncio.sleep(LOOK_EVERY_S)
        self.model.require(self.reaped == silent, f"{self.reaped} leases ran out, of {silent} silent episodes")
        await self._gone(player, named)
        status = await self.server.stop()
        self.model.require(status == 0, f"the server with short leases ended with {status}: {self.server.last_words()}")
        self._compare(named)

    async def _renew(self, player: Player, named: Episode, started: float) -> bool:
        """False when its lease has run out: this machine may be too slow to do it in time, which is not a defect."""
        asked = time.monotonic()
        try:
            await player.resume(named)
        except hone.NotFound:
            self._require_due(time.monotonic() - max(started, self.renewed))
            return False
        self.renewed = asked
        return True

    def _require_due(self, age: float) -> None:
        self.model.require(age >= self.lease_s, f"a lease of {self.lease_s} s ran out after {age:.1f} s")

    async def _gone(self, player: Player, named: Episode | None) -> None:
        for episode in self.model.episodes.values():
            if episode is named or episode.closed:
                continue
            try:
                await player.resume(episode)
            except hone.NotFound:
                return
            self.model.violate(f"episode {episode.name} is there, and its lease ran out")
            return

    def _held(self) -> int:
        with contextlib.closing(sqlite3.connect(self.server.journal)) as database:
            found: int = database.execute("SELECT count(*) FROM episodes WHERE held = 1").fetchone()[0]
        return found

    def _compare(self, named: Episode | None) -> None:
        """What the journal says of them; their turns are looked at with everybody's."""
        self.model.require(self._held() == (named is not None), f"{self._held()} episodes are still held")
        with contextlib.closing(sqlite3.connect(self.server.journal)) as database:
            states = dict(database.execute("SELECT id & 0xffffffff, state FROM episodes"))
        for episode in self.model.episodes.values():
            if episode is named or episode.closing:
                continue
            state = states.get(int(episode.name[8:], 16))
            self.model.require(
                state == (ENDED if episode.ended else REAPED),
                f"episode {episode.name}: its lease ran out, and the journal has it in state {state}",
            )
