"""Where modules compute: on the processor, or on the device that torch calls cuda, whoever made it."""

import ctypes
import sys

import torch

KEPT_BYTES = 1 << 30  # of device memory that torch may hold without using it; others need it, too


class DeviceMemory:
    """Memory of the device, in the words of __cuda_array_interface__."""

    def __init__(self, base, size):
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (base, False), "version": 3}


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

    def seed(self, seed):
        """torch.manual_seed, of what there is, in a few microseconds."""
        for generator in self.generators:
            generator.manual_seed(seed)

    def memory(self, base, size):
        """The bytes from this address on, as a tensor that shares them."""
        if self.device.type == "cpu":
            return torch.frombuffer((ctypes.c_char * size).from_address(base), dtype=torch.uint8)
        return torch.as_tensor(DeviceMemory(base, size), device=self.device)

    def give_back(self):
        """Leaves others the device memory that large answers took."""
        if self.device.type != "cpu" and torch.cuda.memory_reserved(self.device) > KEPT_BYTES:
            torch.cuda.empty_cache()


PLACE = Place()
