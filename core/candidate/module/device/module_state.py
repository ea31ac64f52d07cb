"""Detects changes that a reference or a baseline leaves for the next task in its process: torch's settings and
functions, and the interpreter's settings.

A process serves another task only if none of these has changed. To undo changes would take knowledge of all of them,
and a missed one makes a baseline slow or an answer wrong.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import threading

import torch

# The modules that a submission calls.
MODULES = (torch, torch.autograd, torch.cuda, torch.fft, torch.linalg, torch.nn, torch.nn.functional, torch.nn.init)
CLASSES = (torch.Tensor, *(value for value in vars(torch.nn).values() if isinstance(value, type)))
SETTINGS = (
    "torch.get_default_dtype()",
    "torch.get_default_device()",
    "torch.get_float32_matmul_precision()",
    "torch.get_num_threads()",
    "torch.get_deterministic_debug_mode()",
    "torch.is_grad_enabled()",
    "torch.is_inference_mode_enabled()",
    "torch.is_anomaly_enabled()",
    "torch.is_autocast_enabled('cpu')",
    "torch.is_autocast_enabled('cuda')",
    "torch.get_autocast_dtype('cuda')",
    "torch.is_autocast_cache_enabled()",
    "torch.utils.deterministic.fill_uninitialized_memory",
    "torch.backends.cuda.flash_sdp_enabled()",
    "torch.backends.cuda.mem_efficient_sdp_enabled()",
    "torch.backends.cuda.math_sdp_enabled()",
    "torch.backends.cuda.cudnn_sdp_enabled()",
    "torch.backends.cuda.preferred_linalg_library()",
    "torch.backends.cuda.preferred_blas_library()",
    "torch.backends.cuda.matmul.allow_tf32",
    "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction",
    "torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction",
    "torch.backends.cuda.matmul.allow_fp16_accumulation",
    "torch.backends.cuda.matmul.fp32_precision",
    "torch.backends.cudnn.enabled",
    "torch.backends.cudnn.benchmark",
    "torch.backends.cudnn.benchmark_limit",
    "torch.backends.cudnn.deterministic",
    "torch.backends.cudnn.allow_tf32",
    "torch.backends.cudnn.conv.fp32_precision",
    "torch.backends.cudnn.rnn.fp32_precision",
    "torch.backends.mkldnn.enabled",
    "torch.backends.fp32_precision",
    "torch.backends.opt_einsum.enabled",
    "len(torch.overrides._get_current_function_mode_stack())",
    "torch._C._len_torch_dispatch_stack()",
    "gc.isenabled()",
    "gc.get_threshold()",
    "sys.getrecursionlimit()",
    "sys.getprofile()",
    "sys.gettrace()",
    "sorted(item for item in os.environ.items() if not item[0].startswith('TORCHINDUCTOR_'))",  # make_fastest's
    "sorted(thread.name for thread in threading.enumerate())",
)
MISSING = object()
KNOWN = {"torch": torch, "gc": gc, "os": os, "sys": sys, "threading": threading}


def settings() -> dict[str, object]:
    """The settings by the expression that reads them. Expressions that this torch does not have are left out."""
    found: dict[str, object] = {}
    for words in SETTINGS:
        with contextlib.suppress(Exception):
            found[words] = repr(eval(words, KNOWN))
    modules = torch.nn.modules.module
    for name, hooks in vars(modules).items():
        if name.startswith("_global_") and hasattr(hooks, "__len__"):
            found[name] = len(hooks)
    return found


def functions() -> dict[tuple[str, str], object]:
    """The functions of MODULES and all attributes of CLASSES."""
    found: dict[tuple[str, str], object] = {}
    for place in MODULES:
        found.update({(place.__name__, name): value for name, value in vars(place).items() if callable(value)})
    for place in CLASSES:
        found.update({(place.__name__, name): value for name, value in vars(place).items()})
    return found


class State:
    """The state at the time of construction."""

    def __init__(self) -> None:
        self.settings, self.functions = settings(), functions()

    def difference(self) -> str:
        """The first change since then, or ""."""
        now = settings()
        for words, value in self.settings.items():
            if now.get(words) != value:
                return f"{words} is {str(now.get(words))[:60]}, and was {str(value)[:60]}"
        there = functions()
        for place in there | self.functions:
            if there.get(place, MISSING) is not self.functions.get(place, MISSING):
                return f"{'.'.join(place)} was replaced"
        return ""
