"""A fleet on a Ray cluster of several nodes on this machine."""

from __future__ import annotations

import collections
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

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
    journal = tmp_path_factory.mktemp("journal")
    made = fleet("up", "--nodes", "2", "--hone", HONE, "--resources", "hone=1", "--journal", str(journal))
    assert made.returncode == 0, made.stderr
    yield made.stdout.strip()
    ended = fleet("down")
    assert (ended.returncode, ended.stdout) == (0, "2 servers ended\n"), ended.stderr


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


def test_workers_that_do_not_know_each_other_spread_groups_evenly(up: str) -> None:
    @ray.remote(num_cpus=0)
    class Worker:
        def __init__(self) -> None:
            self.client = hone.connect(up)
            self.episodes = []

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
        endpoint, _ = ray.get(node.state.remote())
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
    broken = fleet("up", "--name", "broken", "--nodes", "1", "--hone", HONE, "--set", "no.such_key=1")
    assert "no.such_key" in broken.stderr, broken
    with pytest.raises(hone.Unavailable, match="no fleet 'other'"):
        hone.connect("ray://other")
