"""The blocking client. One connection, any number of threads."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from . import _core, _verbs
from ._requests import DEFAULT_ENDPOINT, PathLike, Progress, Request, T, seconds, send, unwrap
from ._server_watch import watch
from ._verbs import Blocking, ClientVerbs, EpisodeVerbs, MetricsFormat
from .errors import InvalidArgument, from_failure

if TYPE_CHECKING:
    from .fleet import FleetConnection

__all__ = [
    "Client",
    "Episode",
    "Progress",
    "connect",
]


@dataclass
class Episode(EpisodeVerbs["Episode"], Blocking):
    """One episode on one connection; used by one thread at a time."""

    client: Client = field(repr=False, kw_only=True)

    def _ask(self, request: Request[T]) -> T:
        return self.client._ask(request)


class Client(ClientVerbs[Episode], Blocking):
    """A connection to ``hone serve``, made by ``hone.connect``.

    A lost connection is restored: open episodes are resumed and unanswered requests sent again.
    While no server is there, a request waits ``reconnect_timeout`` seconds and then raises
    ``Unavailable``; requests work again once the server is back. If a request has waited for 5 s,
    a client of one server logs a warning (logger ``hone.client``) with the server's address and
    the time at which the wait ends. A request to a full server is repeated until the request's
    timeout. A client does not survive ``os.fork``: connect in the child.
    """

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @overload
    def metrics(self, format: Literal["map"] = "map") -> dict[str, Any]: ...
    @overload
    def metrics(self, format: Literal["prometheus"]) -> str: ...
    def metrics(self, format: MetricsFormat = "map") -> dict[str, Any] | str:
        """Asks the control endpoint for the server's counters and histograms.

        Args:
            format: ``"map"``, or ``"prometheus"`` for Prometheus' text format 0.0.4.

        Raises:
            InvalidArgument: The server does not know the format.
        """
        answer: dict[str, Any] | str = self._ask(_verbs.metrics(format))
        return answer

    def close(self) -> None:
        """Closes the connection; pending requests raise ``Cancelled``. May be called twice."""
        self._connection.close()

    def submit(
        self,
        verb: str,
        body: Mapping[str, Any],
        *,
        timeout: float | None = None,
        completions: _core.Completions | None = None,
        tag: int = 0,
    ) -> _core.Ticket:
        """Sends any verb without waiting for its answer."""
        return send(self._connection, Request(verb, dict(body), dict, timeout), completions, tag)

    def _ask(self, request: Request[T]) -> T:
        ticket = send(self._connection, request)
        try:
            if request.on_progress is not None:
                while not ticket.done():
                    ticket.wait(-1.0, or_progress=True)
                    for body in ticket.progress():
                        request.on_progress(body)
            ticket.wait()
        except BaseException:
            ticket.cancel()  # Ctrl-C, or on_progress raised: the answer will not be read
            raise
        return request.read(unwrap(ticket.result()))

    def _episode(
        self, id: str, token: str, turn: int = 0, ended: bool = False, calls: int = 0
    ) -> Episode:
        return Episode(id, token, turn, ended, calls, client=self)


def connect(
    endpoint: str | Sequence[str] = DEFAULT_ENDPOINT,
    *,
    timeout: float = 600.0,
    connect_timeout: float = 10.0,
    reconnect_timeout: float = 30.0,
    retry_busy: bool = True,
    name: str | None = None,
    control: str | None = None,
    key: PathLike | None = None,
    server_key: PathLike | None = None,
) -> Client:
    """Connects to ``hone serve``, or to several servers.

    Args:
        endpoint: ZeroMQ address of the server; or the addresses of several; or ``"ray://NAME"`` for
            the servers that ``python -m hone.fleet up`` started on this Ray cluster.
        timeout: Seconds a request may take, queueing and retries included; 0 for no limit.
        connect_timeout: Seconds to wait for the server's hello; of several servers, the first.
        reconnect_timeout: Seconds that a request waits while no server is there, once connected,
            before it raises ``Unavailable``; 0 for no limit.
        retry_busy: Whether to repeat a request to a full server. Otherwise it raises ``Busy``.
        name: Name of this client in the server's log, such as ``"trainer/1.0"``.
        control: Control endpoint, if it is not the one in hello (behind a tunnel). For one server.
        key: This client's key file (``hone keys new NAME``), for a server that requires keys.
            The connection is encrypted, and the key, not ``name``, identifies the client.
        server_key: The server's public key, or a file with it; None for the one in ``key``.

    Raises:
        Unavailable: No server answered in time.
        InvalidArgument: The endpoint or a key file is malformed, or client and server have no
            protocol version in common.
        FailedPrecondition: The server refuses the key or requires one, or other users can read the
            key file.
    """
    timeout = seconds("timeout", timeout)
    reconnect_timeout = seconds("reconnect_timeout", reconnect_timeout)
    own_key = "" if key is None else os.fspath(key)
    public_key = "" if server_key is None else os.fspath(server_key)

    def open_endpoint(address: str, patience: float, key: str = own_key) -> _core.Connection:
        return _core.Connection(
            endpoint=address,
            name=name or f"hone-py/{_core.__version__}",
            connect_timeout=patience,
            request_timeout=timeout,
            reconnect_timeout=reconnect_timeout,
            retry_busy=retry_busy,
            control=control or "",
            key=key,
            server_key=public_key,
        )

    patience = seconds("connect_timeout", connect_timeout)
    connection: _core.Connection | FleetConnection
    if isinstance(endpoint, str) and not endpoint.startswith("ray://"):
        connection = open_endpoint(endpoint, patience)
    else:
        from .fleet import open_fleet

        if control is not None:
            raise InvalidArgument(
                "control: one endpoint does not serve several servers; leave it out",
                error_class="protocol",
            )
        connection = open_fleet(endpoint, open_endpoint, patience, bool(own_key))
    if connection.failure is not None:
        raise from_failure(connection.failure)
    if isinstance(connection, _core.Connection):
        watch(connection)
    return Client(cast("_core.Connection", connection))  # a fleet's has the same interface
