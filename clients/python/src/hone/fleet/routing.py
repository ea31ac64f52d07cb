"""Which server gets an episode. Clients, the Ray registry and ``scripts/simulate-fleet`` share it.

The rule:

1. Speedups of one group are compared, so all its episodes are on servers of one kind: of one
   fingerprint. A hash of group and server ranks all known servers, and the first one has the
   group's kind. This depends neither on loads nor on which servers serve now, because clients that
   do not know each other see these differently.
2. Samples of a group go to one server, because they share a task's preparation and its baseline.
   Among the servers of the kind, it is chosen by consistent hashing with bounded loads: the first
   one in the ranking takes the group whose load is below the bound. So clients with few episodes
   agree, and a client with many groups spreads them evenly.
3. A group stays on its server while that serves. If it does not, the next one of its kind in the
   ranking takes the group.
4. An episode without a group goes to the server with the least load.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import math
import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "Router",
    "Server",
    "ranking",
]

#: A new group goes to a server whose load is below SLACK times the mean load. Smaller values
#: spread better, larger ones leave more groups on their first choice.
SLACK = 1.1
#: Below this load the bound does not apply: clients with few episodes must agree on a group's
#: server. 8 is the size of a typical group. With 16, one client put two groups on a server while
#: other servers of a small fleet were idle.
LOAD_FREE = 8
#: Groups that a router remembers.
GROUPS_MAX = 100_000
#: Rankings that are remembered. A batch of a large trainer has some thousand groups.
RANKINGS_MAX = 8192


@dataclass(frozen=True)
class Server:
    """A server, as the router sees it.

    Attributes:
        endpoint: Its address, which is its name here.
        load: Its open episodes that the caller knows of.
        serves: Whether it takes new episodes now.
        fingerprint: Hardware, driver and toolchain, as it said last; empty if it never said.
        left: Whether it has left the fleet. No group gets its kind from it.
    """

    endpoint: str
    load: int = 0
    serves: bool = True
    fingerprint: str = ""
    left: bool = False


def ranking(key: str, endpoints: Sequence[str]) -> list[str]:
    """The endpoints in an order that depends only on the key and on each endpoint by itself.

    Without one of them, the others keep their order (rendezvous hashing).
    """

    def weight(endpoint: str) -> bytes:
        return hashlib.blake2b(f"{key}\0{endpoint}".encode(), digest_size=8).digest()

    return sorted(endpoints, key=weight)


@functools.lru_cache(RANKINGS_MAX)
def _group_ranking(group: str, endpoints: tuple[str, ...]) -> tuple[str, ...]:
    """A ranking that each sample of a group needs."""
    return tuple(ranking(group, endpoints))


def _bounded(mates: Sequence[Server], load_free: int) -> int:
    """The load from which servers of one kind take no new group."""
    serving = sum(one.serves for one in mates) or len(mates)
    load = sum(one.load for one in mates)
    return max(load_free, math.ceil(SLACK * (load + 1) / serving))


class Router:
    """Chooses servers and remembers where groups are.

    Args:
        load_free: Load below which a server takes any group. Clients that choose by themselves must
            agree while they have few episodes; 0 for one that chooses for all.
    """

    def __init__(self, load_free: int = LOAD_FREE) -> None:
        self._load_free = load_free
        self._lock = threading.RLock()
        self._groups: OrderedDict[str, tuple[str, str]] = OrderedDict()  # endpoint, fingerprint
        self._salt = os.urandom(8).hex()
        self._draws = itertools.count()

    def order(self, group: str | None, servers: Sequence[Server]) -> list[str]:
        """The endpoints to try for a new episode, the best first.

        Those that do not serve now come last: one may come back, or the request waits for it.
        """
        if group is None:
            drawn = ranking(f"{self._salt}{next(self._draws)}", [one.endpoint for one in servers])
            place = {endpoint: index for index, endpoint in enumerate(drawn)}
            free = sorted(servers, key=lambda s: (not s.serves, s.load, place[s.endpoint]))
            return [one.endpoint for one in free]
        if not servers:
            return []
        by_endpoint = {one.endpoint: one for one in servers}
        ranked = [by_endpoint[name] for name in _group_ranking(group, tuple(by_endpoint))]
        with self._lock:
            known = self._groups.get(group)
            if known is None:
                kind = next((one for one in ranked if not one.left), ranked[0]).fingerprint
            else:
                kind = known[1]
            mates = [one for one in ranked if one.fingerprint == kind]
            if known is None:
                bound = _bounded(mates, self._load_free)
                mates.sort(key=lambda one: (not one.serves, one.load >= bound))
                self.placed(group, mates[0])
            else:
                mates.sort(key=lambda one: (not one.serves, one.endpoint != known[0]))
        return [one.endpoint for one in mates]

    def known(self, group: str) -> tuple[str, str] | None:
        """The endpoint and fingerprint of a group's server; None for an unknown group."""
        with self._lock:
            return self._groups.get(group)

    def placed(self, group: str, server: Server) -> None:
        """Remembers a group's server."""
        with self._lock:
            self._groups[group] = (server.endpoint, server.fingerprint)
            self._groups.move_to_end(group)
            while len(self._groups) > GROUPS_MAX:
                self._groups.popitem(last=False)
