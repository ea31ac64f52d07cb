"""The folders of the module scripts, for tests that import them."""

import os
from pathlib import Path

MODULE = Path(__file__).resolve().parents[2] / "core/candidate/module"
FOLDERS = [str(MODULE / side) for side in ("builder", "device", "shared")]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(FOLDERS)}
