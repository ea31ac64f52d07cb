"""Loads hone's recording driver (core/record): two libraries that replace the device's driver and runtime.

Import this module before torch: torch's libraries then find the loaded ones by name.
"""

from __future__ import annotations

import ctypes
import json
import os
from typing import Any

from module_environment import recording_libraries


class NotWhole(Exception):
    """The recording is incomplete, so the module has no plan. The text is the reason."""


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
        self.driver.hone_record_autotuned.restype = ctypes.c_uint32
        for takes_text in (
            "hone_record_begin",
            "hone_record_operator",
            "hone_record_autotuned",
            "hone_record_fail",
        ):
            self.driver[takes_text].argtypes = [ctypes.c_char_p]
        self.driver.hone_record_finish.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_uint64)]

    def begin(self, device: dict[str, Any]) -> None:
        """Begins to record for a device with these facts, which have hone's names."""
        self.driver.hone_record_begin(json.dumps(device).encode())

    def task_memory(self, argument: int, size: int) -> int:
        """The address of the task's tensor with this number, of `size` bytes."""
        return int(self.driver.hone_record_task_memory(argument, size))

    def becomes_result(self, address: int, size: int, argument: int) -> bool:
        """Makes an allocation of the current run the task's tensor with this number. False: no such allocation."""
        return bool(self.driver.hone_record_result(address, size, argument))

    def operator(self, call: dict[str, Any]) -> None:
        self.driver.hone_record_operator(json.dumps(call).encode())

    def autotuned(self, kernel: dict[str, Any]) -> int:
        """Adds an autotuned kernel with the texts of its configurations. Returns its number from 1, or 0 on failure."""
        return int(self.driver.hone_record_autotuned(json.dumps(kernel).encode()))

    def configuration(self, tuned: int, number: int) -> None:
        """Assigns further work to configuration `number` (from 0) of autotuned kernel `tuned` (from 1); 0: to none."""
        self.driver.hone_record_configuration(tuned, number)

    def run_begin(self) -> None:
        self.driver.hone_record_run_begin()

    def run_end(self) -> int:
        """Ends a run. Returns its digest; equal runs have equal digests."""
        self.driver.hone_record_run_end()
        return int(self.driver.hone_record_run_digest())

    def fail(self, reason: str) -> None:
        """Makes the recording incomplete, unless it is already."""
        self.driver.hone_record_fail(reason.encode())

    def problem(self) -> str:
        """The first reason why the recording is incomplete; empty if there is none."""
        return str(self.driver.hone_record_problem().decode("utf-8", "replace"))

    def finish(self) -> bytes:
        """The plan of the last run. Raises NotWhole if the recording is incomplete."""
        data, size = ctypes.c_void_p(), ctypes.c_uint64()
        if not self.driver.hone_record_finish(ctypes.byref(data), ctypes.byref(size)) or data.value is None:
            raise NotWhole(self.problem())
        return ctypes.string_at(data.value, size.value)


DRIVER = RecordingDriver(recording_libraries())
