"""A shared memory page through which the harness controls the server's clock and disk. shim.c is the other end."""

from __future__ import annotations

import mmap
import os
import struct
import subprocess
from pathlib import Path

FIELDS = (
    "clock_offset_s",
    "syncs",
    "writes",
    "die_before_sync",
    "die_after_sync",
    "die_in_write",
    "power_loss",
    "seed",
    "disk_full",
    "sync_fails",
    "lose_write",
    "lie_about_sync",
    "step_monotonic",
)
JOURNAL = "chaos.db"  # the name that shim.c knows


class Orders:
    """Eight bytes a field, which one server at a time reads."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "orders"
        self._path.write_bytes(bytes(8 * len(FIELDS)))
        with self._path.open("r+b") as file:
            self._page = mmap.mmap(file.fileno(), 8 * len(FIELDS))
        self._library = folder / "shim.so"
        source = Path(__file__).with_name("shim.c")
        compiler = os.environ.get("CC", "cc")
        flags = ["-O1", "-fPIC", "-shared"]
        subprocess.run([compiler, *flags, "-o", str(self._library), str(source), "-ldl"], check=True)

    def environment(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self._library), "HONE_CHAOS_ORDERS": str(self._path)}

    def __getitem__(self, field: str) -> int:
        value: int = struct.unpack_from("<q", self._page, 8 * FIELDS.index(field))[0]
        return value

    def __setitem__(self, field: str, value: int) -> None:
        struct.pack_into("<q", self._page, 8 * FIELDS.index(field), value)

    def for_a_new_server(self) -> None:
        """Nothing is ordered any more; the clock stays as it was set."""
        for field in FIELDS[1:]:
            self[field] = 0
