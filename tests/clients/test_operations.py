"""What monitoring sees of a real server: metrics of steps, readiness while it drains, and JSON logs."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import hone
import pytest

from servers import RealServer, wait_until
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


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 8 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("only root on a machine that allows mounts can make a small disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_server_with_a_full_disk_is_not_ready(small_disk: Path, tmp_path: Path) -> None:
    server = RealServer(tmp_path / "serve.log", 0, "--web", "0", "--set", f"journal.path={small_disk / 'run.db'}")
    try:
        assert get(server, "/readyz") == (200, '{"status":"serving","problems":[]}')
        big = small_disk / "big"
        big.write_bytes(bytes(5 << 20))
        wait_until(lambda: get(server, "/readyz")[0] == 503)
        answer = json.loads(get(server, "/readyz")[1])
        assert answer == {"status": "failing", "problems": [f"journal: {small_disk} has less than 4 MiB free"]}
        assert get(server, "/healthz")[0] == 200, "a restart would not help"
        assert {"hone_up 0", "hone_problems 1"} <= set(get(server, "/metrics")[1].splitlines())
        big.unlink()
        wait_until(lambda: get(server, "/readyz")[0] == 200)
        assert "hone_up 1" in get(server, "/metrics")[1].splitlines()
    finally:
        server.stop()


def copied_program(folder: Path) -> Path:
    """A copy of hone, so that a test can replace its judge."""
    binary = Path(os.environ["HONE_BINARY"])
    folder.mkdir()
    shutil.copy(binary, folder / "hone")
    for name in ("libexec", "plugins", "share"):  # copies, because a sandbox has no other folder
        shutil.copytree(binary.parent / name, folder / name, symlinks=True)
    return folder / "hone"


def judges_of(server: RealServer, program: Path) -> list[int]:
    """The processes of this copy's judge, by device."""
    found = {}
    for process in Path("/proc").iterdir():
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0] == bytes(program.parent / "libexec" / "hone-judge"):
            found[int(words[2])] = int(process.name)
    return [found[device] for device in sorted(found)]


@pytest.mark.parametrize("devices", [1, 2])
def test_a_server_is_ready_while_the_judge_of_one_device_starts(devices: int, tmp_path: Path) -> None:
    program = copied_program(tmp_path / "copy")
    core = min(os.sched_getaffinity(0))
    several = json.dumps([{"judge_cpu": core, "cores": [core]}] * devices)
    server = RealServer(tmp_path / "serve.log", 0, "--web", "0", "--set", f"cpu.devices={several}", program=program)
    judge = program.parent / "libexec" / "hone-judge"
    works = judge.read_bytes()
    try:
        with hone.connect(server.endpoint) as client:
            judges = judges_of(server, program)
            assert len(judges) == devices
            judge.unlink()
            judge.write_text("#!/bin/sh\necho this judge does not start >&2\nexit 1\n")
            judge.chmod(0o755)
            os.kill(judges[0], signal.SIGKILL)
            failing = "hone_devices_failing 1"
            steps = []

            def has_failed() -> bool:
                """Steps, until one of them needs the device that has no judge."""
                steps.append(client.reset("add_relu").episode.step(FAST))
                return failing in get(server, "/metrics")[1].splitlines()

            wait_until(has_failed)
            wait_until(lambda: json.loads(get(server, "/readyz")[1])["problems"] != [])
            status, text = get(server, "/readyz")
            answer = json.loads(text)
            assert "this judge does not start" in answer["problems"][0]
            samples = set(get(server, "/metrics")[1].splitlines())
            if devices == 1:
                assert (status, answer["status"]) == (503, "failing")
                assert {"hone_up 0", "hone_problems 1", failing, "hone_devices 1"} <= samples
            else:
                assert (status, answer["status"]) == (200, "serving")
                assert {"hone_up 1", "hone_problems 0", failing, "hone_devices 2"} <= samples
                steps += [client.reset("add_relu").episode.step(FAST) for _ in range(6)]
                assert all(step.reward_valid for step in steps[-6:]), [step.info for step in steps]
            judge.write_bytes(works)
            wait_until(
                lambda: client.reset("add_relu").episode.step(FAST) and get(server, "/readyz")[1].endswith("[]}")
            )
            assert get(server, "/readyz")[0] == 200
    finally:
        server.stop()
