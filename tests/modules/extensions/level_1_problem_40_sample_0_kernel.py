"""Layer normalisation in three kernels; functions that give several tensors."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <vector>

__global__ void sums_kernel(const float* __restrict__ x, double* __restrict__ sums, int64_t size) {
    const float* row = x + blockIdx.y * size;
    double sum = 0, squares = 0;
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < size; i += (int64_t)blockDim.x * gridDim.x) {
        const double v = row[i];
        sum += v;
        squares += v * v;
    }
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, step);
        squares += __shfl_down_sync(0xffffffffu, squares, step);
    }
    if (threadIdx.x % 32 == 0) {
        atomicAdd(sums + 2 * blockIdx.y, sum);
        atomicAdd(sums + 2 * blockIdx.y + 1, squares);
    }
}

__global__ void statistics_kernel(const double* sums, float* mean, float* scale, int64_t size, float eps) {
    const int row = threadIdx.x;
    const double average = sums[2 * row] / size;
    mean[row] = average;
    scale[row] = rsqrt(sums[2 * row + 1] / size - average * average + eps);
}

__global__ void normalise_kernel(const float* __restrict__ x, const float* __restrict__ mean, const float* __restrict__ scale,
                                 const float* __restrict__ weight, const float* __restrict__ bias, float* __restrict__ out,
                                 int64_t size) {
    const int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    const int row = blockIdx.y;
    if (i < size) out[row * size + i] = (x[row * size + i] - mean[row]) * scale[row] * weight[i] + bias[i];
}

std::vector<torch::Tensor> layer_norm(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, double eps) {
    const int64_t size = weight.numel(), rows = x.numel() / size;
    TORCH_CHECK(rows <= 1024, "expected at most 1024 rows, got ", rows);
    auto sums = torch::zeros({rows, 2}, x.options().dtype(torch::kFloat64));
    auto mean = torch::empty({rows}, x.options()), scale = torch::empty({rows}, x.options());
    auto out = torch::empty_like(x);
    sums_kernel<<<dim3(128, rows), 256>>>(x.data_ptr<float>(), sums.data_ptr<double>(), size);
    statistics_kernel<<<1, rows>>>(sums.data_ptr<double>(), mean.data_ptr<float>(), scale.data_ptr<float>(), size, eps);
    normalise_kernel<<<dim3((size + 255) / 256, rows), 256>>>(
        x.data_ptr<float>(), mean.data_ptr<float>(), scale.data_ptr<float>(), weight.data_ptr<float>(),
        bias.data_ptr<float>(), out.data_ptr<float>(), size);
    return {out, mean, scale};
}
"""

CPP = """
#include <vector>
std::vector<torch::Tensor> layer_norm(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, double eps);
"""

norm = load_inline(name="layer_norm_ext", cpp_sources=CPP, cuda_sources=CUDA, functions=["layer_norm"])


class ModelNew(nn.Module):
    def __init__(self, normalized_shape):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, x):
        out, _, _ = norm.layer_norm(x.contiguous(), self.ln.weight, self.ln.bias, self.ln.eps)
        return out
