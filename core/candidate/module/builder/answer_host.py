"""Receives one artifact from the host and sends one answer. For programs that run a module without a device."""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Callable
from typing import Any

ANSWER = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
    ctypes.c_uint64,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_uint64),
)


def answer_host(label: str, answer_to: Callable[[bytes, dict[str, Any]], bytes]) -> int:
    """Seals this process, receives an artifact, and sends the result of answer_to(artifact, device).

    The arguments of the process are PLACE, hone-candidate.so, DEVICE and the folders that it may read.
    """
    _, library, device, *folders = sys.argv[1:]
    kept: list[bytes] = []  # the library reads the answer after the function has returned

    def answer(address: int, size: int, found: Any, length: Any) -> None:
        kept.append(answer_to(ctypes.string_at(address, size), json.loads(device)))
        found[0] = ctypes.cast(ctypes.c_char_p(kept[-1]), ctypes.c_void_p).value
        length[0] = len(kept[-1])

    words = [word.encode() for word in (label, *folders)]
    arguments = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    function = ANSWER(answer)
    return int(ctypes.CDLL(library).hone_dry_run_main(len(words), arguments, function))
