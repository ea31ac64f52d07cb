"""Fixtures of the trainers' tests: the servers of the clients' tests."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "clients"))

from servers import real, scripted, scripted_pair

# Whatever a trainer would fetch from a hub is made in the test. One thread: these models have nothing to share, and
# threads that spin for each other take the cores from the server.
os.environ.update(HF_HUB_OFFLINE="1", TRL_EXPERIMENTAL_SILENCE="1", WANDB_MODE="disabled", OMP_NUM_THREADS="1")

__all__ = ["real", "scripted", "scripted_pair"]
