"""95_CrossEntropyLoss: some rows a program, then one program adds their losses."""

import torch
import triton
import triton.language as tl


@triton.jit
def row_losses(predictions_at, targets_at, losses_at, rows, classes, ROWS: tl.constexpr, CLASSES: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    one = tl.arange(0, CLASSES)[None, :]
    inside = (row[:, None] < rows) & (one < classes)
    x = tl.load(predictions_at + row[:, None] * classes + one, mask=inside, other=-1e30)
    target = tl.load(targets_at + row, mask=row < rows, other=0)
    x = x - tl.max(x, axis=1)[:, None]
    chosen = tl.sum(tl.where(one == target[:, None], x, 0.0), axis=1)
    tl.store(losses_at + row, tl.log(tl.sum(tl.exp(x), axis=1)) - chosen, mask=row < rows)


@triton.jit
def mean(losses_at, y_at, count, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    losses = tl.load(losses_at + at, mask=at < count, other=0.0)
    tl.store(y_at, tl.sum(losses, axis=0) / count)


class ModelNew(torch.nn.Module):
    def forward(self, predictions, targets):
        rows, classes = predictions.shape
        losses = torch.empty(rows, dtype=torch.float32, device=predictions.device)
        y = torch.empty((), dtype=predictions.dtype, device=predictions.device)
        grid = (triton.cdiv(rows, 128),)
        row_losses[grid](predictions, targets, losses, rows, classes, 128, triton.next_power_of_2(classes))
        mean[(1,)](losses, y, rows, triton.next_power_of_2(rows))
        return y
