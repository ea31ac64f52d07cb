"""Which server gets an episode. Clients, the Ray registry and ``scripts/simulate-fleet`` share it.

The rule:

1. Samples of a group go to one server, because they share a task's preparation and its baseline.
   A group's server is chosen by consistent hashing with bounded loads: the servers are ranked by a
   hash of group and server, and the first one takes the group whose load is below the bound. So
   clients with few episodes agree without knowing each other, and a client with many groups
   spreads them evenly.
2. A group stays on its server while that serves. If it does not, the next one in the ranking takes
   the group, but only a server with the same fingerprint: speedups of one group are compared.
3. An episode without a group goes to the server with the least load.
"""

from __future__ import annotations

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


@dataclass(frozen=True)
class Server:
    """A server, as the router sees it.

    Attributes:
        endpoint: Its address, which is its name here.
        load: Its open episodes that the caller knows of.
        serves: Whether it takes new episodes now.
        fingerprint: Hardware, driver and toolchain; empty if it was never reached.
    """

    endpoint: str
    load: int = 0
    serves: bool = True
    fingerprint: str = ""


def ranking(key: str, endpoints: Sequence[str]) -> list[str]:
    """The endpoints in an order that depends only on the key and on each endpoint by itself.

    Without one of them, the others keep their order (rendezvous hashing).
    """

    def weight(endpoint: str) -> bytes:
        return hashlib.blake2b(f"{key}\0{endpoint}".encode(), digest_size=8).digest()

    return sorted(endpoints, key=weight)


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
        serving = [one for one in servers if one.serves] or list(servers)
        others = [one for one in servers if one not in serving]
        if group is None:
            drawn = ranking(f"{self._salt}{next(self._draws)}", [one.endpoint for one in serving])
            place = {endpoint: index for index, endpoint in enumerate(drawn)}
            serving.sort(key=lambda one: (one.load, place[one.endpoint]))
            return [one.endpoint for one in (*serving, *others)]
        by_endpoint = {one.endpoint: one for one in serving}
        ranked = [by_endpoint[name] for name in ranking(group, list(by_endpoint))]
        fingerprint = ""
        with self._lock:
            if group in self._groups:
                home, fingerprint = self._groups[group]
                for some in (ranked, others):
                    some.sort(key=lambda one: one.endpoint != home)
            elif ranked:
                load = sum(one.load for one in servers)
                bound = max(self._load_free, math.ceil(SLACK * (load + 1) / len(serving)))
                ranked.sort(key=lambda one: one.load >= bound)
                fingerprint = ranked[0].fingerprint
                self.placed(group, ranked[0])
        return [one.endpoint for one in (*ranked, *others) if one.fingerprint == fingerprint]

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
