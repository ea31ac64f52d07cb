"""Without Chromium, the tests of the web page are skipped, or fail if HONE_REQUIRE_BROWSER is set."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.parametrize("required", ["", "1"])
def test_without_chromium_the_tests_of_the_page_are_skipped_or_fail(required: str, tmp_path: Path) -> None:
    environment = {**os.environ, "HONE_REQUIRE_BROWSER": required, "PATH": str(tmp_path)}
    environment.pop("HONE_CHROMIUM", None)
    command = [sys.executable, "-m", "pytest", "-c", str(HERE / "pytest.ini"), "-p", "no:cacheprovider", "-rs", "-x"]
    command += [str(HERE / "test_web_page.py"), "-k", "follows_the_steps"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False)
    assert "found no Chromium; scripts/setup --browser installs it" in ran.stdout, ran.stdout + ran.stderr
    assert ran.returncode == (1 if required else 0)
