"""A module with an extension that builds on every machine with working compilers.

If it does not build, the machine is to blame, and no submission.
"""

from __future__ import annotations

import json
from typing import Any

CPP = "torch::Tensor add_one(torch::Tensor x)"
CUDA = """
__global__ void add_one_kernel(const float* x, float* y, int64_t count) {
    const int64_t at = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (at < count) y[at] = x[at] + 1;
}
torch::Tensor add_one(torch::Tensor x) {
    TORCH_CHECK(x.is_contiguous(), "expected a contiguous tensor");
    auto y = torch::empty_like(x);
    add_one_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}
"""
SOURCE = """
import torch
from torch.utils.cpp_extension import load_inline

load_inline(name="hone_known", functions=["add_one"], {sources})


class ModelNew(torch.nn.Module):
    def forward(self):
        return ()
"""
REFERENCE = """
import torch


class Model(torch.nn.Module):
    def forward(self):
        return ()


def get_init_inputs():
    return []
"""
SOURCES = {
    "host": f"cpp_sources={CPP + ' { return x + 1; }'!r}",
    "device": f"cpp_sources={CPP + ';'!r}, cuda_sources={CUDA!r}",
}


def known_extension(kind: str) -> dict[str, Any]:
    """The content of its artifact. `kind`: "host", or "device" for an extension with kernels."""
    task: dict[str, Any] = {"module": "Model", "inputs": [], "parameters": [], "outputs": [], "answer": "sequence"}
    return {
        "name": "submission.py",
        "source": SOURCE.replace("{sources}", SOURCES[kind]),
        "support": {"reference.py": REFERENCE, "module.json": json.dumps(task)},
    }
