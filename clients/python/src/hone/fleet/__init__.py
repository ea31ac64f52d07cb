"""Several servers behind one client.

    import hone

    with hone.connect(["tcp://node1:5917", "tcp://node2:5917"]) as client:
        ...                                    # as with one server

``hone.connect("ray://NAME")`` finds the servers that ``python -m hone.fleet up`` started on a Ray
cluster. docs/fleet.md says what happens to episodes when a server leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from hone import _core
from hone.errors import InvalidArgument

from .connection import FleetConnection, Member
from .routing import Router, Server, ranking

__all__ = [
    "FleetConnection",
    "Member",
    "Router",
    "Server",
    "addresses",
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
        InvalidArgument: The list is empty, has an address twice or an entry that is no address; or
            a key is given for a fleet on Ray.
        Unavailable: Ray is not running, or has no fleet of this name.
    """
    if isinstance(endpoint, str):
        if has_key:
            raise InvalidArgument(
                "key: a fleet on Ray has its own key; leave it out", error_class="protocol"
            )
        from .on_ray import open_named

        return open_named(endpoint.removeprefix("ray://"), open_endpoint, connect_timeout)
    return FleetConnection(addresses(endpoint), open_endpoint, connect_timeout)


def addresses(given: object) -> list[str]:
    """Checks a list of addresses, of any iterable type.

    Raises:
        InvalidArgument: It is not a list, is empty, has an entry twice, or has an invalid address.
    """
    expected = "expected an address such as 'tcp://HOST:5917', or a list of them"
    found: str | None = None
    addresses: list[str] = []
    if not isinstance(given, Iterable) or isinstance(given, bytes | bytearray | Mapping):
        found = f"{given!r}"
    else:
        for one in given:
            if not isinstance(one, str) or one.startswith("ray://"):
                found = f"{one!r} in a list"
                break
            if one in addresses:
                found, expected = f"{one} twice", "expected each address once"
                break
            addresses.append(one)
        if not addresses and found is None:
            found = "no address"
    if found is not None:
        raise InvalidArgument(f"endpoint: found {found}, {expected}", error_class="protocol")
    return addresses
