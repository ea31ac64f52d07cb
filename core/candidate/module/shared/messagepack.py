"""Decodes MessagePack, because an interpreter with torch may have no package that does."""

from __future__ import annotations

import struct
from typing import Any

# From the first byte of a value to the struct format of its number or its length.
NUMBERS = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q"} | {
    0xD0: ">b",
    0xD1: ">h",
    0xD2: ">i",
    0xD3: ">q",
}
CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
TEXTS = {0xD9: ">B", 0xDA: ">H", 0xDB: ">I"}
BYTES = {0xC4: ">B", 0xC5: ">H", 0xC6: ">I"}
ARRAYS = {0xDC: ">H", 0xDD: ">I"}
MAPS = {0xDE: ">H", 0xDF: ">I"}


class Decoder:
    """Decodes one value. Raises ValueError if the bytes are not MessagePack or end too early."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def whole(self) -> Any:
        value = self.value()
        if self.at != len(self.data):
            raise ValueError(f"{len(self.data) - self.at} bytes after the value")
        return value

    def take(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise ValueError(f"cut off at byte {len(self.data)}")
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, form: str) -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def array(self, count: int) -> list[Any]:
        return [self.value() for _ in range(count)]

    def map(self, count: int) -> dict[str, Any]:
        return {self.value(): self.value() for _ in range(count)}

    def value(self) -> Any:
        tag = self.take(1)[0]
        if tag < 0x80 or tag >= 0xE0:
            return tag if tag < 0x80 else tag - 0x100
        if tag < 0x90:
            return self.map(tag & 0x0F)
        if tag < 0xA0:
            return self.array(tag & 0x0F)
        if tag < 0xC0:
            return self.take(tag & 0x1F).decode()
        if tag in CONSTANTS:
            return CONSTANTS[tag]
        if tag in NUMBERS:
            return self.number(NUMBERS[tag])
        if tag in TEXTS:
            return self.take(self.number(TEXTS[tag])).decode()
        if tag in BYTES:
            return self.take(self.number(BYTES[tag]))
        if tag in ARRAYS:
            return self.array(self.number(ARRAYS[tag]))
        if tag in MAPS:
            return self.map(self.number(MAPS[tag]))
        raise ValueError(f"found the byte {tag:#x}, which cannot begin a value")
