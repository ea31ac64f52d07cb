"""Copies of a warm interpreter: what they share and what they must not."""

import subprocess
from pathlib import Path

SHARE = Path(__file__).parents[2] / "core/candidate/module"
DRAWS = """
import ctypes, os, random, sys
sys.path.insert(0, sys.argv[2])
import warm_modules
import numpy.random, torch

def draws(anew):
    reading, writing = os.pipe()
    pid = ctypes.PyDLL(None).fork()  # as the launcher copies it: Python does not hear of it
    if pid == 0:
        if anew:
            warm_modules.draw_anew()
        os.write(writing, f"{random.random()} {numpy.random.rand()} {torch.rand(1).item()}".encode())
        os._exit(0)
    os.waitpid(pid, 0)
    return os.read(reading, 1000).decode().split()

for anew in (True, False):
    print(*[a == b for a, b in zip(draws(anew), draws(anew))])
"""


def test_copies_draw_numbers_of_their_own(python: str) -> None:
    """Or a submission would know what its reference draws: it is a copy, too."""
    command = [python, "-c", DRAWS, "processor", str(SHARE)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.split("\n")[:2] == ["False False False", "True True True"], done.stderr
