"""A sum over a dimension, with two extensions: one built at import, the other, in C++ alone, by the constructor."""

import os

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

os.environ["TORCH_CUDA_ARCH_LIST"] = "8.0;9.0"

CUDA = """
template <typename T>
__global__ void sum_kernel(const T* x, T* out, int outer, int middle, int inner) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outer * inner) return;
    const T* from = x + (i / inner) * middle * inner + i % inner;
    T sum = 0;
    for (int j = 0; j < middle; ++j) sum += from[j * inner];
    out[i] = sum;
}

void sum_middle(torch::Tensor x, torch::Tensor out) {
    int outer = x.size(0), middle = x.size(1), inner = x.size(2);
    sum_kernel<float><<<(outer * inner + 127) / 128, 128>>>(
        x.data_ptr<float>(), out.data_ptr<float>(), outer, middle, inner);
}
"""

sums = load_inline(
    name="sums",
    cpp_sources="void sum_middle(torch::Tensor x, torch::Tensor out);",
    cuda_sources=CUDA,
    functions=["sum_middle"],
)


class ModelNew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim
        self.shapes = load_inline(
            name="shapes",
            cpp_sources="""
                std::vector<int64_t> with_one(torch::Tensor x, int64_t dim) {
                    auto shape = x.sizes().vec();
                    shape[dim] = 1;
                    return shape;
                }
                torch::Tensor flat(torch::Tensor x, int64_t dim) {
                    return x.flatten(dim + 1).flatten(0, dim - 1).contiguous();
                }
            """,
            functions=["with_one", "flat"],
        )

    def forward(self, x):
        out = torch.empty(self.shapes.with_one(x, self.dim), device=x.device, dtype=x.dtype)
        sums.sum_middle(self.shapes.flat(x, self.dim), out)
        return out
