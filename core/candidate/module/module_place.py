"""Where modules compute: on the processor, or on the device that torch calls cuda, whoever made it; and where their
tensors lie."""

import ctypes
import resource
import sys

import torch

from module_values import count

HOLD_CYCLES = 2_000_000  # a millisecond: what is timed is in the queue when the device comes to it
VIEWS_MAX = 4096  # kept: each costs microseconds to make, under the clock
KEPT_BYTES = 1 << 30  # of device memory that torch may hold without using it; others need it, too


class DeviceMemory:
    """Memory of the device, in the words of __cuda_array_interface__."""

    def __init__(self, base, size):
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (base, False), "version": 3}


def resident_bytes():
    """Of this process, now."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except OSError:  # a jail without /proc
        return most_resident_bytes()


def most_resident_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


class Place:
    def __init__(self):
        self.device = torch.device("cpu")
        self.generators = [torch.default_generator]

    def use_device(self, index):
        """From now on modules compute on this device, whose context is there already."""
        if not torch.cuda.is_available():
            raise RuntimeError(f"torch {torch.__version__} of {sys.executable} finds no device")
        self.device = torch.device("cuda", index)
        torch.cuda.set_device(self.device)
        torch.cuda.init()
        self.generators.append(torch.cuda.default_generators[index])

    def warm(self):
        """What every module does: memory, and a function of elements. More takes longer than most save by it."""
        torch.relu(torch.zeros(64, device=self.device)).add_(1)
        self.wait()

    def wait(self):
        if self.device.type != "cpu":
            torch.cuda.synchronize(self.device)

    def hold(self):
        """Keeps the device from what comes next, for so long that all of it is there."""
        torch.cuda._sleep(HOLD_CYCLES)

    def mark(self):
        """A point of the work, whose elapsed_time(later) is the device's milliseconds between two."""
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def is_captured(self):
        """Whether what comes next is not done now."""
        return torch.cuda.is_current_stream_capturing()

    def seed(self, seed):
        """torch.manual_seed, of what there is, in a few microseconds."""
        for generator in self.generators:
            generator.manual_seed(seed)

    def memory(self, base, size):
        """The bytes from this address on, as a tensor that shares them."""
        if self.device.type == "cpu":
            return torch.frombuffer((ctypes.c_char * size).from_address(base), dtype=torch.uint8)
        return torch.as_tensor(DeviceMemory(base, size), device=self.device)

    def memory_total(self):
        """Bytes of the device; 0 on the processor."""
        if self.device.type == "cpu":
            return 0
        return torch.cuda.get_device_properties(self.device).total_memory

    def memory_used(self):
        """Bytes that are in use now; memory_most() counts from here."""
        if self.device.type == "cpu":
            return resident_bytes()
        torch.cuda.reset_peak_memory_stats(self.device)
        return torch.cuda.memory_allocated(self.device)

    def memory_most(self):
        """The most bytes that were in use at once since then; of the processor, since the process began."""
        if self.device.type == "cpu":
            return most_resident_bytes()
        return torch.cuda.max_memory_allocated(self.device)

    def give_back(self, kept=KEPT_BYTES):
        """Leaves others the device memory that large answers took, beyond so much."""
        if self.device.type != "cpu" and torch.cuda.memory_reserved(self.device) > kept:
            torch.cuda.empty_cache()


class Arena:
    """The shared memory that tensors lie in."""

    def __init__(self):
        self.base = None
        self.bytes = None
        self.views = {}

    def forget(self):
        """What lies at this address may be another arena, of another size."""
        self.base = None

    def use(self, base, size):
        if base != self.base:
            self.base = base
            self.views = {}
            self.bytes = PLACE.memory(base, size)

    def view(self, at, dtype, shape):
        key = (at, dtype, *shape)
        if key not in self.views:
            if len(self.views) >= VIEWS_MAX:
                self.views.clear()
            size = count(shape) * dtype.itemsize
            self.views[key] = self.bytes[at : at + size].view(dtype).view(shape)
        return self.views[key]


PLACE = Place()
ARENA = Arena()
