"""The KernelBench Triton pipeline's three functions, judged by hone instead of by Modal.

``benchmark_triton_kernel``, ``benchmark_kernelbench`` and ``benchmark_batch`` have the parameters
of the pipeline's functions and return the same dictionary. Each can also be called as
``f.remote(...)`` and ``await f.remote.aio(...)``. They use a gateway
(``hone gateway tritonforge``): the one given to ``connect()``; or ``HONE_GATEWAY``, with the token
in ``HONE_GATEWAY_TOKEN``; or ``http://127.0.0.1:18188``::

    import hone.kernelbench_triton as bench

    bench.connect("http://127.0.0.1:18188")
    result = bench.benchmark_kernelbench.remote(triton_code=kernel, pytorch_code=module)
    print(result["correctness"], result["error"])

Modules are not timed on the processor. A correct kernel's result then has ``speedup`` 0.0, both
times None, and the reason in ``not_measured``. A fault of the machine raises an exception after the
gateway's own retries. A reference that cannot be used as a task raises ``InvalidArgument``.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any, Generic, ParamSpec, TypeVar

from hone._references import check_reference, module_of
from hone._text import sendable
from hone.errors import HoneError

from ._gateway import ask, connect

__all__ = [
    "app",
    "benchmark_batch",
    "benchmark_kernelbench",
    "benchmark_triton_kernel",
    "connect",
]

P = ParamSpec("P")
R = TypeVar("R")

DEFAULT_ENTRY = "Model"
BATCH_AT_A_TIME = 16
# A verdict's reason for an exception that ended a call.
UNCAUGHT = re.compile(r"uncaught exception '(.*)'", re.DOTALL)
ERROR_NAME = re.compile(r"[A-Za-z_.]*(Error|Exception|Exit)\b")
NAMES = {
    "build_failed": "CompilationError",
    "no_code": "ValueError",
    "rejected": "ValueError",
    "wrong": "AssertionError",
}


def _error_of(metadata: dict[str, Any]) -> str:
    """The text of an exception: its name, then the reason of the verdict."""
    outcome = str(metadata.get("outcome", ""))
    for key in ("compilation_error", "runtime_error", "correctness_issue"):
        if text := str(metadata.get(key, "")):
            raised = UNCAUGHT.search(text)
            text = raised[1] if raised else text
            name = "" if ERROR_NAME.match(text) else f"{NAMES.get(outcome, 'RuntimeError')}: "
            return name + text
    return f"RuntimeError: {metadata.get('reason') or outcome}"


def _judge(
    submission: str,
    reference: str,
    entry: str,
    kernel_name: str | None,
    trials: tuple[int, int],
    *,
    wrong_is_error: bool = True,
) -> dict[str, Any]:
    """The pipeline's dictionary of one kernel.

    Rationale: the pipeline's orchestrator reports a missing error as "Unknown error", but its test
    of ``benchmark_triton_kernel`` expects no error for a kernel whose outputs alone are wrong.
    """
    check_reference(reference)
    result: dict[str, Any] = {
        "kernel_name": kernel_name or "unnamed_kernel",
        "timestamp": datetime.now().isoformat(),
        "correctness": False,
        "speedup": 0.0,
        "reference_time_ms": None,
        "kernel_time_ms": None,
        "fast_0": False,
        "fast_1": False,
        "fast_2": False,
        "error": None,
    }
    reply = ask(
        {
            "original_model_src": reference,
            "custom_model_src": sendable(submission),
            "num_correct_trials": trials[0],
            "num_perf_trials": trials[1],
            "backend": "triton",
            "entry_point": entry,
        }
    )
    if isinstance(reply, str):  # a submission that is too long, or no text
        return {**result, "error": f"ValueError: {reply}"}
    metadata = reply["metadata"]
    result["correctness"] = result["fast_0"] = reply["correctness"]
    if not reply["correctness"]:
        is_error = wrong_is_error or metadata.get("outcome") != "wrong"
        return {**result, "error": _error_of(metadata) if is_error else None}
    stats = reply["runtime_stats"]
    if "speedup" not in stats:
        why = metadata.get("error_during_performance", "not measured")
        return {**result, "not_measured": why}
    result["reference_time_ms"], result["kernel_time_ms"] = stats["reference_mean"], stats["mean"]
    result["speedup"] = stats["speedup"]
    result["fast_1"], result["fast_2"] = stats["speedup"] > 1.0, stats["speedup"] >= 2.0
    return result


class _Remote(Generic[P, R]):
    """A function's ``.remote``: a call, and ``.aio`` for asyncio."""

    def __init__(self, function: Callable[P, R]) -> None:
        self._function = function

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._function(*args, **kwargs)

    async def aio(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The same, without blocking the event loop."""
        return await asyncio.to_thread(self._function, *args, **kwargs)


class _Function(Generic[P, R]):
    """Stands in for one of Modal's functions."""

    def __init__(self, function: Callable[P, R]) -> None:
        self._function = function
        self.remote = _Remote(function)
        self.local = function
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._function(*args, **kwargs)


class _App:
    """Stands in for Modal's app: there is nothing to start."""

    name = "kernelbench-triton"

    @contextlib.contextmanager
    def run(self, *_: object, **__: object) -> Iterator[_App]:
        """Does nothing: the gateway runs already."""
        yield self

    def local_entrypoint(
        self, *_: object, **__: object
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Leaves the function as it is: call it."""
        return lambda function: function


app = _App()


@_Function
def benchmark_triton_kernel(
    kernel_code: str,
    reference_torch_code: str,
    input_shapes: dict[str, Any],
    n_correctness: int = 10,
    n_trials: int = 100,
    n_warmup: int = 10,
    kernel_name: str | None = None,
    rtol: float = 1e-5,
    atol: float = 1e-5,
) -> dict[str, Any]:
    """Judges a ``triton_kernel_wrapper`` against a function ``reference_impl``.

    Args:
        kernel_code: Source that defines ``triton_kernel_wrapper``, called with the inputs by name.
        reference_torch_code: Source that defines ``reference_impl``; it is run as trusted code.
        input_shapes: By input, ``{"shape": [..], "dtype": "float32"}``.
        n_correctness: Copied to the result; hone chooses its number of trials itself.
        n_trials: As n_correctness.
        n_warmup: As n_correctness.
        kernel_name: For the result.
        rtol: Not used; the outputs' type has a tolerance (docs/modules-reference.md).
        atol: As rtol.

    Returns:
        kernel_name, timestamp, correctness, speedup, reference_time_ms and kernel_time_ms (ms, None
        where not measured), fast_0, fast_1, fast_2, error (None where only the outputs are wrong),
        input_shapes, n_correctness, n_trials.

    Raises:
        InvalidArgument: input_shapes is wrong, or the reference cannot be used.
        Unavailable, DeadlineExceeded: A fault of the machine, or no gateway answers.
    """
    reference = module_of(reference_torch_code, input_shapes)
    if re.search(r"\btriton_kernel_wrapper\b", kernel_code):
        # By name, as the pipeline does, in whichever order the wrapper has them.
        names = ", ".join(input_shapes)
        passed = ", ".join(f"{name}={name}" for name in input_shapes)
        kernel_code += (
            "\n\n_hone_by_name = triton_kernel_wrapper\n\n\n"
            f"def triton_kernel_wrapper({names}):\n    return _hone_by_name({passed})\n"
        )
    trials = (n_correctness, n_trials)
    result = _judge(
        kernel_code, reference, "HoneReference", kernel_name, trials, wrong_is_error=False
    )
    asked = {"n_correctness": n_correctness, "n_trials": n_trials}
    return {**result, "input_shapes": input_shapes, **asked}


@_Function
def benchmark_kernelbench(
    triton_code: str,
    pytorch_code: str,
    n_correctness: int = 5,
    n_trials: int = 20,
    kernel_name: str | None = None,
    entry_point: str = DEFAULT_ENTRY,
    rtol: float = 1e-4,
    atol: float = 1e-4,
) -> dict[str, Any]:
    """Judges a kernel against a module of KernelBench or KernelBook.

    Args:
        triton_code: Source that defines ``triton_kernel_wrapper`` or ``ModelNew``.
        pytorch_code: The module, with ``get_inputs()`` and ``get_init_inputs()``; trusted code.
        n_correctness: Not used; hone chooses its number of trials itself.
        n_trials: As n_correctness.
        kernel_name: For the result.
        entry_point: The module's class. The default is ``Model``, or, without such a class, the
            last one that accepts ``get_init_inputs()``.
        rtol: Not used; the outputs' type has a tolerance (docs/modules-reference.md).
        atol: As rtol.

    Returns:
        kernel_name, timestamp, correctness, speedup, reference_time_ms and kernel_time_ms (ms, None
        where not measured), fast_0, fast_1, fast_2, error.

    Raises:
        InvalidArgument: The reference cannot be used.
        Unavailable, DeadlineExceeded: A fault of the machine, or no gateway answers.
    """
    entry = "" if entry_point == DEFAULT_ENTRY else entry_point
    return _judge(triton_code, pytorch_code, entry, kernel_name, (n_correctness, n_trials))


@_Function
def benchmark_batch(kernels: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Judges many kernels, several at a time.

    Args:
        kernels: Each with triton_code and pytorch_code, and any other of
            ``benchmark_kernelbench``'s parameters.

    Returns:
        Their results, in order.

    Raises:
        InvalidArgument: A reference cannot be used; the others have been judged then.
        Unavailable, DeadlineExceeded: A fault, or no gateway. The message of each
            begins with the kernel's place: ``kernels[3]: ...``.
    """
    known = ("n_correctness", "n_trials", "kernel_name", "entry_point", "rtol", "atol")

    def judge(place: int, kernel: dict[str, Any]) -> dict[str, Any]:
        given = {name: kernel[name] for name in known if name in kernel}
        try:
            return benchmark_kernelbench(kernel["triton_code"], kernel["pytorch_code"], **given)
        except HoneError as error:
            error.args = (f"kernels[{place}]: {error}",)
            raise

    with ThreadPoolExecutor(BATCH_AT_A_TIME) as pool:
        return list(pool.map(judge, range(len(kernels)), kernels))
