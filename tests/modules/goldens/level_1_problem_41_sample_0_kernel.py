"""41_Max_Pooling_1D: each element of the output folds its window."""

import torch
import triton
import triton.language as tl


@triton.jit
def max_of_windows(
    x_at, y_at, count, length, out_length, stride, padding, dilation, WINDOW: tl.constexpr, BLOCK: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    line = at // out_length
    first = at % out_length * stride - padding
    folded = tl.full((BLOCK,), float("-inf"), tl.float32)
    for i in range(WINDOW):
        place = first + i * dilation
        inside = (at < count) & (place >= 0) & (place < length)
        x = tl.load(x_at + line * length + place, mask=inside, other=float("-inf"))
        folded = tl.maximum(folded, x)
    tl.store(y_at + at, folded, mask=at < count)


class ModelNew(torch.nn.Module):
    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False):
        super().__init__()
        assert not return_indices
        self.window, self.stride, self.padding, self.dilation = kernel_size, stride or kernel_size, padding, dilation

    def forward(self, x):
        reach = self.dilation * (self.window - 1) + 1
        out_length = (x.shape[2] + 2 * self.padding - reach) // self.stride + 1
        y = torch.empty(*x.shape[:2], out_length, dtype=x.dtype, device=x.device)
        block = 256 if x.is_cuda else 32768  # an interpreter pays for each program
        grid = (triton.cdiv(y.numel(), block),)
        sizes = (y.numel(), x.shape[2], out_length, self.stride, self.padding, self.dilation)
        max_of_windows[grid](x, y, *sizes, self.window, block)
        return y
