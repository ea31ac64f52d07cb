"""Fails before its extension is built, in a rehearsal for what says nothing there, and beside the device."""

import torch
from torch.utils.cpp_extension import load_inline

try:
    torch.cuda.get_device_properties(1000)
except Exception:
    raise RuntimeError("there is no device 1000") from None

extension = load_inline(name="twice", cpp_sources="torch::Tensor twice(torch::Tensor x) { return x * 2; }", functions=["twice"])


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return extension.twice(x)
