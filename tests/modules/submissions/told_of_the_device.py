"""Fails, and says what it was told of the device: in its rehearsal already."""

import torch

__import__(f"a_device_of_{torch.cuda.get_device_properties(0).multi_processor_count}_multiprocessors")


class ModelNew(torch.nn.Module):
    pass
