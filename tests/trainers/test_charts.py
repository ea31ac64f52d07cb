"""A server's numbers in TensorBoard's own files."""

from __future__ import annotations

from pathlib import Path

import hone
from hone.charts import scalars
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from torch.utils.tensorboard import SummaryWriter

from servers import RealServer


def test_tensorboard_shows_the_numbers_of_each_step(real: RealServer, tmp_path: Path) -> None:
    with hone.connect(real.endpoint) as client, SummaryWriter(str(tmp_path)) as writer:
        for step in range(2):
            client.reset("add_relu").episode.step("no code")
            for name, value in scalars(client.metrics()).items():
                writer.add_scalar(name, value, step)
    shown = EventAccumulator(str(tmp_path)).Reload()
    first, second = (event.value for event in shown.Scalars("hone/service/steps/done"))
    assert second == first + 1
