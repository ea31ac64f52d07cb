"""The place where modules compute, and the memory of their tensors.

The place is the processor or the device that torch calls cuda, from whatever vendor.
"""

from __future__ import annotations

import ctypes
import resource
import sys
from typing import Any

import torch

from module_values import count

HOLD_CYCLES = 2_000_000  # about a millisecond: enough for Python to queue the work that is timed
VIEWS_MAX = 4096  # kept: creating one costs microseconds, under the clock
KEPT_BYTES = 1 << 30  # of device memory that torch may hold without using it


class DeviceMemory:
    """Device memory, described by __cuda_array_interface__."""

    def __init__(self, base: int, size: int) -> None:
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (base, False), "version": 3}


def resident_bytes() -> int:
    """The resident memory of this process now."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except OSError:  # a sandbox without /proc
        return most_resident_bytes()


def most_resident_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


class Place:
    """The processor, until use_device() is called."""

    def __init__(self) -> None:
        self.device = torch.device("cpu")
        self.generators = [torch.default_generator]

    def use_device(self, index: int) -> None:
        """Makes modules compute on this device from now on. Its context exists already."""
        if not torch.cuda.is_available():
            raise RuntimeError(f"torch {torch.__version__} of {sys.executable} finds no device")
        self.device = torch.device("cuda", index)
        torch.cuda.set_device(self.device)
        torch.cuda.init()
        self.generators.append(torch.cuda.default_generators[index])

    def warm(self) -> None:
        """Does what every module does: allocates memory and runs an elementwise function.

        More work here would take longer than most modules save by it.
        """
        torch.relu(torch.zeros(64, device=self.device)).add_(1)
        self.wait()

    def wait(self) -> None:
        if self.device.type != "cpu":
            torch.cuda.synchronize(self.device)

    def hold(self) -> None:
        """Keeps the device busy for HOLD_CYCLES, so that the next work is queued before it starts."""
        torch.cuda._sleep(HOLD_CYCLES)

    def mark(self) -> Any:
        """Records an event. `first.elapsed_time(later)` is the device's time between two, in milliseconds."""
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def is_captured(self) -> bool:
        """Whether work is being recorded into a graph instead of running now."""
        return bool(torch.cuda.is_current_stream_capturing())

    def seed(self, seed: int) -> None:
        """Like torch.manual_seed for the generators in use, in a few microseconds."""
        for generator in self.generators:
            generator.manual_seed(seed)

    def memory(self, base: int, size: int) -> torch.Tensor:
        """The bytes at this address as a tensor that shares them."""
        if self.device.type == "cpu":
            return torch.frombuffer((ctypes.c_char * size).from_address(base), dtype=torch.uint8)
        return torch.as_tensor(DeviceMemory(base, size), device=self.device)

    def memory_total(self) -> int:
        """Bytes of device memory; 0 on the processor."""
        if self.device.type == "cpu":
            return 0
        return int(torch.cuda.get_device_properties(self.device).total_memory)

    def memory_used(self) -> int:
        """Bytes in use now. memory_most() counts from here."""
        if self.device.type == "cpu":
            return resident_bytes()
        torch.cuda.reset_peak_memory_stats(self.device)
        return int(torch.cuda.memory_allocated(self.device))

    def memory_most(self) -> int:
        """The most bytes in use at once since memory_used(); on the processor, since the process started."""
        if self.device.type == "cpu":
            return most_resident_bytes()
        return int(torch.cuda.max_memory_allocated(self.device))

    def failed_allocations(self) -> int:
        """Number of torch's failed allocations of device memory in this process; 0 on the processor."""
        if self.device.type == "cpu":
            return 0
        return int(torch.cuda.memory_stats_as_nested_dict(self.device).get("num_ooms", 0))

    def give_back(self, kept: int = KEPT_BYTES) -> None:
        """Frees the device memory that torch holds without using it, if that is more than `kept` bytes."""
        if self.device.type != "cpu" and torch.cuda.memory_reserved(self.device) > kept:
            torch.cuda.empty_cache()


class Arena:
    """The shared memory of a task's tensors."""

    def __init__(self) -> None:
        self.base: int | None = None
        self.bytes: torch.Tensor = None
        self.views: dict[tuple[Any, ...], torch.Tensor] = {}

    def forget(self) -> None:
        """Drops the mapping: another arena, of another size, may get the same address."""
        self.base = None

    def use(self, base: int, size: int) -> None:
        if base != self.base:
            self.base = base
            self.views = {}
            self.bytes = PLACE.memory(base, size)

    def view(self, at: int, dtype: torch.dtype, shape: list[int]) -> torch.Tensor:
        """The tensor at this offset (bytes)."""
        key = (at, dtype, *shape)
        if key not in self.views:
            if len(self.views) >= VIEWS_MAX:
                self.views.clear()
            size = count(shape) * dtype.itemsize
            self.views[key] = self.bytes[at : at + size].view(dtype).view(shape)
        return self.views[key]

    def views_at(self, places: list[int], dtype: torch.dtype, shape: list[int]) -> torch.Tensor:
        """The tensors at these offsets, which must be equally far apart, as one tensor with an axis for the calls."""
        stride = places[1] - places[0] if len(places) > 1 else 0
        size = (len(places) - 1) * stride + count(shape) * dtype.itemsize
        flat = self.bytes[places[0] : places[0] + size].view(dtype)
        strides = self.view(places[0], dtype, shape).stride()
        return flat.as_strided((len(places), *shape), (stride // dtype.itemsize, *strides))


PLACE = Place()
ARENA = Arena()
