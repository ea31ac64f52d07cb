"""A baseline runs in its faster mode: compiled or eager."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from module_folders import ENVIRONMENT

from conftest import SECONDS_MAX

CHOICES = """
import sys
import torch
import module_baseline

kind = sys.argv[1]
TIMES = {"eager": 0.02, "quick": 0.001, "slow": 0.05}
module_baseline.COMPILING_SECONDS = 0.5 if kind == "endless" else 600

class Model(torch.nn.Module):
    def compile(self):
        if kind == "broken":
            raise RuntimeError("no compiler is found")
        while kind == "endless":
            pass
        self._compiled_call_impl = lambda *inputs: self.work("compiled")

    def forward(self, x):
        return self.work("eager")

    def work(self, mode):
        self.mode = mode
        module_baseline.time.sleep(TIMES["eager" if mode == "eager" else kind])
        return torch.zeros(1)

model = Model()
said, warns = module_baseline.make_fastest(model, lambda: [torch.zeros(1)])
model(torch.zeros(1))
print(model.mode, said)
print(warns)
"""


@pytest.mark.parametrize(
    ("kind", "said", "warns"),
    [
        ("quick", "compiled its baseline is compiled by torch.compile: eager ", False),
        ("slow", "eager its baseline is eager: ", False),
        ("broken", "eager its baseline is eager: it cannot be compiled: RuntimeError: no compiler is found", True),
        (
            "endless",
            "eager its baseline is eager: it cannot be compiled: TimeoutError: compiling takes more than 0.5 s",
            True,
        ),
    ],
)
def test_the_mode_that_takes_less_is_taken(
    run_beside_modules: Callable[..., str], tmp_path: Path, kind: str, said: str, warns: bool
) -> None:
    printed = run_beside_modules(CHOICES, kind, folder=tmp_path)
    assert printed.startswith(said)
    assert printed.endswith(f"\n{warns}\n")


COMPILED = """
import os, sys
import torch
import module_baseline

class Model(torch.nn.Module):
    def forward(self, x):
        for _ in range(40):
            x = (x * 1.5 + 1).clamp(-2, 2)
        return x

module_baseline.COMPILING_SECONDS = 240  # others may be at work here
model, x = Model(), torch.randn(1 << 16)
before = model(x)
said, warns = module_baseline.make_fastest(model, lambda: [x])
print(", compiled " in said, torch.allclose(model(x), before), os.path.isdir("inductor"))
"""


def test_torchs_compiler_itself_is_used(python: str, tmp_path: Path) -> None:
    command = [python, "-c", COMPILED]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=SECONDS_MAX, check=False, cwd=tmp_path, env=ENVIRONMENT
    )
    assert done.stdout.strip() == "True True True", done.stderr
