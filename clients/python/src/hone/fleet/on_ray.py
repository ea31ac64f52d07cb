"""A fleet on Ray: one server for each node, and a registry that knows them.

Ray schedules, restarts and finds them: the servers are actors in a placement group with one bundle
for each node, the registry is a named actor, and both outlive the program that made them. Each
``add`` makes a further placement group.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import inspect
import json
import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from hone import _core, client
from hone._text import printable
from hone.adapters._versions import require
from hone.errors import InvalidArgument, Unavailable

from .connection import FleetConnection
from .routing import LOAD_FREE, Router, Server

require("hone.fleet", "ray", "2.40", "3")

import ray  # noqa: E402 - after the check of its version
from ray.util.placement_group import (  # noqa: E402
    PlacementGroup,
    placement_group,
    remove_placement_group,
)
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy  # noqa: E402

__all__ = [
    "NAMESPACE",
    "add",
    "down",
    "open_named",
    "status",
    "up",
    "write_key",
]

#: Ray's namespace of the fleets' actors.
NAMESPACE = "hone"
#: Ray's resource of the head node.
HEAD = "node:__internal_head__"
_PRCTL = ctypes.CDLL(None).prctl  # found here: a forked child must not load libraries
#: Time that a server has to start, the first checks of its toolchain included (s).
START_S = 120.0
#: Time between two looks of the registry at the servers (s).
LOOK_S = 1.0
#: Time for which a new episode counts in the load of a server that does not answer (s).
PLACED_S = 60.0
#: Time after which a server that does not answer the registry is the last choice (s).
SILENT_S = 5.0
#: Time that a server has to say its state (s).
STATE_S = 5.0
#: Bytes of a server's log that remain in Ray's log after it has ended by itself.
LOG_KEPT = 64 << 10
#: Maximum length of Ray's error text in a message (characters).
SAID_MAX = 400
#: Time that a client waits for the registry before it chooses by itself (s).
REGISTRY_S = 5.0
#: Time that a server has to end: its drain, and a little more (s).
END_S = 30.0


@dataclass(frozen=True)
class Launch:
    """Arguments of a server's start.

    Attributes:
        fleet: The fleet's name.
        index: The server's number in the fleet.
        hone: The program.
        arguments: Further arguments of ``hone serve``.
        journal: Folder of the journal; empty for none.
        port: 0 for any.
        keys: The files of the servers' folder of keys.
        client_key: The key file of the fleet's clients.
        web_key: The key file of the servers' web processes, of the role ``monitor``.
    """

    fleet: str
    index: int
    hone: str
    arguments: list[str]
    journal: str
    port: int
    keys: dict[str, bytes]
    client_key: bytes
    web_key: bytes


@dataclass(frozen=True)
class Plan:
    """How the servers of a fleet are started; ``add`` uses it again.

    Attributes:
        launch: The arguments of the first server.
        bundle: What each server reserves in Ray.
    """

    launch: Launch
    bundle: dict[str, float]


@dataclass(frozen=True)
class Place:
    """The address, node and load of a server.

    Attributes:
        endpoint: Its address.
        node: Ray's id of its node.
        episodes: Its open episodes.
    """

    endpoint: str
    node: str
    episodes: int


class _Node:
    """One server: ``hone serve`` as a child process of this actor.

    Ray starts an actor again whose process ends, but not one whose constructor raises. So an error
    is raised at the first start only; later, this process ends.
    """

    def __init__(self, launch: Launch) -> None:
        again = bool(ray.get_runtime_context().was_current_actor_reconstructed)
        self._stopped = False
        self._folder = Path(tempfile.mkdtemp(prefix="hone-fleet-"))
        try:
            self._node = _claim_node(launch.fleet)
            registry = ray.get_actor(f"{launch.fleet}-registry", namespace=NAMESPACE)
            former = int(ray.get(registry.port.remote(launch.index), timeout=START_S))
            self._write_keys(launch)
            # At its former address, clients find their episodes again.
            self._serve(launch, launch.port or former)
            self._client = client.connect(
                self._endpoint,
                key=self._folder / "fleet.key",
                connect_timeout=START_S,
                timeout=STATE_S,
                reconnect_timeout=STATE_S,
            )
        except Exception:
            shutil.rmtree(self._folder, ignore_errors=True)
            if not again:
                raise
            time.sleep(LOOK_S)  # the former server may still hold its port, or Ray has no registry
            os._exit(1)
        threading.Thread(target=self._end_with_server, daemon=True).start()

    def _write_keys(self, launch: Launch) -> None:
        files = {self._folder / "keys" / name: text for name, text in launch.keys.items()}
        files[self._folder / "fleet.key"] = launch.client_key
        files[self._folder / "web.key"] = launch.web_key
        (self._folder / "keys").mkdir(mode=0o700)
        for path, text in files.items():
            path.touch(mode=0o600)
            path.write_bytes(text)

    def _serve(self, launch: Launch, port: int) -> None:
        host = ray.util.get_node_ip_address()
        command = [launch.hone, "serve", "--json", "--keys", str(self._folder / "keys")]
        command += ["--endpoint", f"tcp://{host}:{port}", "--control", f"tcp://{host}:0"]
        # Before the user's settings, which may replace it.
        command += ["--set", f"web.key={self._folder / 'web.key'}", *launch.arguments]
        if launch.journal:
            try:
                os.makedirs(launch.journal, mode=0o700, exist_ok=True)
            except OSError as error:
                raise RuntimeError(f"journal: cannot make {launch.journal}: {error}") from error
            path = Path(launch.journal) / f"{launch.fleet}-{launch.index}.db"
            command += ["--set", f"journal.path={path}"]
        self._log = self._folder / "serve.log"
        with self._log.open("wb") as errors:
            self._process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=errors,
                preexec_fn=partial(_end_with_parent, os.getpid()),
            )
        assert self._process.stdout is not None
        announced = self._process.stdout.readline()  # comes once it serves; empty if it ended
        if not announced:
            said = " ".join(self._log.read_text(errors="replace").split())
            raise RuntimeError(f"hone serve ended with {self._process.wait()}: {said[-500:]}")
        self._announced: dict[str, Any] = json.loads(announced)
        self._endpoint = str(self._announced["endpoint"])

    def _end_with_server(self) -> None:
        """Ends this actor's process when the server has ended, so that Ray starts both again."""
        status = self._process.wait()
        if self._stopped:
            return
        try:
            with self._log.open("rb") as log:  # keeps its end in Ray's log of this actor
                log.seek(max(0, self._log.stat().st_size - LOG_KEPT))
                said = log.read().decode(errors="replace")
            print(f"{said}hone serve ended with status {status}", file=sys.stderr, flush=True)
            shutil.rmtree(self._folder, ignore_errors=True)
        finally:
            os._exit(1)

    def place(self) -> Place:
        """The server's address and node, and its number of open episodes."""
        node = str(ray.get_runtime_context().get_node_id())
        episodes = int(self._client.metrics()["service"]["episodes"]["open"])
        return Place(self._endpoint, node, episodes)

    def state(self) -> dict[str, Any]:
        """The server's row of ``status``."""
        place = self.place()
        return {
            "endpoint": place.endpoint,
            "state": self._client.health()["status"],
            "episodes": place.episodes,
            "web": self._announced.get("web"),
            "log": str(self._log),
        }

    def pid(self) -> int:
        """The server's process."""
        return self._process.pid

    def actor_pid(self) -> int:
        """This actor's process."""
        return os.getpid()

    def stop(self) -> None:
        """Drains and ends the server."""
        self._stopped = True
        self._client.close()
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
        shutil.rmtree(self._folder, ignore_errors=True)


class _Registry:
    """Knows the servers of a fleet, and places groups for all clients.

    Only Ray knows the current servers and nodes, so the registry asks Ray before each look.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._router = Router(load_free=0)  # it alone places groups
        self._nodes: dict[int, Any] = {}  # Ray's servers, by number
        self._places: dict[int, Place] = {}  # what each server said last
        self._alive: set[str] = set()  # the nodes of the cluster
        self._asked: dict[Any, tuple[int, float]] = {}  # awaited answers: server, and since when
        self._silent: set[str] = set()  # endpoints that do not answer
        self._placed: list[tuple[float, str]] = []  # since the servers were asked
        self._looked = 0.0

    def key(self) -> bytes:
        """The key file of the fleet's clients."""
        return self._plan.launch.client_key

    def pid(self) -> int:
        """This actor's process."""
        return os.getpid()

    def plan(self) -> Plan:
        """How its servers are started."""
        return self._plan

    def port(self, index: int) -> int:
        """The port that a server had; 0 for a new one."""
        place = self._places.get(index)
        return 0 if place is None else int(place.endpoint.rpartition(":")[2])

    def endpoints(self) -> tuple[list[str], bool]:
        """The addresses of the servers on live nodes, and whether all other servers have left.

        A restarted registry does not know the latter until each server has said its address.
        A server that does not answer is in the list: Ray starts it again on its node.
        """
        if time.monotonic() - self._looked >= LOOK_S:
            self._look()
        there = [
            place.endpoint for _, place in sorted(self._places.items()) if place.node in self._alive
        ]
        return there, bool(there) and self._nodes.keys() <= self._places.keys()

    def status(self) -> list[dict[str, Any]]:
        """A row for each server, with its number, last known address and number of episodes."""
        self.endpoints()
        rows = []
        for index in sorted(self._nodes):
            place = self._places.get(index)
            rows.append(
                {
                    "index": index,
                    "endpoint": "" if place is None else place.endpoint,
                    "state": "starting" if place is None else "not answering",
                    "episodes": 0 if place is None else place.episodes,
                    "web": None,
                    "log": None,
                }
            )
        return rows

    def order(
        self,
        group: str | None,
        given: Sequence[Mapping[str, Any]],
        known: tuple[str, str] | None,
    ) -> list[str]:
        """As Router.order. A load is the server's open episodes and those just placed.

        Args:
            group: As for Router.order.
            given: The members of each Server, without its load.
            known: The group's server and fingerprint, if the client has begun an episode of it.
        """
        if group is not None and known is not None and self._router.known(group) is None:
            # This registry was started again.
            self._router.placed(group, Server(known[0], fingerprint=known[1]))
        self.endpoints()
        loads = Counter({place.endpoint: place.episodes for place in self._places.values()})
        loads.update(endpoint for _, endpoint in self._placed)
        servers = [
            Server(
                load=loads[one["endpoint"]],
                **{**one, "serves": one["serves"] and one["endpoint"] not in self._silent},
            )
            for one in given
        ]
        order = self._router.order(group, servers)
        if order:
            self._placed.append((time.monotonic(), order[0]))
        return order

    def _look(self) -> None:
        """Takes the answers that have come, and asks again. A server being started has none."""
        self._looked = now = time.monotonic()
        self._placed = [(at, one) for at, one in self._placed if now - at < PLACED_S]
        self._alive = {node["NodeID"] for node in ray.nodes() if node["Alive"]}
        self._find_nodes()
        asked = {index for index, _ in self._asked.values()}
        for index, node in self._nodes.items():
            if index not in asked:
                self._asked[node.place.remote()] = (index, now)
        ready: list[Any] = []
        if self._asked:
            ready, _ = ray.wait(list(self._asked), num_returns=len(self._asked), timeout=0)
        for answer in ready:
            index, asked_at = self._asked.pop(answer)
            if index not in self._nodes:
                continue  # it was killed meanwhile
            try:
                place: Place = ray.get(answer)
            except ray.exceptions.RayError:
                if index in self._places:
                    self._silent.add(self._places[index].endpoint)
                with contextlib.suppress(ValueError):  # another one may have its name now
                    self._nodes[index] = _server_of(self._plan.launch.fleet, index)
                continue
            self._places[index] = place
            self._silent.discard(place.endpoint)
            self._placed = [
                (at, one) for at, one in self._placed if one != place.endpoint or at >= asked_at
            ]
        for index, since in self._asked.values():
            if now - since > SILENT_S and index in self._places:
                self._silent.add(self._places[index].endpoint)

    def _find_nodes(self) -> None:
        """Takes the servers that Ray has. ``add`` starts some; others are killed if it fails."""
        there = _servers_of(self._plan.launch.fleet)
        for index in self._nodes.keys() - set(there):
            del self._nodes[index]
            self._places.pop(index, None)
        for index in there:
            if index not in self._nodes:
                with contextlib.suppress(ValueError):
                    self._nodes[index] = _server_of(self._plan.launch.fleet, index)


class RegistryRouter(Router):
    """Asks the registry, so that all clients place a group on one server and spread evenly."""

    def __init__(self, registry: Any) -> None:  # noqa: ANN401 - an actor's handle
        # For times without the registry. Twice the limit of a list, because the many processes of a
        # fleet must agree on a group's server.
        super().__init__(load_free=2 * LOAD_FREE)
        self._registry = registry

    def order(self, group: str | None, servers: Sequence[Server]) -> list[str]:
        """As the registry says; as this client would, while there is no registry."""
        given = [
            {
                "endpoint": one.endpoint,
                "serves": one.serves,
                "fingerprint": one.fingerprint,
                "left": one.left,
            }
            for one in servers
        ]
        try:
            known = None if group is None else self.known(group)
            if known is not None and any(s.serves and s.endpoint == known[0] for s in servers):
                return super().order(group, servers)  # it stays there, whatever the registry knows
            asked = self._registry.order.remote(group, given, known)
            answer: list[str] = ray.get(asked, timeout=REGISTRY_S)
        except ray.exceptions.RayError:
            return super().order(group, servers)
        return answer


def open_named(
    name: str, open_endpoint: Callable[..., _core.Connection], connect_timeout: float
) -> FleetConnection:
    """Connects to the servers of the fleet with this name.

    Raises:
        Unavailable: Ray is not running here, or has no fleet of this name.
    """
    registry = _registry_of(name)

    def find() -> tuple[list[str], bool]:
        answer: tuple[list[str], bool] = _get(registry.endpoints.remote(), REGISTRY_S)
        return answer

    end = time.monotonic() + connect_timeout
    while not (endpoints := find()[0]):
        if time.monotonic() >= end:
            raise Unavailable(
                f"no server of fleet {name!r} answers; see "
                f"`python -m hone.fleet status --name {name}`"
            )
        time.sleep(LOOK_S / 4)
    text: bytes = _get(registry.key.remote(), REGISTRY_S)
    folder = Path(tempfile.mkdtemp(prefix="hone-fleet-"))
    key = folder / "fleet.key"
    key.touch(mode=0o600)
    key.write_bytes(text)
    clean_up = partial(_remove_in, os.getpid(), folder)
    connection = FleetConnection(
        endpoints,
        partial(open_endpoint, key=str(key)),
        connect_timeout,
        RegistryRouter(registry),
        find,
        clean_up,
    )
    weakref.finalize(connection, clean_up)
    return connection


def _remove_in(pid: int, folder: Path) -> None:
    """Removes a folder, but not in a forked child of the process that made it."""
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)


def _get(answer: Any, seconds: float) -> Any:  # noqa: ANN401 - as ray.get
    """As ray.get. Raises Unavailable for errors of Ray."""
    try:
        return ray.get(answer, timeout=seconds)
    except ray.exceptions.RayError as error:
        said = str(error).strip().splitlines()
        raise Unavailable(
            f"the fleet's registry does not answer: {said[-1] if said else error!r}"
        ) from error


def up(
    nodes: int,
    *,
    name: str = "hone",
    config: str | None = None,
    settings: Sequence[str] = (),
    hone: str | None = None,
    resources: Mapping[str, float] | None = None,
    journal: str = "",
    port: int = 0,
    timeout: float = START_S,
    on_progress: Callable[[str], None] = lambda line: None,
) -> list[str]:
    """Starts a server on each of several nodes, and a registry.

    Args:
        nodes: Number of servers; each gets a node of its own.
        name: Name of the fleet.
        config: Configuration file of the servers, a path that is the same on all nodes.
        settings: ``KEY=VALUE``, as for ``hone serve --set``.
        hone: The program, a path that is the same on all nodes; None for this machine's ``hone``.
        resources: What a server reserves in Ray, such as ``{"CPU": 8, "GPU": 8}``.
        journal: Folder on each node for the server's journal, made if it does not exist; a local
            disk. Empty: no journals.
        port: Port of every server; 0 for any.
        timeout: Seconds until all servers have to serve.
        on_progress: Called with lines for people.

    Returns:
        The servers' addresses.

    Raises:
        InvalidArgument: The fleet exists, no program was found, or ``nodes`` is below 1.
        Unavailable: The nodes are not there in time, or a server does not start.
    """
    if nodes < 1:
        raise InvalidArgument(f"nodes: found {nodes}, expected 1 or more", error_class="protocol")
    _connect_to_ray()
    if f"{name}-registry" in _actors():
        raise InvalidArgument(
            f"fleet {name!r} exists; end it with `python -m hone.fleet down --name {name}`",
            error_class="protocol",
        )
    program = hone or shutil.which("hone")
    if program is None:
        raise InvalidArgument(
            "found no hone on the PATH; name it with --hone", error_class="protocol"
        )
    keys, client_key, web_key = _make_keys(program)
    arguments = ["-c", os.path.abspath(config)] if config else []
    arguments += [word for one in settings for word in ("--set", one)]
    folder = os.path.abspath(journal) if journal else ""
    launch = Launch(name, 0, program, arguments, folder, port, keys, client_key, web_key)
    plan = Plan(launch, dict(resources or {"CPU": 1}))
    registry = _detached(_Registry, f"{name}-registry", resources=_on_head()).remote(plan)
    try:
        endpoints = _start(plan, 0, nodes, timeout, on_progress)
        _get(registry.endpoints.remote(), START_S)
    except BaseException:
        with contextlib.suppress(Unavailable):
            down(name)
        raise
    return endpoints


def add(
    nodes: int,
    *,
    name: str = "hone",
    timeout: float = START_S,
    on_progress: Callable[[str], None] = lambda line: None,
) -> list[str]:
    """Starts further servers of a fleet, with the arguments of its ``up``.

    Each gets a node on which the fleet has no server. Clients use them within seconds.

    Args:
        nodes: Number of further servers.
        name: Name of the fleet.
        timeout: Seconds until all of them have to serve.
        on_progress: Called with lines for people.

    Returns:
        Their addresses.

    Raises:
        InvalidArgument: ``nodes`` is below 1, or Ray is too old.
        Unavailable: Ray is not running here, or has no fleet of this name; the nodes are not there
            in time, or a server does not start. The fleet is then as before.
    """
    if nodes < 1:
        raise InvalidArgument(f"nodes: found {nodes}, expected 1 or more", error_class="protocol")
    registry = _registry_of(name)
    if "bundle_label_selector" not in inspect.signature(placement_group).parameters:
        raise InvalidArgument(
            f"found Ray {ray.__version__}, expected one whose placement groups have label "
            "selectors, such as 2.60: a new server must not share the node of another one",
            error_class="protocol",
        )
    plan: Plan = _get(registry.plan.remote(), REGISTRY_S)
    return _start(plan, max(_servers_of(name), default=-1) + 1, nodes, timeout, on_progress)


def _start(
    plan: Plan, first: int, count: int, timeout: float, on_progress: Callable[[str], None]
) -> list[str]:
    """Starts servers on nodes without one, all of them or none. Returns their addresses.

    Args:
        plan: How.
        first: The number of the first one in the fleet.
        count: Their number.
        timeout: Seconds until they have to serve.
        on_progress: Called with lines for people.

    Raises:
        Unavailable: The nodes are not there in time, or a server does not start.
    """
    name, end = plan.launch.fleet, time.monotonic() + timeout
    groups = _groups_of(name)
    used = sorted({node for one in groups for node in one["nodes"]})
    waits = any(not one["nodes"] for one in groups)
    options: dict[str, Any] = {"strategy": "STRICT_SPREAD", "lifetime": "detached"}
    if used:
        options["bundle_label_selector"] = [{"ray.io/node-id": f"!in({','.join(used)})"}] * count
    group = placement_group(
        [plan.bundle] * count,
        name=f"{name}-servers-{os.urandom(4).hex()}",  # an `add` that was killed may leave one
        **options,
    )
    wanted = f"{count} {'further ' * bool(first)}node{'s' * (count != 1)} with {plan.bundle}"
    wanted += " each" * (count != 1)
    alive = {node["NodeID"] for node in ray.nodes() if node["Alive"]}
    free = len(alive - set(used))
    why = f"; {free} of {len(alive)} nodes of the cluster have no server of this fleet" * bool(used)
    why += "; another `up` or `add` also waits for nodes (if it was killed, run `down`)" * waits
    on_progress(f"waiting for {wanted}{why}")
    made: list[Any] = []
    try:
        if not group.wait(timeout):
            raise Unavailable(f"Ray found no {wanted} within {timeout:g} s{why}; see `ray status`")
        for index in range(count):
            place = PlacementGroupSchedulingStrategy(
                placement_group=group, placement_group_bundle_index=index
            )
            launch = replace(plan.launch, index=first + index)
            actor = _detached(_Node, f"{name}-server-{launch.index}", scheduling_strategy=place)
            made.append(actor.remote(launch))
        endpoints = []
        for index, node in enumerate(made):
            place = ray.get(node.place.remote(), timeout=max(0.1, end - time.monotonic()))
            endpoints.append(place.endpoint)
            on_progress(f"server {first + index} serves at {place.endpoint}")
    except BaseException as error:
        _end_servers(made)  # clients may use some of them
        remove_placement_group(group)
        # A ValueError: another program adds servers, and has taken the name.
        if not isinstance(error, (ray.exceptions.RayError, ValueError)):
            raise
        said = str(error).strip().splitlines()
        raise Unavailable(f"a server did not start: {said[-1]}") from error
    return endpoints


def _end_servers(servers: list[Any], seconds: float = STATE_S) -> None:
    """Drains the servers that answer within some seconds, and ends all.

    A server whose node has failed waits for another node, and would never answer.
    """
    asked = {server.actor_pid.remote(): server for server in servers}
    if asked:
        there, _ = ray.wait(list(asked), num_returns=len(asked), timeout=seconds)
        stopped = [asked[answer].stop.remote() for answer in there]
        if stopped:
            ray.wait(stopped, num_returns=len(stopped), timeout=END_S + 10)
    for server in servers:
        ray.kill(server)


def down(name: str = "hone") -> int:
    """Drains and ends the servers of a fleet, and its registry.

    Returns:
        The number of servers.

    Raises:
        Unavailable: Ray is not running here, or has no fleet of this name.
    """
    _connect_to_ray()
    servers, groups = _servers_of(name), _groups_of(name)
    try:
        ray.kill(_registry_of(name))  # before the servers: it asks them
    except Unavailable:
        # A `down` that was interrupted leaves servers without a registry.
        if not servers and not groups:
            raise
    nodes = []
    for index in servers:
        with contextlib.suppress(ValueError):
            nodes.append(_server_of(name, index))
    _end_servers(nodes, 2 * STATE_S)
    for group in groups:
        # By its id: Ray finds a name only in the namespace of the program that made it.
        remove_placement_group(PlacementGroup(ray.PlacementGroupID(bytes.fromhex(group["id"]))))
    return len(nodes)


def status(name: str = "hone") -> list[dict[str, Any]]:
    """The servers of a fleet.

    Returns:
        Of each server, ``endpoint``, empty until it has served once; ``state``: ``"serving"``,
        ``"draining"`` or ``"failing"`` as in its health, ``"starting"``, or ``"not answering"``
        if it ended, is being started again, or hangs; its number of open ``episodes``, the last
        known one if it does not answer; ``web``, the URL of its web page, or None; and ``log``,
        its log's path on its node, None if it does not answer.

    Raises:
        Unavailable: Ray is not running here, or has no fleet of this name.
    """
    rows: list[dict[str, Any]] = _get(_registry_of(name).status.remote(), REGISTRY_S)
    # Ask the servers themselves. The registry's figures may be seconds old: it must not wait for
    # a server, because clients wait for it.
    asked = {}
    for row in rows:
        with contextlib.suppress(ValueError):
            asked[_server_of(name, row.pop("index")).state.remote()] = row
    ready, _ = ray.wait(list(asked), num_returns=len(asked), timeout=STATE_S) if asked else ([], [])
    for answer in ready:
        with contextlib.suppress(ray.exceptions.RayError):
            asked[answer].update(ray.get(answer))
    return rows


def write_key(path: str, name: str = "hone") -> None:
    """Writes the key file of a fleet's clients, to reach one of its servers by its address.

    Raises:
        InvalidArgument: The file exists, or cannot be written.
        Unavailable: Ray is not running here, or has no fleet of this name.
    """
    text: bytes = _get(_registry_of(name).key.remote(), REGISTRY_S)
    try:
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(number, "wb") as file:
                file.write(text)
        except OSError:
            os.unlink(path)
            raise
    except OSError as error:
        raise InvalidArgument(
            f"{path}: {error.strerror}; expected the path of a new file", error_class="protocol"
        ) from error


def _detached(actor: type, name: str, **options: Any) -> Any:  # noqa: ANN401 - Ray's own types
    """An actor's class whose actors outlive this program, and are started again when they end."""
    always = {"lifetime": "detached", "max_restarts": -1, "num_cpus": 0}
    return ray.remote(actor).options(name=name, namespace=NAMESPACE, **always, **options)


def _on_head() -> dict[str, float]:
    """Resources of an actor on the head node, which the cluster needs anyway.

    On a server's node, the registry could fail with that node, and forget the ports of servers.
    """
    # Not an affinity to the node: a node that has just joined does not know it, and ignores it.
    has_head = any(node["Alive"] and HEAD in node["Resources"] for node in ray.nodes())
    return {HEAD: 0.001} if has_head else {}


def _actors() -> set[str]:
    """The names of all fleets' actors that Ray has, also of those that it starts again."""
    return {
        one["name"] for one in ray.util.list_named_actors(True) if one["namespace"] == NAMESPACE
    }


def _servers_of(name: str) -> list[int]:
    """The numbers of a fleet's servers that Ray has."""
    found = (re.fullmatch(rf"{re.escape(name)}-server-(\d+)", one) for one in _actors())
    return sorted(int(one[1]) for one in found if one is not None)


def _groups_of(name: str) -> list[dict[str, Any]]:
    """A fleet's placement groups: of each, its ``id``, and the ids of the ``nodes`` in use."""
    wanted = re.compile(rf"{re.escape(name)}-servers-[0-9a-f]{{8}}")
    return [
        {
            "id": one["placement_group_id"],
            "nodes": [node for node in one["bundles_to_node_id"].values() if node],
        }
        for one in ray.util.placement_group_table().values()
        if wanted.fullmatch(one["name"]) and one["state"] != "REMOVED"
    ]


def _server_of(name: str, index: int) -> Any:  # noqa: ANN401
    return ray.get_actor(f"{name}-server-{index}", namespace=NAMESPACE)


def _claim_node(fleet: str) -> socket.socket:
    """Reserves this node for one server of the fleet, until the socket is closed.

    Ray may start the server of a lost node again on a node that has one already. Both would use the
    same devices, and each would time its work while the other one uses them.
    """
    whose = hashlib.sha256(f"{fleet} {ray.get_runtime_context().get_node_id()}".encode())
    claimed = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claimed.bind(f"\0hone-fleet-{whose.hexdigest()}")  # the kernel frees it with the process
    except OSError as error:
        claimed.close()
        raise RuntimeError(f"this node has a server of fleet {fleet!r} already") from error
    return claimed


def _end_with_parent(parent: int) -> None:
    """In a new process: has the kernel end it with the actor's process, which Ray starts again.

    Not with SIGTERM: a server that drains keeps its port and its journal.
    """
    _PRCTL(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)


def _registry_of(name: str) -> Any:  # noqa: ANN401
    _connect_to_ray()
    try:
        return ray.get_actor(f"{name}-registry", namespace=NAMESPACE)
    except ValueError:
        raise Unavailable(
            f"Ray has no fleet {name!r}; start it with `python -m hone.fleet up --name {name}`"
        ) from None


def _connect_to_ray() -> None:
    """Connects this process to the cluster that runs here, if it is not connected.

    Raises:
        Unavailable: None runs here.
    """
    if ray.is_initialized():
        return
    try:
        ray.init(address="auto", log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, ray.exceptions.RayError) as error:
        cause = error.__cause__
        if isinstance(error, ConnectionError) and cause is None:  # it had no address to try
            raise Unavailable(
                "found no Ray cluster; start one with `ray start --head`, or join one with "
                "`ray start --address HOST:6379`"
            ) from error
        # The last line of the cause has the reason, such as a refused token.
        said = [str(error), *str(cause or "").strip().splitlines()[-1:]]
        raise Unavailable(f"Ray: {printable(': '.join(said), SAID_MAX)}") from error


def _make_keys(program: str) -> tuple[dict[str, bytes], bytes, bytes]:
    """A new folder of keys for the servers, and key files for clients and for web processes."""
    with tempfile.TemporaryDirectory(prefix="hone-fleet-") as folder:
        keys, key, web = (Path(folder) / name for name in ("keys", "fleet.key", "web.key"))
        for made in (
            ["new", "--server"],
            ["new", "fleet", "--out", str(key)],
            ["new", "web", "--role", "monitor", "--out", str(web)],
        ):
            command = [program, "keys", *made, "--keys", str(keys)]
            try:
                done = subprocess.run(command, capture_output=True, text=True)
            except OSError as error:
                raise InvalidArgument(f"hone: {error}", error_class="protocol") from None
            if done.returncode != 0:
                raise Unavailable(f"{program} keys {' '.join(made)}: {done.stderr.strip()}")
        files = {file.name: file.read_bytes() for file in keys.iterdir() if file.is_file()}
        return files, key.read_bytes(), web.read_bytes()
