"""100_HingeLoss: one program, for the batch is small."""

import torch
import triton
import triton.language as tl


@triton.jit
def hinge(predictions_at, targets_at, y_at, count, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < count
    predictions = tl.load(predictions_at + at, mask=inside, other=0.0)
    targets = tl.load(targets_at + at, mask=inside, other=0.0)
    missing = tl.where(inside, tl.maximum(1 - predictions * targets, 0.0), 0.0)
    tl.store(y_at, tl.sum(missing, axis=0) / count)


class ModelNew(torch.nn.Module):
    def forward(self, predictions, targets):
        y = torch.empty((), dtype=predictions.dtype, device=predictions.device)
        count = predictions.numel()
        hinge[(1,)](predictions, targets, y, count, triton.next_power_of_2(count))
        return y
