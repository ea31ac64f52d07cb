"""A matrix product in tiles of shared memory, on torch's stream."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cuda_source = """
#include <ATen/cuda/CUDAContext.h>
#include <torch/extension.h>

#define TILE 32

__global__ void matmul_kernel(const float* A, const float* B, float* C, int n) {
    __shared__ float a[TILE][TILE + 1];
    __shared__ float b[TILE][TILE + 1];
    int row = blockIdx.y * TILE + threadIdx.y;
    int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int at = 0; at < n; at += TILE) {
        a[threadIdx.y][threadIdx.x] = row < n && at + threadIdx.x < n ? A[row * n + at + threadIdx.x] : 0.0f;
        b[threadIdx.y][threadIdx.x] = column < n && at + threadIdx.y < n ? B[(at + threadIdx.y) * n + column] : 0.0f;
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < TILE; ++k) sum += a[threadIdx.y][k] * b[k][threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < n) C[row * n + column] = sum;
}

at::Tensor matmul(at::Tensor A, at::Tensor B) {
    const int n = A.size(0);
    auto C = torch::empty({n, n}, torch::TensorOptions().dtype(A.dtype()).device(A.device()));
    dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE);
    cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    matmul_kernel<<<grid, block, 0, stream>>>(A.data_ptr<float>(), B.data_ptr<float>(), C.data_ptr<float>(), n);
    return C;
}
"""

product = load_inline(
    name="tiled_matmul",
    cpp_sources="at::Tensor matmul(at::Tensor A, at::Tensor B);",
    cuda_sources=cuda_source,
    functions=["matmul"],
    with_cuda=True,
    extra_cflags=["-O2"],
    extra_cuda_cflags=["-O2"],
)


class ModelNew(nn.Module):
    def forward(self, A, B):
        return product.matmul(A, B)
