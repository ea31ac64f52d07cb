"""The recording driver of hone (core/record) in this process: libraries in the place of the device's driver.

They are loaded here, and must be loaded before torch: its libraries then find them by name.
"""

from __future__ import annotations

import ctypes
import json
import os
from typing import Any

from module_environment import recording_libraries


class NotWhole(Exception):
    """The recording is not the whole work of the module: words that say why."""


class RecordingDriver:
    """Loads the driver and calls its recording functions. One per process."""

    def __init__(self, folder: str) -> None:
        # The order matters: the runtime finds the driver by name. Global, because torch's libraries find both by name.
        self.driver = ctypes.CDLL(os.path.join(folder, "libcuda.so.1"), mode=ctypes.RTLD_GLOBAL)
        self.runtime = ctypes.CDLL(os.path.join(folder, "libcudart.so.13"), mode=ctypes.RTLD_GLOBAL)
        self.driver.hone_record_task_memory.restype = ctypes.c_uint64
        self.driver.hone_record_task_memory.argtypes = [ctypes.c_uint32, ctypes.c_uint64]
        self.driver.hone_record_result.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint32]
        self.driver.hone_record_problem.restype = ctypes.c_char_p
        self.driver.hone_record_run_digest.restype = ctypes.c_uint64
        self.driver.hone_record_begin.argtypes = self.driver.hone_record_operator.argtypes = [ctypes.c_char_p]
        self.driver.hone_record_finish.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_uint64)]

    def begin(self, device: dict[str, Any]) -> None:
        """Begins to record for this device (facts by hone's names)."""
        self.driver.hone_record_begin(json.dumps(device).encode())

    def task_memory(self, argument: int, size: int) -> int:
        """The address of the task's tensor with this number, of `size` bytes."""
        return int(self.driver.hone_record_task_memory(argument, size))

    def becomes_result(self, address: int, size: int, argument: int) -> bool:
        """Makes this allocation of the current run the task's tensor with this number, if it is one of its own."""
        return bool(self.driver.hone_record_result(address, size, argument))

    def operator(self, call: dict[str, Any]) -> None:
        self.driver.hone_record_operator(json.dumps(call).encode())

    def run_begin(self) -> None:
        self.driver.hone_record_run_begin()

    def run_end(self) -> int:
        """Ends a run. Returns a digest: equal runs have equal ones."""
        self.driver.hone_record_run_end()
        return int(self.driver.hone_record_run_digest())

    def problem(self) -> str:
        """The first reason why the recording is not whole; empty if it is."""
        return str(self.driver.hone_record_problem().decode("utf-8", "replace"))

    def finish(self) -> bytes:
        """The plan of the last run. Raises NotWhole."""
        data, size = ctypes.c_void_p(), ctypes.c_uint64()
        if not self.driver.hone_record_finish(ctypes.byref(data), ctypes.byref(size)) or data.value is None:
            raise NotWhole(self.problem())
        return ctypes.string_at(data.value, size.value)


DRIVER = RecordingDriver(recording_libraries())
