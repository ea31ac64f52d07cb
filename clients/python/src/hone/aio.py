"""The asyncio client: the verbs of ``hone.Client`` as coroutines, many pending on one connection.

    async with hone.aio.connect() as client:
        start = await client.reset("add_relu")
        result = await start.episode.step(source)

Cancelling the task that waits for a step ends its evaluation on the server. The episode's next step
may be sent at once; it waits for that end.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Any, Literal, NamedTuple, ParamSpec, TypeVar, overload

from . import _core, _verbs, client
from ._requests import BEGIN_EPISODE, Progress, Request, T, send, unwrap
from ._verbs import Asynchronous, ClientVerbs, EpisodeVerbs, MetricsFormat

__all__ = [
    "Client",
    "Connecting",
    "Episode",
    "connect",
]

P = ParamSpec("P")
R = TypeVar("R")


@dataclass
class Episode(EpisodeVerbs["Episode"], Asynchronous):
    """One episode; used by one task at a time."""

    client: Client = field(repr=False, kw_only=True)

    async def _ask(self, request: Request[T]) -> T:
        return await self.client._ask(request)


class Pending(NamedTuple):
    """A request that was sent and has no answer yet."""

    ticket: _core.Ticket
    answer: asyncio.Future[dict[str, Any]]
    on_progress: Progress | None


class Client(ClientVerbs[Episode], Asynchronous):
    """A connection for one event loop, by ``hone.aio.connect``. Errors as in ``hone.Client``."""

    def __init__(self, connection: _core.Connection) -> None:
        super().__init__(connection)
        self._loop = asyncio.get_running_loop()
        self._completions = _core.Completions()
        self._pending: dict[int, Pending] = {}
        self._last_tag = 0
        self._loop.add_reader(self._completions.fileno(), self._deliver)

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    @overload
    async def metrics(self, format: Literal["map"] = "map") -> dict[str, Any]: ...
    @overload
    async def metrics(self, format: Literal["prometheus"]) -> str: ...
    async def metrics(self, format: MetricsFormat = "map") -> dict[str, Any] | str:
        """Asks for the server's metrics; see ``hone.Client.metrics``."""
        answer: dict[str, Any] | str = await self._ask(_verbs.metrics(format))
        return answer

    async def close(self) -> None:
        """Closes the connection; pending requests raise ``Cancelled``. May be called twice."""
        if self._connection.closed:
            return
        await asyncio.to_thread(self._connection.close)
        self._deliver()
        self._loop.remove_reader(self._completions.fileno())

    async def _ask(self, request: Request[T]) -> T:
        self._last_tag += 1
        tag = self._last_tag
        answer: asyncio.Future[dict[str, Any]] = self._loop.create_future()
        ticket = send(self._connection, request, self._completions, tag)
        self._pending[tag] = Pending(ticket, answer, request.on_progress)
        try:
            return request.read(await answer)
        except asyncio.CancelledError:
            ticket.cancel()
            if request.verb in BEGIN_EPISODE:
                self._close_begun(ticket, answer)
            raise
        finally:
            self._pending.pop(tag, None)

    def _episode(
        self, id: str, token: str, turn: int = 0, ended: bool = False, calls: int = 0
    ) -> Episode:
        return Episode(id, token, turn, ended, calls, client=self)

    def _close_begun(self, ticket: _core.Ticket, answer: asyncio.Future[dict[str, Any]]) -> None:
        """Closes the episode of a cancelled reset whose answer has come already.

        If the answer is still to come, the connection closes the episode.
        """
        if answer.done() and not answer.cancelled():
            body = None if answer.exception() else answer.result()
        else:
            body, _ = ticket.result()  # does not block: the request was cancelled
        if body and not self._connection.closed:
            self._connection.submit("close", {"episode": body["episode"]})

    def _deliver(self) -> None:
        """Hands each answer and progress message to the coroutine that waits for it."""
        for tag in self._completions.drain():
            pending = self._pending.get(tag)
            if pending is None or pending.answer.done():
                continue
            ticket, answer, on_progress = pending
            try:
                if on_progress is not None:
                    for body in ticket.progress():
                        on_progress(body)
                if ticket.done():
                    answer.set_result(unwrap(ticket.result()))
            except Exception as error:
                ticket.cancel()
                answer.set_exception(error)


class Connecting(Coroutine[Any, Any, Client]):
    """A pending connection, for ``async with connect(...)`` or ``await connect(...)``.

    It is a coroutine, so that ``asyncio.create_task`` takes it, too.
    """

    def __init__(self, opening: Coroutine[Any, Any, Client]) -> None:
        self._opening = opening
        self._client: Client | None = None

    def __await__(self) -> Generator[Any, None, Client]:
        return self._opening.__await__()

    def send(self, value: object) -> Any:  # noqa: ANN401 - as every coroutine
        """As every coroutine."""
        return self._opening.send(value)

    def throw(self, *raised: Any) -> Any:  # noqa: ANN401
        """As every coroutine."""
        return self._opening.throw(*raised)

    def close(self) -> None:
        """As every coroutine: gives up a connection that was not awaited."""
        self._opening.close()

    async def __aenter__(self) -> Client:
        self._client = await self._opening
        return self._client

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()


def _with_parameters_of(
    model: Callable[P, object],
) -> Callable[[Callable[..., R]], Callable[P, R]]:
    """Declares that a function passes all its arguments on to the model."""

    def decorate(function: Callable[..., R]) -> Callable[P, R]:
        returned = function.__annotations__["return"]
        signature = inspect.signature(model).replace(return_annotation=returned)
        function.__dict__["__signature__"] = signature
        return function

    return decorate


@_with_parameters_of(client.connect)
def connect(*args: Any, **kwargs: Any) -> Connecting:  # noqa: ANN401 - those of client.connect
    """Connects to ``hone serve`` for the running event loop; arguments as for ``hone.connect``.

    ``async with connect(...) as client`` closes the client at the end. After
    ``client = await connect(...)`` the caller closes it.
    """

    async def opening() -> Client:
        blocking = await asyncio.to_thread(partial(client.connect, *args, **kwargs))
        return Client(blocking._connection)

    return Connecting(opening())
