"""Several servers behind one client.

    import hone

    with hone.connect(["tcp://node1:5917", "tcp://node2:5917"]) as client:
        ...                                    # as with one server

``hone.connect("ray://NAME")`` finds the servers that ``python -m hone.fleet up`` started on a Ray
cluster. docs/fleet.md says what happens to episodes when a server leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hone import _core
from hone.errors import InvalidArgument

from .connection import FleetConnection, Member
from .routing import Router, Server, ranking

__all__ = [
    "FleetConnection",
    "Member",
    "Router",
    "Server",
    "open_fleet",
    "ranking",
]


def open_fleet(
    endpoint: str | Sequence[str],
    open_endpoint: Callable[..., _core.Connection],
    connect_timeout: float,
    has_key: bool,
) -> FleetConnection:
    """Connects to the servers of a list, or of a fleet on Ray. ``hone.connect`` calls it.

    Args:
        endpoint: Addresses, or ``"ray://NAME"``.
        open_endpoint: Opens one address: (address, seconds, key=).
        connect_timeout: Seconds to wait for the first server.
        has_key: Whether the caller has a key file.

    Raises:
        InvalidArgument: No addresses, the same address twice, or a key for a fleet on Ray.
        Unavailable: Ray is not running, or has no fleet of this name.
    """
    if isinstance(endpoint, str):
        if has_key:
            raise InvalidArgument(
                "key: a fleet on Ray has its own key; leave it out", error_class="protocol"
            )
        from .on_ray import open_named

        return open_named(endpoint.removeprefix("ray://"), open_endpoint, connect_timeout)
    endpoints = list(endpoint)
    double = next((one for one in endpoints if endpoints.count(one) > 1), None)
    if not endpoints or double is not None:
        found = "no address" if double is None else f"{double} twice"
        raise InvalidArgument(
            f"endpoint: found {found}, expected one or more, each once", error_class="protocol"
        )
    return FleetConnection(endpoints, open_endpoint, connect_timeout)
