"""A fleet on a Ray cluster of several nodes on this machine."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
import unittest.mock
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hone
import pytest
import ray
from hone.adapters._play import Play, Settings, client_of
from hone.fleet import FleetConnection, Member, Server, on_ray
from ray.cluster_utils import Cluster

from servers import SECONDS_MAX, wait_until

ROOT = Path(__file__).resolve().parents[2]
HONE = os.environ.get("HONE_BINARY", str(ROOT / "build/dev/hone"))
FAST = (ROOT / "envs/kernel_refine/tasks/add_relu/golden/demo_4_fused.cpp").read_text()


def fleet(*arguments: str) -> subprocess.CompletedProcess[str]:
    """python -m hone.fleet, in a process of its own."""
    command = [sys.executable, "-m", "hone.fleet", *arguments]
    environment = {**os.environ, "RAY_ADDRESS": ray.get_runtime_context().gcs_address}
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_MAX, env=environment)


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
        endpoint = ray.get(node.place.remote()).endpoint
        assert endpoint in {home_of(client, one) for one in started}
        os.kill(ray.get(getattr(node, whom).remote()), signal.SIGKILL)
        new = [client.reset("add_relu", timeout=SECONDS_MAX).episode for _ in range(2)]
        for one in started[-2:] + new:
            assert one.step(FAST, timeout=SECONDS_MAX).reward_valid
        for one in started + new:
            one.close()
        wait_until(lambda: {row["endpoint"] for row in on_ray.status()} == before)


def add_nodes(cluster: Cluster, count: int, resource: str) -> list[Any]:
    """Adds nodes with a resource of their own, so that only one fleet uses them."""
    added = [cluster.add_node(wait=False, num_cpus=1, resources={resource: 1}) for _ in range(count)]
    cluster.wait_for_nodes()
    return added


class Told:
    """What servers have answered to clients that play at the same time."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.turns: dict[str, list[int]] = {}  # of each episode: the turns of its acknowledged steps
        self.homes: dict[str, str] = {}
        self.last: dict[str, float] = {}  # of each episode: when its last step was acknowledged
        self.playing: dict[int, str] = {}  # of each client: its episode, until its last step is acknowledged
        self.lost: list[str] = []  # episodes whose steps ended as Unavailable
        self.errors: list[hone.HoneError] = []

    @property
    def steps(self) -> int:
        with self.lock:
            return sum(map(len, self.turns.values()))

    def since(self, moment: float, endpoint: str) -> list[str]:
        """Episodes of a server with steps that were acknowledged after a moment."""
        with self.lock:
            return [one for one, at in self.last.items() if at > moment and self.homes[one] == endpoint]

    def play(self, number: int, client: hone.Client, turn: dict[str, str]) -> None:
        """Plays episodes until `over`. Only steps may be lost, not resets."""
        try:
            while not self.over.is_set():
                episode = client.reset("add_relu", options={"max_turns": 8}, timeout=SECONDS_MAX).episode
                with self.lock:
                    self.turns[episode.id], self.homes[episode.id] = [], str(episode.endpoint)
                    self.playing[number] = episode.id
                while not (episode.ended or self.over.wait(0.2)):
                    try:
                        result = episode.step(timeout=SECONDS_MAX, **turn)
                    except hone.Unavailable:
                        if self.over.is_set():
                            raise
                        with self.lock:
                            self.lost.append(episode.id)
                        break
                    with self.lock:
                        self.turns[episode.id].append(result.turn)
                        self.last[episode.id] = time.monotonic()
                        if episode.ended:
                            del self.playing[number]
        except hone.HoneError as error:
            if not self.over.is_set():  # then the client may be closed
                self.errors.append(error)
                raise


def journal_of(path: Path) -> dict[str, list[int]]:
    """The turns of each episode in a journal."""
    said = subprocess.check_output([HONE, "export", "--journal", str(path)], text=True)
    lines = [json.loads(line) for line in said.splitlines()]
    return {one["episode"]: [turn["turn"] for turn in one["turns"]] for one in lines}


def test_no_step_is_lost_or_doubled_when_a_node_and_a_server_die_under_load(cluster: Cluster, tmp_path: Path) -> None:
    nodes = {node.node_id: node for node in add_nodes(cluster, 3, "load")}
    settings = ["evaluate.max_interval=0"]
    endpoints = on_ray.up(3, name="load", hone=HONE, resources={"load": 1}, settings=settings, journal=str(tmp_path))
    told, clients, threads = Told(), [], []
    try:
        removed, killed = endpoints[0], endpoints[1]
        for number in range(16):
            clients.append(hone.connect("ray://load", reconnect_timeout=8 if number % 2 else 60))
            wait_until(lambda: all(one.serves for one in clients[-1]._connection.members()))
            turn = {"code": FAST} if number < 2 else {"response": "no code"}
            threads.append(threading.Thread(target=told.play, args=(number, clients[-1], turn)))
            threads[-1].start()
        given = Settings("ray://load", options={"max_turns": 2}, reconnect_timeout=5, retries=0)
        plays = [Play(given)]
        while not plays[-1].start("add_relu") or home_of(client_of(given), plays[-1]._episode) != removed:
            plays.append(Play(given))
        wait_until(lambda: told.steps > 200 and {removed, killed} <= set(told.homes.values()))

        servers = [ray.get_actor(f"load-server-{index}", namespace=on_ray.NAMESPACE) for index in range(2)]
        processes = ray.get([one.pid.remote() for one in servers])
        node_of_removed = ray.get(servers[0].place.remote()).node
        began = time.monotonic()
        cluster.remove_node(nodes[node_of_removed], allow_graceful=False)
        wait_until(lambda: not Path(f"/proc/{processes[0]}").exists())
        os.kill(processes[1], signal.SIGKILL)
        with told.lock:
            playing = told.playing.items()
            # Clients with an odd number soon give up, the others wait for the server to come back.
            doomed = {one for client, one in playing if told.homes[one] == removed and client % 2}
            waiting = {one for client, one in playing if told.homes[one] == killed and client % 2 == 0}
            before = set(told.turns)
            at_kill = time.monotonic()
        assert plays[-1].step(response="no code") == []
        record = plays[-1].finish()
        assert (record.details()["reward_valid"], record.score) == (False, None)
        assert "unavailable" in str(record.fault)
        # A server may have answered a step before its end, and the client notes that only now.
        wait_until(lambda: doomed <= {*told.lost, *told.since(at_kill, removed)})
        doomed -= set(told.since(at_kill, removed))
        wait_until(lambda: waiting <= set(told.since(at_kill, killed)))
        wait_until(lambda: bool(set(told.since(at_kill, endpoints[2])) - before))
        told.over.set()
        took = time.monotonic() - began
    finally:
        told.over.set()
        for client in clients:
            client.close()  # steps that wait for the removed server end now
        for thread in threads:
            thread.join(timeout=60)
        client_of(given).close()
        on_ray.down("load")
        for node in nodes.values():
            if node in cluster.worker_nodes:
                cluster.remove_node(node)
    assert told.errors == []
    journal: dict[str, list[int]] = {}
    for index in range(3):
        journal |= journal_of(tmp_path / f"load-{index}.db")
    acknowledged = {(episode, turn) for episode, turns in told.turns.items() for turn in turns}
    recorded = collections.Counter((episode, turn) for episode, turns in journal.items() for turn in turns)
    lost = sorted(acknowledged - set(recorded))
    doubled = sorted(step for step, count in recorded.items() if count > 1)
    # A step that was sent again has not become another turn.
    doubled += [(one, 0) for one, turns in told.turns.items() if turns != list(range(1, len(turns) + 1))]
    ahead = [one for one, turns in told.turns.items() if len(journal.get(one, [])) > len(turns) + 1]
    resumed = [one for one in told.since(at_kill, killed) if one in before]
    print(
        f"{len(acknowledged)} acknowledged steps of {len(told.turns)} episodes: {len(lost)} lost, "
        f"{len(doubled)} doubled; {len(doomed)} episodes of the removed node ended as unavailable, "
        f"{len(resumed)} of the killed server resumed; {took:.1f} s"
    )
    assert (lost, doubled, ahead) == ([], [], [])
    assert {told.homes[one] for one in told.lost} <= {removed, killed}
    assert doomed <= set(told.lost)
    assert waiting <= set(resumed)


def test_a_fleet_grows_on_nodes_without_a_server(cluster: Cluster) -> None:
    added_nodes = add_nodes(cluster, 2, "grow")
    options = ["--name", "grow", "--hone", HONE]
    first = fleet("up", "--nodes", "1", "--resources", "grow=0.1", *options)
    assert first.returncode == 0, first.stderr
    client = hone.connect("ray://grow")
    full = fleet("add", "--nodes", "2", "--name", "grow", "--timeout", "2")
    assert "Ray found no 2 further nodes with {'grow': 0.1} each within 2 s; " in full.stderr
    assert "nodes of the cluster have no server of this fleet; see `ray status`" in full.stderr
    assert [row["episodes"] for row in on_ray.status("grow")] == [0], "the fleet is as before"
    # What an `add` leaves that is killed while it waits.
    command = [sys.executable, "-m", "hone.fleet", "add", "--nodes", "2", "--name", "grow"]
    environment = {**os.environ, "RAY_ADDRESS": ray.get_runtime_context().gcs_address}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as waits:
        assert waits.stderr is not None
        assert any("waiting for 2 further nodes" in line for line in waits.stderr)
        waits.kill()
    # The first node has room, too.
    added = fleet("add", "--nodes", "1", "--name", "grow")
    assert (added.returncode, added.stdout) == (0, "1 server added\n"), added.stderr
    nodes = [node for group in on_ray._groups_of("grow") for node in group["nodes"]]
    assert len(set(nodes)) == len(nodes) == 2
    wait_until(lambda: len(client._connection.members()) == 2)
    wait_until(lambda: all(one.serves for one in client._connection.members()))
    started = [client.reset("add_relu").episode for _ in range(4)]
    assert len({home_of(client, one) for one in started}) == 2
    # A registry that is started again knows all of them, and a server that hangs has not left.
    hangs = ray.get(on_ray._server_of("grow", 1).pid.remote())
    os.kill(hangs, signal.SIGSTOP)
    os.kill(ray.get(on_ray._registry_of("grow").pid.remote()), signal.SIGKILL)
    try:
        wait_until(lambda: states_of("grow") == ["serving", "starting"])
        time.sleep(3)  # clients ask the registry every 2 s
        assert "left the fleet" not in {one.state for one in client._connection.members()}
    finally:
        os.kill(hangs, signal.SIGCONT)
    wait_until(lambda: states_of("grow") == ["serving"] * 2)
    # One whose node has left the cluster has left.
    gone = ray.get(on_ray._server_of("grow", 1).place.remote())
    cluster.remove_node(next(one for one in added_nodes if one.node_id == gone.node))
    wait_until(lambda: member_of(client, gone.endpoint).state == "left the fleet")
    client.close()
    ray.kill(on_ray._registry_of("grow"))  # as a `down` that is interrupted leaves it
    ended = fleet("down", "--name", "grow")
    assert (ended.returncode, ended.stdout) == (0, "2 servers ended\n"), ended.stderr
    wait_until(lambda: not on_ray._groups_of("grow"))


def test_a_client_asks_the_registry_only_for_the_first_episode_of_a_group() -> None:
    asked: list[str] = []

    class Registry:
        @property
        def order(self) -> Any:
            asked.append("order")
            raise ray.exceptions.RayError

    servers = [Server("a", fingerprint="kind"), Server("b", fingerprint="kind")]
    router = on_ray.RegistryRouter(Registry())
    first = router.order("g", servers)[0]
    router.placed("g", next(one for one in servers if one.endpoint == first))
    assert router.order("g", servers)[0] == first
    assert asked == ["order"]
    lost = [dataclasses.replace(one, serves=one.endpoint != first) for one in servers]
    assert router.order("g", lost)[0] != first
    assert asked == ["order", "order"], "its server does not serve"


def test_a_node_has_one_server_of_a_fleet(cluster: Cluster) -> None:
    with on_ray._claim_node("one"):
        with pytest.raises(RuntimeError, match="this node has a server of fleet 'one' already"):
            on_ray._claim_node("one")
        on_ray._claim_node("other").close()
    on_ray._claim_node("one").close()


def states_of(name: str) -> list[str]:
    with contextlib.suppress(hone.Unavailable):
        return [row["state"] for row in on_ray.status(name)]
    return []


def member_of(client: hone.Client, endpoint: str) -> Member:
    return next(one for one in client._connection.members() if one.endpoint == endpoint)


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
    unknown = fleet("add", "--nodes", "1", "--name", "other")
    assert "Ray has no fleet 'other'; start it with" in unknown.stderr
    with pytest.raises(hone.Unavailable, match="no fleet 'other'"):
        hone.connect("ray://other")
