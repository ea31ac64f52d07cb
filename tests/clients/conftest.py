"""The servers of the tests as fixtures."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from scripted import ScriptedServer
from servers import ROOT, RealServer, free_port, real, scripted, scripted_pair

# Whoever starts the tests in the background of a shell without job control has the interrupt ignored in all of them.
signal.signal(signal.SIGINT, signal.default_int_handler)

__all__ = ["ROOT", "RealServer", "free_port", "real", "scripted", "scripted_pair"]


@pytest.fixture(params=["scripted", pytest.param("real", marks=pytest.mark.real)])
def endpoint(request: pytest.FixtureRequest) -> str:
    """Every server there is: a test that uses this one runs against each."""
    if request.param == "real":
        serving: RealServer = request.getfixturevalue("real")
        return serving.endpoint
    following: ScriptedServer = request.getfixturevalue("scripted")
    return following.endpoint
