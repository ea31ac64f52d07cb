"""RMS normalisation through torch's packed accessors."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = """
#include <torch/extension.h>

template <typename scalar_t>
__global__ void rms_norm_kernel(const torch::PackedTensorAccessor32<scalar_t, 3, torch::RestrictPtrTraits> x,
                                torch::PackedTensorAccessor32<scalar_t, 3, torch::RestrictPtrTraits> out, float eps) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y;
    if (column >= x.size(2)) return;
    scalar_t sum = 0;
    for (int i = 0; i < x.size(1); ++i) sum += x[row][i][column] * x[row][i][column];
    const scalar_t scale = rsqrt(sum / x.size(1) + eps);
    for (int i = 0; i < x.size(1); ++i) out[row][i][column] = x[row][i][column] * scale;
}

torch::Tensor rms_norm(torch::Tensor x, double eps) {
    auto shape = x.sizes().vec();
    auto flat = x.reshape({x.size(0), x.size(1), -1});
    auto out = torch::empty(flat.sizes(), flat.options());
    const dim3 grid((flat.size(2) + 255) / 256, flat.size(0));
    AT_DISPATCH_FLOATING_TYPES(flat.scalar_type(), "rms_norm", ([&] {
        rms_norm_kernel<scalar_t><<<grid, 256>>>(
            flat.packed_accessor32<scalar_t, 3, torch::RestrictPtrTraits>(),
            out.packed_accessor32<scalar_t, 3, torch::RestrictPtrTraits>(), static_cast<float>(eps));
    }));
    return out.view(shape);
}
"""


class ModelNew(nn.Module):
    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.ops = load_inline(
            name="rms_norm_ops",
            cpp_sources="torch::Tensor rms_norm(torch::Tensor x, double eps);",
            cuda_sources=CUDA,
            functions=["rms_norm"],
        )

    def forward(self, x):
        return self.ops.rms_norm(x, self.eps)
