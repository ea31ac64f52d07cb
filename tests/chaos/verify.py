"""The end of a run: compares the journal with the acknowledged replies, with and without hone's commands."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import msgpack
from model import Episode, Model, fingerprint


def unpacked(left: bytes, texts: bytes) -> bytes:
    """A reply as it was sent, from what the journal keeps (core/journal/repeats.hpp) and the texts it repeats."""
    whole, at = bytearray(texts), 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = left[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(left):
        size = number()
        whole += left[at : at + size]
        at += size
        if at < len(left):
            size, start = number(), number()
            for place in range(start, start + size):
                whole.append(whole[place])
    return bytes(whole[len(texts) :])


class Verification:
    """Compares, and tells the model what is wrong."""

    def __init__(self, binary: Path, journal: Path, model: Model) -> None:
        self.binary, self.journal, self.model = binary, journal, model

    def run(self) -> None:
        checked = self.command("journal", "check")
        self.model.require(
            checked.returncode == 0 and checked.stdout.startswith("sound"),
            f"hone journal check: {checked.stdout.strip()} {checked.stderr.strip()}",
        )
        self.compare_rows()
        self.compare_export()
        self.compare_list()

    def command(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        words = [str(self.binary), *arguments, "--journal", str(self.journal)]
        return subprocess.run(words, capture_output=True, text=True, check=False)

    def lose(self, what: str) -> None:
        self.model.lost += 1
        self.model.violate(what)

    def double(self, what: str) -> None:
        self.model.doubled += 1
        self.model.violate(what)

    def compare_rows(self) -> None:
        """The file itself: every reply as it was, every turn once and in its place."""
        with sqlite3.connect(self.journal) as database:
            seeds: Counter[int] = Counter()
            stored: dict[str, int] = {}
            held: set[str] = set()
            for number, seed, is_held in database.execute("SELECT id, seed, held FROM episodes"):
                name = f"{number & (1 << 64) - 1:016x}"
                seeds[seed] += 1
                stored[name] = number
                if is_held:
                    held.add(name)
            for seed, times in seeds.items():
                if times > 1:
                    self.double(f"reset {seed} made {times} episodes")
            for name in stored.keys() - self.model.episodes.keys():
                seed = database.execute("SELECT seed FROM episodes WHERE id = ?", (stored[name],)).fetchone()[0]
                if seed not in self.model.resets_unanswered:
                    self.double(f"episode {name} of reset {seed} is in the journal, but no client received it")
            actions: Counter[bytes] = Counter()
            for episode in self.model.episodes.values():
                if episode.name not in stored:
                    self.lose(f"episode {episode.name} is not in the journal")
                    continue
                if episode.closed and episode.name in held:
                    self.lose(f"episode {episode.name} was closed, and the journal has it open")
                rows = database.execute(
                    "SELECT turn, reply, sent.bytes, ifnull(said.bytes, x'') FROM turns "
                    "JOIN blobs AS sent ON sent.id = action LEFT JOIN blobs AS said ON said.id = words "
                    "WHERE episode = ? ORDER BY turn",
                    (stored[episode.name],),
                ).fetchall()
                rows = [(turn, unpacked(left, sent + said), sent) for turn, left, sent, said in rows]
                self.compare_turns(episode, rows)
                actions.update(action for _, _, action in rows)
        for action, times in actions.items():
            if times > 1:
                self.double(f"{times} turns are of one submission: {action[:200]!r}")

    def compare_turns(self, episode: Episode, rows: list[tuple[int, bytes, bytes]]) -> None:
        found = [row[0] for row in rows]
        if found != list(range(1, len(rows) + 1)):
            self.double(f"episode {episode.name}: found the turns {found}")
        for number, acknowledged in enumerate(episode.turns, start=1):
            where = f"episode {episode.name}, turn {number}"
            if number > len(rows):
                self.lose(f"{where} was acknowledged, and is not in the journal")
                continue
            _, reply, action = rows[number - 1]
            if fingerprint(msgpack.unpackb(reply)) != acknowledged.reply:
                self.lose(f"{where}: the journal has another reply than the client: {msgpack.unpackb(reply)}")
            if acknowledged.text not in msgpack.unpackb(action).values():
                self.lose(f"{where}: the journal has another submission than the client sent")
        for _, _, action in rows[len(episode.turns) :]:
            if episode.sent is None or episode.sent not in msgpack.unpackb(action).values():
                self.double(f"episode {episode.name}: the journal has a turn that no client took: {action[:200]!r}")

    def compare_export(self) -> None:
        """What a data set is made of: verdict, reward and feedback of each turn."""
        words = [str(self.binary), "export", "--journal", str(self.journal)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as exporting:
            assert exporting.stdout is not None
            seen = 0
            for line in exporting.stdout:
                one = json.loads(line)
                episode = self.model.episodes.get(one["episode"])
                if episode is None:
                    continue
                seen += 1
                for acknowledged, turn in zip(episode.turns, one["turns"], strict=False):
                    self.compare_exported(f"episode {episode.name}, turn {turn['turn']}", acknowledged, turn)
                if len(one["turns"]) < len(episode.turns):
                    self.lose(f"episode {episode.name}: {len(one['turns'])} of {len(episode.turns)} turns are exported")
        self.model.require(exporting.returncode == 0, f"hone export ended with {exporting.returncode}")
        if seen != len(self.model.episodes):
            self.lose(f"hone export has {seen} of {len(self.model.episodes)} episodes")

    def compare_exported(self, where: str, acknowledged: Any, turn: dict[str, Any]) -> None:
        outcome = turn["verdict"]["outcome"] if turn["verdict"] else None
        feedback = hashlib.sha256(turn["feedback"].encode()).digest()
        found = (outcome, turn["reward"], turn["reward_valid"], feedback)
        expected = (acknowledged.outcome, acknowledged.reward, acknowledged.valid, acknowledged.feedback)
        if found != expected:
            self.lose(f"{where}: found {found} in the export, expected {expected}")

    def compare_list(self) -> None:
        listed = self.command("episodes", "--json", "--limit", "0")
        if listed.returncode != 0:
            self.model.violate(f"hone episodes: {listed.stderr.strip()}")
            return
        turns = {one["episode"]: one["turns"] for one in json.loads(listed.stdout)}
        for episode in self.model.episodes.values():
            count = turns.get(episode.name, -1)
            if count < len(episode.turns):
                self.lose(f"episode {episode.name}: hone episodes lists {count} of {len(episode.turns)} turns")
