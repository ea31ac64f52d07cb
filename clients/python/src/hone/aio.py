"""The asyncio client: the verbs of ``hone.Client`` as coroutines, many under way on one connection.

    async with hone.aio.connect() as client:
        start = await client.reset("add_relu")
        result = await start.episode.step(source)

Cancelling the task that waits for a step ends its evaluation on the server; the next step of that
episode may follow at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Any, Literal, overload

from . import _core, _requests
from ._requests import (
    DEFAULT_ENDPOINT,
    MetricsFormat,
    PathLike,
    Request,
    T,
    hello_of,
    open_connection,
    unwrap,
)
from .types import Closed, EpisodeState, Reset, StepResult, Task

__all__ = [
    "Client",
    "Connecting",
    "Episode",
    "connect",
]


@dataclass
class Episode(EpisodeState):
    """One episode; used by one task at a time."""

    client: Client = field(repr=False, kw_only=True)

    async def step(
        self,
        code: str | None = None,
        *,
        response: str | None = None,
        language: str | None = None,
        action: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> StepResult:
        """Like ``Client.step`` for this episode."""
        return await self.client.step(
            self, code, response=response, language=language, action=action, timeout=timeout
        )

    async def branch(self, turn: int | None = None, *, group: str | None = None) -> Reset[Episode]:
        """Like ``Client.branch`` for this episode."""
        return await self.client.branch(self, turn, group=group)

    async def close(self) -> Closed:
        """Like ``Client.close_episode`` for this episode."""
        return await self.client.close_episode(self)


class Client:
    """A connection for one event loop, by ``hone.aio.connect``. Errors as in ``hone.Client``."""

    def __init__(self, connection: _core.Connection) -> None:
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._completions = _core.Completions()
        self._waiting: dict[int, tuple[_core.Ticket, asyncio.Future[dict[str, Any]]]] = {}
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

    @property
    def server(self) -> dict[str, Any]:
        """The server's hello."""
        return hello_of(self._connection)

    async def describe(
        self, task: str | None = None, *, split: str | None = None, environment: str | None = None
    ) -> dict[str, Any]:
        """Asks for an environment (by default the server's) and its tasks, or for one task."""
        return await self._ask(
            _requests.plain("describe", task=task, split=split, environment=environment)
        )

    async def prompt(
        self, task: str, *, options: Mapping[str, Any] | None = None
    ) -> list[dict[str, str]]:
        """What a model would be asked; see ``hone.Client.prompt``."""
        return await self._ask(_requests.prompt(task, options))

    async def tasks(self, *, split: str | None = None) -> list[Task]:
        """Lists the tasks that this server serves."""
        return await self._ask(_requests.tasks(split))

    async def reset(
        self,
        task: str | None = None,
        *,
        split: str | None = None,
        seed: int | None = None,
        group: str | None = None,
        environment: str | None = None,
        options: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> Reset[Episode]:
        """Starts an episode; see ``hone.Client.reset``."""
        request = _requests.reset(
            partial(Episode, client=self),
            task,
            split=split,
            seed=seed,
            group=group,
            environment=environment,
            options=options,
        )
        return await self._ask(request, timeout)

    async def step(
        self,
        episode: Episode,
        code: str | None = None,
        *,
        response: str | None = None,
        language: str | None = None,
        action: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> StepResult:
        """Submits a kernel and waits for its verdict; see ``hone.Client.step``.

        Cancelling the task that waits ends the evaluation. The turn stays open, and the episode's
        next step is sent once that end has come.
        """
        request = _requests.step(episode, code, response, language, action)
        return await self._ask(request, timeout)

    async def cancel(self, episode: Episode, turn: int | None = None) -> bool:
        """Ends the evaluation of a turn, by default the next; False when there was none."""
        return await self._ask(_requests.cancel(episode, turn))

    async def resume(self, episode_id: str, token: str) -> Reset[Episode]:
        """Takes over an episode of another connection or process."""
        make = partial(Episode, client=self)
        return await self._ask(_requests.resume(make, episode_id, token))

    async def branch(
        self, episode: Episode, turn: int | None = None, *, group: str | None = None
    ) -> Reset[Episode]:
        """Starts an episode that shares another's turns; see ``hone.Client.branch``."""
        make = partial(Episode, client=self)
        return await self._ask(_requests.branch(make, episode, turn, group))

    async def close_episode(self, episode: Episode) -> Closed:
        """Ends an episode before its time and frees its place."""
        return await self._ask(_requests.close(episode))

    async def ping(self) -> dict[str, Any]:
        """Asks for a sign of life: ``incarnation`` and ``time``."""
        return await self._ask(_requests.plain("ping"))

    async def health(self) -> dict[str, Any]:
        """How the server is; see ``hone.Client.health``."""
        return await self._ask(_requests.plain("health"))

    @overload
    async def metrics(self, format: Literal["map"] = "map") -> dict[str, Any]: ...
    @overload
    async def metrics(self, format: Literal["prometheus"]) -> str: ...
    async def metrics(self, format: MetricsFormat = "map") -> dict[str, Any] | str:
        """The server's counters; see ``hone.Client.metrics``."""
        answer: dict[str, Any] | str = await self._ask(_requests.metrics(format))
        return answer

    async def close(self) -> None:
        """Closes the connection; what is under way raises ``Cancelled``. May be called twice."""
        if self._connection.closed:
            return
        await asyncio.to_thread(self._connection.close)
        self._deliver()
        self._loop.remove_reader(self._completions.fileno())

    async def call(
        self, verb: str, body: Mapping[str, Any], *, timeout: float | None = None
    ) -> dict[str, Any]:
        """Sends any verb and waits for its body."""
        self._last_tag += 1
        tag = self._last_tag
        future: asyncio.Future[dict[str, Any]] = self._loop.create_future()
        ticket = _requests.submit(self._connection, verb, body, timeout, self._completions, tag)
        self._waiting[tag] = (ticket, future)
        try:
            return await future
        except asyncio.CancelledError:
            ticket.cancel()
            if verb in ("reset", "branch"):
                self._close_begun(ticket, future)
            raise
        finally:
            self._waiting.pop(tag, None)

    def _close_begun(self, ticket: _core.Ticket, future: asyncio.Future[dict[str, Any]]) -> None:
        """Closes an episode whose beginning was answered when nobody waited for it any more.

        An answer that is still to come is the connection's to look after.
        """
        if future.done() and not future.cancelled():
            body = None if future.exception() else future.result()
        else:
            body, _ = ticket.result()  # comes at once: it was given up
        if body and not self._connection.closed:
            self._connection.submit("close", {"episode": body["episode"]})

    async def _ask(self, request: Request[T], timeout: float | None = None) -> T:
        return request.read(await self.call(request.verb, request.body, timeout=timeout))

    def _deliver(self) -> None:
        """Hands every answer that has come to the coroutine that waits for it."""
        for tag in self._completions.drain():
            ticket, future = self._waiting.pop(tag, (None, None))
            if ticket is None or future is None or future.done():
                continue
            try:
                future.set_result(unwrap(ticket.result()))
            except Exception as error:
                future.set_exception(error)


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


def connect(
    endpoint: str = DEFAULT_ENDPOINT,
    *,
    timeout: float = 600.0,
    connect_timeout: float = 10.0,
    reconnect_timeout: float = 30.0,
    retry_busy: bool = True,
    name: str | None = None,
    control: str | None = None,
    key: PathLike | None = None,
    server_key: PathLike | None = None,
) -> Connecting:
    """Connects to ``hone serve`` for the running event loop; see ``hone.connect``.

    ``async with connect(...) as client`` closes the client at the end. After
    ``client = await connect(...)`` the caller closes it.
    """
    connecting = partial(
        open_connection,
        endpoint,
        timeout=timeout,
        connect_timeout=connect_timeout,
        reconnect_timeout=reconnect_timeout,
        retry_busy=retry_busy,
        name=name,
        control=control,
        key=key,
        server_key=server_key,
    )

    async def opening() -> Client:
        return Client(await asyncio.to_thread(connecting))

    return Connecting(opening())
