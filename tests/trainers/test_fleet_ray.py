"""A fleet on a Ray cluster of several nodes on this machine."""

from __future__ import annotations

import collections
import json
import os
import signal
import stat
import subprocess
import sys
import time
import unittest.mock
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hone
import pytest
import ray
from hone.fleet import FleetConnection, on_ray
from ray.cluster_utils import Cluster

from servers import wait_until

ROOT = Path(__file__).resolve().parents[2]
HONE = os.environ.get("HONE_BINARY", str(ROOT / "build/dev/hone"))
FAST = (ROOT / "envs/kernel_refine/tasks/add_relu/golden/demo_4_fused.cpp").read_text()


def fleet(*arguments: str) -> subprocess.CompletedProcess[str]:
    """python -m hone.fleet, in a process of its own."""
    command = [sys.executable, "-m", "hone.fleet", *arguments]
    environment = {**os.environ, "RAY_ADDRESS": ray.get_runtime_context().gcs_address}
    return subprocess.run(command, capture_output=True, text=True, timeout=180, env=environment)


def home_of(client, episode) -> str:
    return client._connection.home(episode.id).endpoint


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Three nodes: one for the driver and the registry, two for servers."""
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    for _ in range(2):
        made.add_node(num_cpus=1, resources={"hone": 1})
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture(scope="module")
def up(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    journal = tmp_path_factory.mktemp("parent") / "journal"  # up makes it
    options = ["--resources", "hone=1", "--journal", str(journal), "--set", 'web.listen="0"']
    made = fleet("up", "--nodes", "2", "--hone", HONE, *options)
    assert made.returncode == 0, made.stderr
    assert stat.S_IMODE(journal.stat().st_mode) == 0o700
    assert (journal / "hone-1.db").exists()
    yield made.stdout.strip()
    ended = fleet("down")
    assert (ended.returncode, ended.stdout) == (0, "2 servers ended\n"), ended.stderr


def serving_rows() -> list[dict[str, Any]]:
    """The status once both servers have answered: one that takes more than 5 s is `not answering`."""
    rows: list[dict[str, Any]] = []

    def all_serve() -> bool:
        rows[:] = on_ray.status()
        return [row["state"] for row in rows] == ["serving", "serving"]

    wait_until(all_serve)
    return rows


def test_the_printed_address_reaches_all_servers(up: str) -> None:
    assert up == "ray://hone"
    with hone.connect(up) as client:
        wait_until(lambda: sum(one.serves for one in client._connection.members()) == 2)
        started = [client.reset("add_relu").episode for _ in range(4)]  # the registry knows no load yet
        group = [client.reset("add_relu", group="g").episode for _ in range(4)]
        assert isinstance(client._connection, FleetConnection)
        assert len({home_of(client, one) for one in started}) == 2
        assert len({home_of(client, one) for one in group}) == 1
        assert started[0].step(FAST).info["verdict"]["outcome"] == "correct"
        # A server that takes more than 5 s to answer has its last known figures.
        wait_until(lambda: sum(row["episodes"] for row in json.loads(fleet("status", "--json").stdout)) == 8)
        for one in started + group:
            one.close()


def test_each_server_has_a_web_page(up: str) -> None:
    rows = serving_rows()
    for row in rows:
        with urllib.request.urlopen(f"{row['web']}/metrics") as answer:
            assert "\nhone_up 1\n" in answer.read().decode()
    assert len({row["web"] for row in rows}) == 2


def test_the_key_of_the_fleet_reaches_one_server(up: str, tmp_path: Path) -> None:
    key = tmp_path / "fleet.key"
    made = fleet("key", "--to", str(key))
    assert (made.returncode, made.stdout, made.stderr) == (0, "", "")
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    endpoint = serving_rows()[0]["endpoint"]
    with hone.connect(endpoint, key=key) as client:
        assert client.health()["status"] == "serving"
    shown = subprocess.run([HONE, "top", endpoint, "--key", str(key), "--once"], capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    again = fleet("key", "--to", str(key))
    assert again.returncode == 1
    assert f"{key}: File exists; expected the path of a new file" in again.stderr


def test_status_shows_a_server_that_does_not_answer(up: str) -> None:
    before = serving_rows()[1]
    assert "starting the launcher" in Path(before["log"]).read_text()
    node = ray.get_actor("hone-server-1", namespace=on_ray.NAMESPACE)
    os.kill(ray.get(node.pid.remote()), signal.SIGKILL)
    wait_until(lambda: on_ray.status()[1]["state"] == "not answering")
    assert on_ray.status()[1]["endpoint"] == before["endpoint"]
    serving_rows()
    rows = fleet("status").stdout.splitlines()
    assert rows[0].split() == ["server", "state", "open", "episodes", "web", "page"]
    assert [row.split()[0] for row in rows[1:]] == [row["endpoint"] for row in on_ray.status()]


def test_a_refused_token_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**options: object) -> None:
        reason = RuntimeError("Failed to connect to GCS.\nray.exceptions.AuthenticationError: the token is wrong\n")
        raise ConnectionError("Failed to connect to Ray cluster at HOST:6379") from reason

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", refuse)
    said = "Ray: Failed to connect to Ray cluster at HOST:6379: ray.exceptions.AuthenticationError: the token is wrong$"
    with pytest.raises(hone.Unavailable, match=said):
        hone.connect("ray://hone")
    monkeypatch.setattr(ray, "init", unittest.mock.Mock(side_effect=ConnectionError("no instance")))
    with pytest.raises(hone.Unavailable, match="found no Ray cluster; start one with `ray start --head`"):
        hone.connect("ray://hone")


def test_workers_that_do_not_know_each_other_spread_groups_evenly(up: str) -> None:
    @ray.remote(num_cpus=0)
    class Worker:
        def __init__(self) -> None:
            on_ray.REGISTRY_S = 60  # otherwise a worker of a busy machine chooses by itself
            self.client = hone.connect(up)
            self.episodes = []
            end = time.monotonic() + 60
            # A worker places groups only on servers that it has reached.
            while sum(one.serves for one in self.client._connection.members()) < 2 and time.monotonic() < end:
                time.sleep(0.05)

        def begin(self, group: str) -> str:
            episode = self.client.reset("add_relu", group=group).episode
            self.episodes.append(episode)
            return self.client._connection.home(episode.id).endpoint

        def close(self) -> None:
            for episode in self.episodes:
                episode.close()

    workers = [Worker.remote() for _ in range(4)]
    groups = [ray.get([one.begin.remote(f"group-{group}") for one in workers]) for group in range(10)]
    assert all(len(set(homes)) == 1 for homes in groups), "each group is on one server"
    on = collections.Counter(home for homes in groups for home in homes)
    assert max(on.values()) <= 24, "of 40"
    ray.get([one.close.remote() for one in workers])


@pytest.mark.parametrize("whom", ["pid", "actor_pid"])
def test_a_server_that_is_killed_comes_back_with_its_episodes(up: str, whom: str) -> None:
    with hone.connect(up, reconnect_timeout=90) as client:
        wait_until(lambda: sum(one.serves for one in client._connection.members()) == 2)
        before = {row["endpoint"] for row in on_ray.status()}
        started = []
        while len({home_of(client, one) for one in started}) < 2:
            started.append(client.reset("add_relu").episode)
            assert len(started) < 100
        node = ray.get_actor("hone-server-0", namespace=on_ray.NAMESPACE)
        endpoint, _ = ray.get(node.load.remote())
        assert endpoint in {home_of(client, one) for one in started}
        os.kill(ray.get(getattr(node, whom).remote()), signal.SIGKILL)
        new = [client.reset("add_relu", timeout=60).episode for _ in range(2)]
        for one in started[-2:] + new:
            assert one.step(FAST, timeout=120).reward_valid
        for one in started + new:
            one.close()
        wait_until(lambda: {row["endpoint"] for row in on_ray.status()} == before)


def test_errors_say_what_to_do(up: str) -> None:
    twice = fleet("up", "--nodes", "1", "--hone", HONE)
    assert (twice.returncode, twice.stdout) == (1, "")
    assert "fleet 'hone' exists; end it with `python -m hone.fleet down --name hone`" in twice.stderr
    unknown = fleet("down", "--name", "other")
    assert "Ray has no fleet 'other'; start it with `python -m hone.fleet up --name other`" in unknown.stderr
    large = fleet("up", "--name", "large", "--nodes", "9", "--hone", HONE, "--timeout", "1")
    assert "Ray found no 9 nodes with {'CPU': 1.0} each within 1 s; see `ray status`" in large.stderr
    unmade = fleet("up", "--name", "unmade", "--nodes", "1", "--hone", HONE, "--journal", "/proc/none")
    assert "a server did not start: RuntimeError: journal: cannot make /proc/none: " in unmade.stderr
    broken = fleet("up", "--name", "broken", "--nodes", "1", "--hone", HONE, "--set", "no.such_key=1")
    assert "no.such_key" in broken.stderr, broken
    with pytest.raises(hone.Unavailable, match="no fleet 'other'"):
        hone.connect("ray://other")
