"""What monitoring sees of a real server: metrics of steps, readiness while it drains, and JSON logs."""

from __future__ import annotations

import json
import signal
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import hone
import pytest

from servers import RealServer
from test_journal import FAST
from test_shutdown import SPINS

pytestmark = pytest.mark.real


def get(server: RealServer, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(server.announced["web"] + path) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_steps_are_in_metrics_and_json_logs_and_a_draining_server_is_not_ready(tmp_path: Path) -> None:
    log = tmp_path / "serve.log"
    server = RealServer(log, 0, "--web", "0", "--set", "log.format=json", "--set", "server.drain_s=300")
    checking = threading.Event()

    def on_progress(progress: dict[str, Any]) -> None:
        if progress["stage"] == "checking":
            checking.set()

    try:
        with hone.connect(server.endpoint, name="watched") as client, ThreadPoolExecutor() as pool:
            episode = client.reset("add_relu").episode
            first = episode.step(FAST)
            _, text = get(server, "/metrics")
            lines = text.splitlines()
            assert "hone_steps_total 1" in lines
            assert 'hone_evaluations_total{outcome="correct"} 1' in lines
            assert 'hone_task_reward_count{task="tasks/add_relu"} 1' in lines
            assert 'hone_task_speedup_bucket{task="tasks/add_relu",le="+Inf"} 1' in lines
            assert 'hone_stage_seconds_count{stage="build"} 1' in lines
            spinning = pool.submit(episode.step, SPINS, on_progress=on_progress)
            assert checking.wait(60)
            server.process.send_signal(signal.SIGTERM)
            while (answer := get(server, "/readyz"))[0] == 200:
                assert server.process.poll() is None
            assert answer == (503, '{"status":"draining","problems":[]}')
            assert get(server, "/healthz")[0] == 200
            assert "hone_draining 1" in get(server, "/metrics")[1].splitlines()
            client.close()
            spinning.exception()
    finally:
        server.process.kill()
        server.process.wait()
    logged = [json.loads(line) for line in log.read_text().splitlines()]
    for line in logged:
        at = datetime.strptime(line["time"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
        assert abs(datetime.now(timezone.utc) - at) < timedelta(hours=1)
    (turn,) = (line for line in logged if line.get("turn") == 1)
    assert turn["level"] == "info"
    assert (turn["episode"], turn["client"], turn["task"]) == (episode.id, "watched", "tasks/add_relu")
    assert (turn["outcome"], turn["reward"], turn["ended"]) == ("correct", first.reward, False)
    assert turn["stage_ms"].keys() >= {"build"}
