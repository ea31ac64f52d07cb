"""What one run of a module does: inputs that it changes, numbers that it draws, memory that it takes, operations."""

import contextlib
import hashlib
import pickle
import random
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

CONSTRUCTED_BYTES_MAX = 2 << 30  # of live tensors: half of plugins.memory_mb
CONSTRUCTED_SECONDS_MAX = 20.0
REAL = "on real tensors, the limit; it needs them because it reads values"


class TooMuch(Exception):
    """A constructor takes more memory or time than a description may."""


def storage_key(tensor: torch.Tensor) -> int:
    """A number that is the same for all views of one memory."""
    return int(tensor.untyped_storage()._cdata)


class Writes(TorchDispatchMode):
    """Notes the tensors that an operator changes in place, directly or through a view."""

    def __init__(self, tensors: Iterable[torch.Tensor]) -> None:
        super().__init__()
        self.watched = {storage_key(tensor) for tensor in tensors if tensor.layout == torch.strided}
        self.written: set[int] = set()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = kwargs or {}
        for i, argument in enumerate(func._schema.arguments):
            if argument.alias_info is not None and argument.alias_info.is_write:
                value = args[i] if i < len(args) else given.get(argument.name)
                self.note(value if isinstance(value, list | tuple) else [value])
        return func(*args, **given)

    def note(self, values: Iterable[Any]) -> None:
        for value in values:
            if isinstance(value, torch.Tensor) and value.layout == torch.strided:
                self.written |= {storage_key(value)} & self.watched

    def changed(self, tensor: torch.Tensor) -> bool:
        """Whether one of the watched tensors was changed."""
        return tensor.layout == torch.strided and storage_key(tensor) in self.written


PRODUCTS_WITHOUT_FORMULA = frozenset((
    "mv", "addmv", "dot", "vdot", "outer", "addr", "addbmm", "_trilinear", "_cdist_forward",
    "mkldnn_rnn_layer", "_thnn_fused_lstm_cell", "_thnn_fused_gru_cell", "mkldnn_linear", "mkldnn_convolution",
    "_native_multi_head_attention", "_transformer_encoder_layer_fwd",
    # In inference mode, torch does not decompose these.
    "linear", "matmul", "einsum", "bilinear", "scaled_dot_product_attention",
    "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
    "lstm", "gru", "rnn_tanh", "rnn_relu", "lstm_cell", "gru_cell",
))  # fmt: skip


class Flops(TorchDispatchMode):
    """Counts the floating-point operations of matrix products, convolutions and attention by torch's own formulas.

    Other operators are not counted. `count` is 0, which means unknown, if a product ran for which torch has no formula.
    """

    COUNT_MAX = 1 << 62
    # torch's table lacks the CPU's operator. Its arguments are those of the CUDA operator.
    ON_PROCESSORS = "aten::_scaled_dot_product_flash_attention_for_cpu"

    def __init__(self) -> None:
        super().__init__()
        self.sum, self.is_known = 0, True

    @property
    def count(self) -> int:
        return self.sum if self.is_known and self.sum < self.COUNT_MAX else 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = kwargs or {}
        result = func(*args, **given)
        name, operator = func._schema.name, func._overloadpacket
        if name == self.ON_PROCESSORS:
            operator = torch.ops.aten._scaled_dot_product_flash_attention
        self.is_known = self.is_known and name.removeprefix("aten::") not in PRODUCTS_WITHOUT_FORMULA
        if formula := flop_registry.get(operator):
            try:
                self.sum += int(formula(*args, **given, out_val=result))
            except Exception:  # a form of the operator that the formula does not know
                self.is_known = False
        return result


class Bounded(TorchDispatchMode):
    """Raises TooMuch if real work takes too much memory or time."""

    def __init__(self, bytes_max: int = CONSTRUCTED_BYTES_MAX, seconds_max: float = CONSTRUCTED_SECONDS_MAX) -> None:
        super().__init__()
        self.bytes_max, self.seconds_max = bytes_max, seconds_max
        self.end_s = time.monotonic() + seconds_max
        self.held: dict[int, tuple[Any, int]] = {}  # by storage: a weak reference and its bytes
        self.bytes = 0  # their sum; freed ones count until it exceeds bytes_max

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        given = kwargs or {}
        if time.monotonic() > self.end_s:
            raise TooMuch(f"it takes longer than {self.seconds_max:g} s {REAL}")
        if not any(isinstance(value, torch.Tensor) for value in args):
            # A function that creates a tensor: find its size on the device meta before memory is allocated.
            planned = None
            with contextlib.suppress(Exception):
                planned = func(*args, **{**given, "device": "meta"})
            self.hold(planned)
            del planned
        result = func(*args, **given)
        self.hold(result)
        return result

    def hold(self, result: Any) -> None:
        """Counts the memory of new tensors."""
        for tensor in result if isinstance(result, list | tuple) else [result]:
            if not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided:
                continue
            storage = tensor.untyped_storage()
            known, size = self.held.get(storage._cdata, (None, 0))
            if known is None or known.expired():
                self.held[storage._cdata] = (StorageWeakRef(storage), storage.nbytes())
                self.bytes += storage.nbytes() - size
        if self.bytes > self.bytes_max:
            self.held = {key: (ref, size) for key, (ref, size) in self.held.items() if not ref.expired()}
            self.bytes = sum(size for _, size in self.held.values())
        if self.bytes > self.bytes_max:
            raise TooMuch(f"it takes more than {self.bytes_max >> 20} MB {REAL}")


def state_text(state: Any) -> str:
    """A hash of a generator's state."""
    return hashlib.sha256(pickle.dumps(state)).hexdigest()[:16]


def generators(module: Any, made: torch.nn.Module) -> Iterator[tuple[str, Any]]:
    """Python's and NumPy's generators that forward() can reach, each with a function that returns its state."""
    yield "Python's random", random.getstate
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        yield "numpy.random", numpy.random.get_state
    for owner in (module, *made.modules()):
        for name, value in vars(owner).items():
            if isinstance(value, random.Random):
                yield f"the random.Random {name}", value.getstate
            elif numpy is not None and isinstance(value, numpy.random.Generator):
                yield f"the numpy.random.Generator {name}", lambda own=value: own.bit_generator.state
            elif numpy is not None and isinstance(value, numpy.random.RandomState):
                yield f"the numpy.random.RandomState {name}", value.get_state


class Draws:
    """Finds generators, other than torch's, that forward() draws from.

    hone seeds only torch for each call. With another generator, reference and submission draw different numbers.
    """

    def __init__(self, module: Any, made: torch.nn.Module) -> None:
        self.states = {name: (state, state_text(state())) for name, state in generators(module, made)}

    def drawn(self) -> dict[str, tuple[str, str]]:
        """The generators whose state changed, each with its states before and after."""
        after = {name: (before, state_text(state())) for name, (state, before) in self.states.items()}
        return {name: pair for name, pair in after.items() if pair[0] != pair[1]}


def unseeded(first: dict[str, tuple[str, str]], second: dict[str, tuple[str, str]]) -> list[str]:
    """The generators that both of two runs drew from, without those that forward() seeds itself.

    A generator that forward() seeds is in the same state after both runs, and in different states before them.
    """
    names = [name for name in first if name in second]
    return [name for name in names if first[name][1] != second[name][1] or first[name][0] == second[name][0]]
