"""A module's dry run: failures that are certain, and failures that only the device can confirm."""

import pytest

from conftest import linear_row

LAYER = """
class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = torch.nn.Linear(width, width)
        self.slow = False

    def forward(self, x):
        z = self.fc(x)
        y = torch.empty_like(z)
"""
KERNEL = """
import torch
import triton
import triton.language as tl

@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.exp(tl.load(x + at, mask=at < n)), mask=at < n)
"""
START = "        kernel[(1,)](z, y, z.numel(), BLOCK=128)\n        return y\n"
TUNED = KERNEL.replace(
    "@triton.jit",
    """
@triton.autotune(configs=[triton.Config({"BLOCK": 4096}), triton.Config({"BLOCK": 128})], key=["n"])
@triton.jit
""",
).replace("    at =", "    tl.static_assert(BLOCK <= 1024)\n    at =")
ASKS = """
        try:
            large = z.sum().item() > 1e6
        except Exception:
"""
CAUGHT = ASKS + "            import a_library_that_is_not_there\n        return z\n"
LATER = """
            self.slow = True
        if self.slow:
            import a_library_that_is_not_there
        return z
"""
NOTED = ASKS.rstrip("\n") + LATER
PROPERTIES = NOTED.replace("large = z.sum().item() > 1e6", "torch.cuda.get_device_properties(0)")
SOURCES = {
    "a kernel that compiles": (KERNEL + LAYER + START, ""),
    "one that does not": (
        KERNEL.replace("tl.exp", "tl.no_such_function") + LAYER + START,
        "run CompilationError: ",
    ),
    "a library that is missing": ("import a_library_that_is_not_there\nModelNew = None\n", "load ModuleNotFound"),
    "and the one in its place": (
        "try:\n    import not_there\nexcept ImportError:\n    import not_there_either\nModelNew = None\n",
        "load ModuleNotFoundError: No module named 'not_there_either'",
    ),
    "a choice of which the first does not fit": (
        TUNED + LAYER + START.replace("[(1,)]", "[lambda m: (1,)]").replace(", BLOCK=128", ""),
        "",
    ),
    "a choice of which none fits": (
        TUNED.replace("128", "2048") + LAYER + START.replace(", BLOCK=128", ""),
        "run CompileTimeAssertionFailure: ",
    ),
    "a way out where values are missing": ("import torch\n" + LAYER + CAUGHT, ""),
    "one taken later": ("import torch\n" + LAYER + NOTED, ""),
    "one for want of a device": ("import torch\n" + LAYER + PROPERTIES, ""),
    "a library for machines without a device": (
        "import torch\nif not torch.cuda.is_available():\n    import a_library_that_is_not_there\n"
        + LAYER
        + "        return z\n",
        "",
    ),
    "a library that says that another is missing": (
        "raise ModuleNotFoundError('of some version')\nModelNew = None\n",
        "",
    ),
}


@pytest.fixture(scope="module")
def answers(dry_run):
    said = dry_run([linear_row(source) for source, _ in SOURCES.values()])
    return {name: answer["words"] for name, answer in zip(SOURCES, said, strict=True)}


@pytest.mark.parametrize("name", SOURCES)
def test_certain_failures_alone_are_reported(answers, name) -> None:
    """Words are a verdict; where there are none, the device is asked."""
    expected = SOURCES[name][1]
    assert answers[name].startswith(expected) if expected else answers[name] == ""
