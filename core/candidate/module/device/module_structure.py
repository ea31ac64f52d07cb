"""Gives inputs structure, so that a sample of the elements, or a part of an axis, says little about the whole.

Every element is multiplied by a number from 0 to 1 and no element grows, so signs, zeros, and bounds such as those of
probabilities stay. All amounts and places are random, and each call has its own. The first axis of values, and of the
tensors that they are written to, is the axis of the calls.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch

from module_values import shaped

# Levels of structure: none; factors along each axis; also spikes; also a quiet part.
NONE, MILD, MIDDLE, FULL = range(4)
BLOCKS_MAX = 8  # blocks of an axis, each with its own level
TREND = (0.0, 0.6, 2.0, 1.0)  # log2 between the lowest and the highest block of a tensor's only axis, by level
JITTER = (0.0, 0.2, 0.8, 0.6)  # the largest reduction of one slice relative to its block, by level
# log10 of the factor by which the quiet part is smaller (10 to 100), split equally over two axes.
QUIET, QUIET_AXES = (1.0, 2.0), 2
SPIKE_EVERY, SPIKES_MAX = 512, 1 << 16  # one element in 512 keeps its size
LONG, FINE = 1 << 16, 1 << 12  # an axis longer than LONG has coarse factors, and FINE factors that repeat
OUTER_MAX = 1 << 20  # elements of a mask for several axes: each mask costs a pass over the tensor
LOOKED_AT = 256  # rows and columns that decide whether a matrix is symmetric, or a row is sorted


def is_symmetric(tensor: torch.Tensor) -> bool:
    """Whether the last two axes can be exchanged. Submissions may rely on that."""
    if tensor.dim() < 2 or tensor.shape[-1] != tensor.shape[-2] or tensor.shape[-1] < 2:
        return False
    part = tensor[..., :LOOKED_AT, :LOOKED_AT].reshape(-1, *[min(LOOKED_AT, tensor.shape[-1])] * 2)[:1]
    return bool(torch.equal(part, part.transpose(-1, -2)))


def is_sorted(tensor: torch.Tensor) -> bool:
    """Whether the rows rise or fall. Submissions may rely on that order. Rows of equal elements are not sorted."""
    if tensor.shape[-1] < 3:
        return False
    steps = tensor[..., :LOOKED_AT].reshape(-1, min(LOOKED_AT, tensor.shape[-1]))[:LOOKED_AT].float().diff(dim=-1)
    return bool(((steps >= 0).all() | (steps <= 0).all()) & steps.any())


class Structure:
    """Gives one input tensor structure along every axis. Made from its first value."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.symmetric = is_symmetric(tensor)
        self.elements = tensor.numel()
        self.shape: list[int] = []  # of the view whose axes have factors
        for extent in tensor.shape:
            self.shape += [extent // FINE, FINE] if extent > LONG and not self.symmetric else [extent]
        sorted_rows = tensor.dim() > 0 and is_sorted(tensor)
        self.axes = [] if sorted_rows else [axis for axis, extent in enumerate(self.shape) if extent > 1]
        if self.symmetric:
            self.axes.pop()  # the last axis has the factors of the one before
        self.blocks = [min(BLOCKS_MAX, self.shape[axis]) for axis in self.axes]
        self.draws = sum(self.blocks) + 2 + 2 * QUIET_AXES  # random numbers of one call
        self.spikes = 0 if self.symmetric else min(SPIKES_MAX, -(-tensor.numel() // SPIKE_EVERY))
        self.block_of = self.all_blocks(tensor.device) if self.axes else torch.empty(0)

    def all_blocks(self, device: torch.device) -> torch.Tensor:
        """The block of each slice, for all axes one after the other."""
        parts, before = [], 0
        for axis, blocks in zip(self.axes, self.blocks, strict=True):
            extent = self.shape[axis]
            parts.append(torch.arange(extent, device=device) * blocks // extent + before)
            before += blocks
        return torch.cat(parts)

    def view(self, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor with each long axis split in two. Elements at its end that fill no row of FINE are left out."""
        for axis in reversed(range(1, tensor.dim())):
            extent = tensor.shape[axis]
            if extent > LONG and not self.symmetric:
                rows = extent // FINE
                tensor = tensor.narrow(axis, 0, rows * FINE).unflatten(axis, (rows, FINE))
        return tensor

    def levels(self, level: int) -> list[float]:
        """The levels of the blocks of all axes for one call: secret heights, and a secret quiet part of some axes."""
        draws = iter(torch.rand(self.draws).tolist())  # one call of rand, because each takes microseconds
        height = TREND[level] / max(1, len(self.axes))  # so that the sum is about the same for any number of axes
        all_levels = [2 ** (-height * next(draws)) for _ in range(sum(self.blocks))]
        quiet_axes = min(QUIET_AXES, len(self.axes)) if level == FULL else 0
        which, size = next(draws), next(draws)
        factor = 10 ** -((QUIET[0] + (QUIET[1] - QUIET[0]) * size) / max(1, quiet_axes))
        for number in range(quiet_axes):
            axis = (int(which * len(self.axes)) + number) % len(self.axes)
            blocks, before = self.blocks[axis], sum(self.blocks[:axis])
            first, share = int(next(draws) * blocks), 0.4 + 0.2 * next(draws)
            for block in range(max(1, round(share * blocks))):
                all_levels[before + (first + block) % blocks] *= factor
        return all_levels

    def random(self, level: int, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
        """Drawn on the device for one call: a number for each slice of each axis, and the places of the spikes."""
        jitter = torch.rand(len(self.block_of) if level != NONE else 0, device=device)
        spikes = self.spikes if level >= MIDDLE else 0
        return jitter, torch.randint(self.elements, (spikes,), device=device)

    def factors(self, levels: torch.Tensor, level: int, jitter: torch.Tensor) -> list[torch.Tensor]:
        """The factors of each axis, shaped to multiply the view. `levels`: of each call and block."""
        most, calls = JITTER[level] / math.sqrt(len(self.axes)), levels.shape[0]
        every = jitter.mul_(-most).add_(1).mul_(levels[:, self.block_of])
        parts = every.split([self.shape[axis] for axis in self.axes], dim=1)
        each = []
        for axis, part in zip(self.axes, parts, strict=True):
            each.append(part.view([calls, *[-1 if at == axis else 1 for at in range(len(self.shape))]]))
        return [*each, each[-1].transpose(-1, -2)] if self.symmetric else each

    def masks(self, factors: list[torch.Tensor]) -> Iterator[torch.Tensor]:
        """Products of neighbouring factors, up to OUTER_MAX elements: each mask saves a pass over the tensor."""
        mask = None
        for factor in reversed(factors):
            if mask is not None and mask[0].numel() * factor[0].numel() > OUTER_MAX:
                yield mask
                mask = None
            mask = factor if mask is None else factor * mask
        yield mask

    def put(
        self,
        to: torch.Tensor,
        values: torch.Tensor,
        level: int,
        levels: torch.Tensor,
        scales: torch.Tensor,
        random: list[tuple[torch.Tensor, torch.Tensor]],
    ) -> None:
        """Writes the values to `to`, scaled and with structure. Each argument but `level` has a part for each call.

        Both tensors have the same shape and type; they may be the same tensor. Each call's part is contiguous.
        Rationale: each pass over a large tensor takes milliseconds. So the copy also applies the first mask and the
        scales.
        """
        scale = shaped(scales, values)
        if level == NONE or not self.axes:
            torch.mul(values, scale, out=to)
            return
        first, *others = self.masks(self.factors(levels, level, torch.stack([jitter for jitter, _ in random])))
        if has_spikes := level >= MIDDLE and self.spikes > 0:
            places = torch.stack([spikes for _, spikes in random])
            kept = values.view(len(to), -1).gather(1, places).mul_(shaped(scales, places))
        view = self.view(to)
        if view.numel() == to.numel():
            torch.mul(self.view(values), first * shaped(scales, first), out=view)
        else:  # the view does not have all elements
            torch.mul(values, scale, out=to)
            view.mul_(first)
        for mask in others:
            view.mul_(mask)
        if has_spikes:
            to.view(len(to), -1).scatter_(1, places, kept)
