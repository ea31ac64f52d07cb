"""Forks of a zygote do not share their random numbers."""

import subprocess

from module_folders import ENVIRONMENT

DRAWS = """
import ctypes, os, random, sys
import zygote
import numpy.random, torch

def draws(anew):
    reading, writing = os.pipe()
    pid = ctypes.PyDLL(None).fork()  # as the launcher forks: Python's hooks do not run
    if pid == 0:
        if anew:
            zygote.draw_anew()
        os.write(writing, f"{random.random()} {numpy.random.rand()} {torch.rand(1).item()}".encode())
        os._exit(0)
    os.waitpid(pid, 0)
    return os.read(reading, 1000).decode().split()

for anew in (True, False):
    print(*[a == b for a, b in zip(draws(anew), draws(anew))])
"""


def test_forks_draw_their_own_numbers(python: str) -> None:
    """Otherwise a submission knows what its reference draws: both are forks."""
    command = [python, "-c", DRAWS, "processor"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=ENVIRONMENT)
    assert done.stdout.split("\n")[:2] == ["False False False", "True True True"], done.stderr
