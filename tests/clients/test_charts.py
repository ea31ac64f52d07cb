"""Numbers for the charts of a training run, from metrics of a real server."""

from __future__ import annotations

import hone
import pytest
from hone.charts import scalars

from servers import RealServer


def test_nested_names_are_joined_and_histograms_have_a_mean() -> None:
    metrics = {
        "queue": 2,
        "journal": None,
        "service": {
            "ready": True,
            "tasks": {"softmax": {"reward": {"count": 4, "sum": 3.0, "buckets": {"0": 1}}}},
            "words": ["a"],
        },
        "clients": {"me": {"busy": 1}},
        "wait": {"count": 0, "sum": 0.0},
    }
    assert scalars(metrics) == {
        "hone/queue": 2,
        "hone/service/ready": 1,
        "hone/service/tasks/softmax/reward/count": 4,
        "hone/service/tasks/softmax/reward/mean": 0.75,
        "hone/wait/count": 0,
    }
    assert scalars({"count": 2, "sum": 1.0}, "") == {"count": 2, "mean": 0.5}


@pytest.mark.real
def test_a_step_shows_in_the_numbers(real: RealServer) -> None:
    with hone.connect(real.endpoint) as client:
        before = scalars(client.metrics())["hone/service/steps/done"]
        client.reset("add_relu").episode.step("no code")
        after = scalars(client.metrics())
    assert after["hone/service/steps/done"] == before + 1
    assert all(type(value) is float for value in after.values())
