"""A Triton kernel."""

import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, count, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    inside = at < count
    tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


class ModelNew(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        add[(triton.cdiv(x.numel(), 256),)](x, y, out, x.numel(), block=256)
        return out


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(64, 64), torch.rand(64, 64)]


def get_init_inputs() -> list[int]:
    return []
