"""The asyncio client: the verbs of ``hone.Client`` as coroutines, many under way on one connection.

    async with await hone.aio.connect() as client:
        start = await client.reset("add_relu")
        result = await start.episode.step(source)

Cancelling the task that waits for a step ends its evaluation on the server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from . import _core
from ._requests import (
    DEFAULT_ENDPOINT,
    PathLike,
    describe_body,
    open_connection,
    reset_body,
    step_body,
    unwrap,
)
from .client import Client as _Reader
from .errors import FailedPrecondition
from .types import Closed, EpisodeState, Reset, StepResult, Task, decode_closed, decode_tasks


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
        timeout: float | None = None,
    ) -> StepResult:
        """Like ``Client.step`` for this episode."""
        return await self.client.step(
            self, code, response=response, language=language, timeout=timeout
        )

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
        return self._connection.hello()

    async def describe(
        self, task: str | None = None, *, split: str | None = None
    ) -> dict[str, Any]:
        """Asks for the environment and its tasks, or for everything about one task."""
        return await self.call("describe", describe_body(task, split))

    async def tasks(self, *, split: str | None = None) -> list[Task]:
        """Lists the tasks that this server serves."""
        return decode_tasks(await self.describe(split=split))

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
        body = await self.call(
            "reset",
            reset_body(
                task, split=split, seed=seed, group=group, environment=environment, options=options
            ),
            timeout=timeout,
        )
        episode = Episode(str(body["episode"]), str(body["token"]), client=self)
        return Reset(
            episode,
            body.get("observation") or {},
            body.get("info") or {},
            float(body.get("lease_s") or 0),
        )

    async def step(
        self,
        episode: Episode,
        code: str | None = None,
        *,
        response: str | None = None,
        language: str | None = None,
        timeout: float | None = None,
    ) -> StepResult:
        """Submits a kernel and waits for its verdict; see ``hone.Client.step``."""
        body = step_body(episode, code, response, language)
        return _Reader.read_step(episode, await self.call("step", body, timeout=timeout))

    async def cancel(self, episode: Episode, turn: int | None = None) -> bool:
        """Ends the evaluation of a turn, by default the next; False when there was none."""
        turn = episode.turn + 1 if turn is None else turn
        body = await self.call("cancel", {"episode": episode.id, "turn": turn})
        return bool(body.get("cancelled"))

    async def resume(self, episode_id: str, token: str) -> Reset[Episode]:
        """Takes over an episode of another connection or process."""
        body = await self.call("resume", {"episode": episode_id, "token": token})
        episode = Episode(
            episode_id,
            token,
            turn=int(body.get("turn", 0)),
            ended=bool(body.get("ended", False)),
            client=self,
        )
        return Reset(episode, body.get("observation") or {}, {}, float(body.get("lease_s") or 0))

    async def close_episode(self, episode: Episode) -> Closed:
        """Ends an episode before its time and frees its place."""
        closed = decode_closed(await self.call("close", {"episode": episode.id}))
        episode.ended = True
        return closed

    async def ping(self) -> dict[str, Any]:
        """Asks for a sign of life: ``incarnation`` and ``time``."""
        return await self.call("ping", {})

    async def health(self) -> dict[str, Any]:
        """``{"status": "serving" | "draining", ...}``, from the control endpoint."""
        return await self.call("health", {})

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
        if self._connection.closed:
            raise FailedPrecondition("the client is closed", error_class="protocol")
        self._last_tag += 1
        tag = self._last_tag
        future: asyncio.Future[dict[str, Any]] = self._loop.create_future()
        ticket = self._connection.submit(verb, dict(body), timeout, self._completions, tag)
        self._waiting[tag] = (ticket, future)
        try:
            return await future
        except asyncio.CancelledError:
            ticket.cancel()
            raise
        finally:
            self._waiting.pop(tag, None)

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


async def connect(
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
) -> Client:
    """Connects to ``hone serve`` for the running event loop; see ``hone.connect``."""
    connection = await asyncio.to_thread(
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
    return Client(connection)
