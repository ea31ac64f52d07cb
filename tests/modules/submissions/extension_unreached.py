"""Its rehearsal ends before its extension is built, and beside the device it names a compiler that is not there."""

import os
import sys

import torch
from torch.utils.cpp_extension import load_inline

if os.path.basename(sys.argv[0]) == "dry_run_module.py":
    os._exit(0)
os.environ["CXX"] = "/not/there"
extension = load_inline(
    name="twice", cpp_sources="torch::Tensor twice(torch::Tensor x) { return x * 2; }", functions=["twice"]
)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return extension.twice(x)
