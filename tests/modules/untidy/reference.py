"""Changes torch for all that come after it, and computes as if it had not."""

import torch
import torch.nn as nn

torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cudnn.benchmark = True


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width, dtype=torch.float32)

    def forward(self, x):
        y = self.fc(x)
        torch.set_default_dtype(torch.float64)
        torch.use_deterministic_algorithms(True)
        return y


def get_inputs():
    return [torch.randn(8, 16, dtype=torch.float32)]


def get_init_inputs():
    return [[16], {}]
