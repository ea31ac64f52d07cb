"""76_conv_standard_1D_dilated_strided__: a program makes all channels of some places of one signal."""

import torch
import triton
import triton.language as tl


@triton.jit
def convolve(
    x_at,
    weight_at,
    y_at,
    length,
    out_length,
    stride,
    dilation,
    IN: tl.constexpr,
    OUT: tl.constexpr,
    WINDOW: tl.constexpr,
    CHANNELS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    signal = tl.program_id(0)
    place = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    channel = tl.arange(0, CHANNELS)
    inside = place < out_length
    total = tl.zeros((CHANNELS, BLOCK), tl.float32)
    for i in range(IN * WINDOW):
        taken = place * stride + i % WINDOW * dilation
        x = tl.load(x_at + (signal * IN + i // WINDOW) * length + taken, mask=inside, other=0.0)
        weight = tl.load(weight_at + channel * IN * WINDOW + i, mask=channel < OUT, other=0.0)
        total += weight[:, None] * x[None, :]
    at = (signal * OUT + channel[:, None]) * out_length + place[None, :]
    tl.store(y_at + at, total, mask=(channel[:, None] < OUT) & inside[None, :])


class ModelNew(torch.nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size, stride=1, dilation=1):
        super().__init__()
        self.conv1d = torch.nn.Conv1d(
            in_channels, out_channels, kernel_size, stride=stride, dilation=dilation, bias=False
        )

    def forward(self, x):
        conv, (count, channels, length) = self.conv1d, x.shape
        window, stride, dilation = conv.kernel_size[0], conv.stride[0], conv.dilation[0]
        out_length = (length - dilation * (window - 1) - 1) // stride + 1
        y = torch.empty(count, conv.out_channels, out_length, dtype=x.dtype, device=x.device)
        block = 64 if x.is_cuda else triton.next_power_of_2(out_length)  # an interpreter pays for each program
        out = triton.next_power_of_2(conv.out_channels)
        sizes = (length, out_length, stride, dilation, channels, conv.out_channels, window, out, block)
        convolve[(count, triton.cdiv(out_length, block))](x, conv.weight, y, *sizes)
        return y
