"""A server's metrics as numbers, for charts in Weights & Biases or TensorBoard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["scalars"]

_LEFT_OUT = (
    "clients",
    "buckets",
)  # a chart for each client, and for each bucket, would be too many


def scalars(metrics: Mapping[str, Any], prefix: str = "hone") -> dict[str, float]:
    """The numbers in ``Client.metrics()`` by name, such as ``hone/service/steps/done``.

    Names of nested maps are joined by ``/``. A histogram has its ``count`` and its ``mean``, the
    mean only if it has counted something. Texts, lists, buckets and figures of single clients are
    left out.

    Args:
        metrics: What ``Client.metrics()`` returned.
        prefix: The first part of each name; may be empty.
    """
    found: dict[str, float] = {}
    for name, value in metrics.items():
        path = f"{prefix}/{name}" if prefix else name
        if isinstance(value, Mapping):
            if name not in _LEFT_OUT:
                found.update(scalars(value, path))
        elif isinstance(value, (int, float)):
            found[path] = float(value)
    count, total = metrics.get("count"), metrics.get("sum")
    if isinstance(count, (int, float)) and isinstance(total, (int, float)):
        parent = f"{prefix}/" if prefix else ""
        found.pop(f"{parent}sum", None)
        if count > 0:
            found[f"{parent}mean"] = total / count
    return found
