"""The functions that an interpreter gives to a backend (hone_python of hone/backend.h), and their error handling."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

OK, INVALID_ARGUMENT, NOT_FOUND, FAILED_PRECONDITION, RESOURCE_EXHAUSTED = 0, 1, 2, 3, 4  # hone_code

POINTER, U32, U64, I32 = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int32
LOAD = ctypes.CFUNCTYPE(I32, POINTER, U64, POINTER, U64)
GET_KERNEL = ctypes.CFUNCTYPE(I32, ctypes.c_char_p, POINTER, POINTER, U64)
LAUNCH = ctypes.CFUNCTYPE(I32, I32, POINTER, U64, POINTER, U64, POINTER, U64)
OBSERVE = ctypes.CFUNCTYPE(None, I32, POINTER, U64)
OPEN = ctypes.CFUNCTYPE(I32, U32, POINTER, U64)
TRIM = ctypes.CFUNCTYPE(None)
FLAGS = ctypes.CFUNCTYPE(U32)
LOAD_OPERATORS = ctypes.CFUNCTYPE(I32, U64, POINTER, U64, POINTER, U64)
FINISH = ctypes.CFUNCTYPE(I32, POINTER, U64)
OPERATE = ctypes.CFUNCTYPE(I32, U64, U32, POINTER, U64, U64, POINTER, U64)


class Functions(ctypes.Structure):
    """hone_python of hone/backend.h."""

    _fields_ = (
        ("struct_size", U32),
        ("on_device", U32),
        ("load", LOAD),
        ("get_kernel", GET_KERNEL),
        ("launch", LAUNCH),
        ("observe", OBSERVE),
        ("open", OPEN),
        ("trim", TRIM),
        ("flags", FLAGS),
        ("load_operators", LOAD_OPERATORS),
        ("operate", OPERATE),
        ("finish", FINISH),
    )


def write_words(address: int, size: int, words: str) -> None:
    """Writes the words and a zero to the backend's buffer of `size` bytes, cut to fit."""
    data = words.encode("utf-8", "replace")[: size - 1] + b"\0"
    ctypes.memmove(address, data, len(data))


def guarded(body: Callable[..., str | None], failure: Callable[[BaseException], tuple[int, str]]) -> Callable[..., int]:
    """A function for the backend: it returns a hone_code, and writes words to the backend's buffer.

    `body` may return words of a success. `failure` gives the code and the words of what it raises.
    """

    def call(*arguments: Any) -> int:
        *given, message, size = arguments
        try:
            code, words = OK, body(*given)
        except BaseException as error:
            code, words = failure(error)
        if message and words:
            write_words(message, size, words)
        return code

    return call


def run_candidate(library: str, backend: str, device: str, folders: list[str], functions: Functions) -> int:
    """Runs hone-candidate's loop and returns the exit status of the process. Sets functions.struct_size."""
    functions.struct_size = ctypes.sizeof(Functions)
    words = [word.encode() for word in ("hone-candidate", backend, device, *folders)]
    arguments = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    return int(ctypes.CDLL(library).hone_candidate_main(len(words), arguments, ctypes.byref(functions)))
