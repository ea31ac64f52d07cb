"""A server's numbers in TensorBoard's own files, by the example of the documentation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import hone
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from servers import RealServer

PAGE = Path(__file__).parents[2] / "docs/operations/monitoring/README.md"


def test_the_example_writes_the_numbers_of_each_step(
    real: RealServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (block,) = re.findall(r"^```python name=tensorboard\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(block.replace("tcp://127.0.0.1:5917", real.endpoint), names)
    with hone.connect(real.endpoint) as client, names["client"], names["writer"]:
        for step in range(2):
            client.reset("add_relu").episode.step("no code")
            names["log"](step)
    shown = EventAccumulator(str(tmp_path / "runs/first")).Reload()
    first, second = (event.value for event in shown.Scalars("hone/service/steps/done"))
    assert second == first + 1
