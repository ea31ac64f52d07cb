"""Honest: a part in C++, built as the module is imported, and another that the constructor builds."""

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

SOURCE = """
torch::Tensor leaky(torch::Tensor y, double slope) {
    TORCH_CHECK(y.dim() == 2, "expected rows, got ", y.sizes());
    return torch::where(y > 0, y, y * slope);
}
"""

extension = load_inline(name="leaky_extension", cpp_sources=SOURCE, functions=["leaky"])


class ModelNew(nn.Module):
    def __init__(self, width, slope=0.5):
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.slope = slope
        self.register_buffer("shift", torch.full((width,), 0.25))
        self.affine = load_inline(
            name="affine_extension",
            cpp_sources=[
                """
                torch::Tensor affine(torch::Tensor x, torch::Tensor weight, const std::vector<torch::Tensor>& biases) {
                    auto y = at::matmul(x, weight.t());
                    for (const auto& bias : biases) y += bias;
                    return y;
                }
                PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("affine", &affine, py::arg("x"), py::arg("weight"), py::arg("biases")); }
                """
            ],
            extra_cflags=["-O1"],
        )

    def forward(self, x):
        y = self.affine.affine(x, self.fc.weight, biases=[self.fc.bias, self.shift])
        return extension.leaky(y, self.slope)
