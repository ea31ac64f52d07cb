"""The trace of a call: the kernels and operators that it starts."""

import json

COMPILED = """
import json, sys
import triton.compiler
import module_work

class Kernel:
    name = "softmax"

    def __getitem__(self, grid):
        return lambda *args: started.append((grid, args))

started = []
triton.compiler.CompiledKernel = Kernel
before = Kernel.__getitem__
module_work.WATCH.ask()
module_work.WATCH.call(lambda: [Kernel()[(2, 1, 1)](3) for _ in range(2)])
assert started == [((2, 1, 1), (3,))] * 2, started
assert Kernel.__getitem__ is before
print(module_work.WATCH.words(1000))
"""


def test_kernels_that_were_compiled_before_count(run_beside_modules):
    """kernel.warmup(…)[grid](…), as Triton's own examples have it."""
    printed = run_beside_modules(COMPILED)
    assert json.loads(printed) == {"kernels": {"softmax": 2}, "operators": {}}
