"""The benchmark of several servers runs; how fast is not a test's business."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from conftest import ROOT


@pytest.mark.real
def test_the_fleet_benchmark_has_all_figures() -> None:
    binary = os.environ.get("HONE_BINARY")
    if not binary:
        pytest.skip("HONE_BINARY names no server")
    small = ["--servers", "2", "--workers", "1", "--at-once", "2", "--seconds", "1", "--rounds", "1"]
    small += ["--pairs", "3", "--pair-seconds", "0.2"]
    command = [str(ROOT / "scripts/bench-fleet"), "--hone", binary, "--requests-only", "--json", *small]
    figures = json.loads(subprocess.check_output(command, timeout=120))
    assert [figure["name"] for figure in figures] == [
        "requests, a list of one server over its address",
        "requests, a list of 2 servers over one",
    ]
    close, wide = figures
    low, high = close["quartiles"]
    assert 0 < low <= close["ratio"] <= high
    assert wide["ratio"] == pytest.approx(wide["value"] / wide["baseline"])
