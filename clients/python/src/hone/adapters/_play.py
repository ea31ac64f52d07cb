"""Episodes for adapters: a fault is noted in the record instead of raised.

One connection serves a whole process (the blocking client) or event loop (the asyncio one), however
many environments a trainer makes.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from hone import aio
from hone._functions import function_tools
from hone._requests import DEFAULT_ENDPOINT, PathLike
from hone.client import Client, Episode, connect
from hone.errors import HoneError, InvalidArgument

from ._record import Message, Record, is_fault
from ._tools import EpisodeTools


@dataclass(frozen=True)
class Settings:
    """The server and the rules of an adapter's episodes.

    Attributes:
        endpoint: As in ``hone.connect``: the ZeroMQ address of ``hone serve``, a list of them for
            several servers, or ``"ray://NAME"``. A list becomes a tuple.
        split: The split to draw tasks from, for rollouts that name none.
        options: Options of every episode, such as ``{"max_turns": 4, "reward": "kevin"}``.
        timeout: Seconds a turn may take, queueing included; a longer turn is a fault.
        connect_timeout: Seconds to wait for the server at the start, before an error is raised.
        reconnect_timeout: Seconds without a server, once connected, before turns are faults.
        key: This client's key file, as in ``hone.connect``.
        server_key: As in ``hone.connect``.
        retries: How often an episode whose server became unavailable begins again, elsewhere if
            there is another server. After that, it is a fault. Resets are retried by every adapter,
            steps by those that own the loop over turns.
    """

    endpoint: str | Sequence[str] = DEFAULT_ENDPOINT
    split: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    timeout: float = 600.0
    connect_timeout: float = 10.0
    reconnect_timeout: float = 30.0
    key: PathLike | None = None
    server_key: PathLike | None = None
    retries: int = 1

    def __post_init__(self) -> None:
        """Converts a list of addresses, of any list type of a trainer's configuration, to a tuple.

        Raises:
            InvalidArgument: It is not a list of addresses, or ``retries`` is not 0 to 10.
        """
        if type(self.retries) is not int or not 0 <= self.retries <= 10:
            raise InvalidArgument(
                f"retries: found {self.retries!r}, expected a number from 0 to 10"
            )
        if not isinstance(self.endpoint, str):
            from hone.fleet import addresses

            object.__setattr__(self, "endpoint", tuple(addresses(self.endpoint)))

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Settings:
        """Makes settings of a mapping.

        Raises:
            TypeError: A key is unknown; the message lists the known ones.
        """
        known = [one.name for one in fields(cls)]
        unknown = sorted(set(given) - set(known))
        if unknown:
            raise TypeError(f"unknown settings {unknown}, expected some of {known}")
        return cls(**given)

    @property
    def tools(self) -> list[str]:
        """The names of the tools that the option ``tools`` allows."""
        given = self.options.get("tools")  # the server refuses anything but a map
        return [name for name, uses in given.items() if uses] if isinstance(given, Mapping) else []

    def tools_of(self, observation: Mapping[str, Any]) -> EpisodeTools:
        """The tools that the model of an episode may call: none if the options name none."""
        return EpisodeTools.of(observation) if self.tools else EpisodeTools()

    @property
    def has_one_server(self) -> bool:
        """Whether the endpoint is the address of one server."""
        return isinstance(self.endpoint, str) and not self.endpoint.startswith("ray://")

    def connection(self) -> dict[str, Any]:
        """The arguments of ``connect``."""
        others = ("split", "options", "retries")
        names = [one.name for one in fields(Settings) if one.name not in others]
        return {name: getattr(self, name) for name in names}

    def episode(self, task: str | None, seed: int | None, group: str | None) -> dict[str, Any]:
        """The arguments of ``reset``. A named task needs no split."""
        return {
            "task": task,
            "split": self.split if task is None else None,
            "seed": seed,
            "group": group,
            "options": self.options,
        }


_lock = threading.Lock()
_clients: dict[tuple[Any, ...], Client] = {}
_loop_clients: list[
    tuple[asyncio.AbstractEventLoop, tuple[Any, ...], asyncio.Task[aio.Client]]
] = []


def _unlock_after_fork() -> None:
    """Makes a new lock: the thread that held the old one does not exist in the child."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_unlock_after_fork)


def client_of(settings: Settings) -> Client:
    """This process's connection, made once, and again after a fork.

    Raises:
        HoneError: No server answered, or the key is refused. These errors are not masked: a trainer
            without a server must not run.
    """
    key = (os.getpid(), *settings.connection().values())
    with _lock:
        if key not in _clients:
            _clients[key] = connect(**settings.connection())
        return _clients[key]


def tool_functions(settings: Settings) -> list[dict[str, Any]]:
    """The function schemas of all tools of the server's environment, also without an episode."""
    described = client_of(settings).describe().get("environment") or {}
    return [one["function"] for one in function_tools(described.get("tools") or [])]


async def loop_client_of(settings: Settings) -> aio.Client:
    """The running event loop's connection, made once. Errors as in ``client_of``."""
    loop, key = asyncio.get_running_loop(), tuple(settings.connection().values())
    with _lock:
        _loop_clients[:] = [entry for entry in _loop_clients if not _is_over(entry)]
        found = next((task for of, k, task in _loop_clients if of is loop and k == key), None)
        if found is None:
            found = loop.create_task(aio.connect(**settings.connection()))
            _loop_clients.append((loop, key, found))
    return await asyncio.shield(found)


def _is_over(
    entry: tuple[asyncio.AbstractEventLoop, tuple[Any, ...], asyncio.Task[aio.Client]],
) -> bool:
    """Whether connecting failed, or the loop is closed."""
    loop, _, task = entry
    failed = task.done() and (task.cancelled() or task.exception() is not None)
    return failed or loop.is_closed()


class _Retries:
    """How an episode began, to begin it again after its server was lost."""

    record: Record

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._task: str | None = None
        self._seed: int | None = None
        self._group: str | None = None
        self._retries = 0

    @property
    def may_retry(self) -> bool:
        """Whether the episode lost its server, and ``again`` may begin it."""
        return self.record.server_lost and self._retries < self._settings.retries

    def _begin(self, task: str | None, seed: int | None, group: str | None) -> None:
        self._task, self._seed, self._group = task, seed, group
        self._retries = 0

    def _request(self) -> dict[str, Any]:
        """The arguments of ``reset``."""
        return self._settings.episode(self._task, self._seed, self._group)

    def _spend_retry(self) -> Record:
        """Returns the record of the lost episode."""
        self._retries += 1
        self._task = self.record.task or self._task  # not another draw
        return self.record


class Play(_Retries):
    """One episode after another, on the process's connection; for one thread at a time.

    Dropping it closes its episode on the server, for trainers that never close what they made.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._client = client_of(settings)
        self._episode: Episode | None = None
        self._dropped: weakref.finalize[Any, Play] | None = None
        self.record = Record()
        self.tools = EpisodeTools()

    def start(
        self,
        task: str | None = None,
        *,
        seed: int | None = None,
        group: str | None = None,
    ) -> list[Message]:
        """Starts an episode, closes the one before, and returns the prompt.

        After a fault there is no prompt, and ``record.fault`` has the reason.

        Raises:
            HoneError: The request is wrong, for example an unknown task.
        """
        self._begin(task, seed, group)
        messages = self._start()
        return self.again() if self.may_retry else messages

    def again(self) -> list[Message]:
        """Begins an episode that ``may_retry`` again: its task, seed and group, as ``start``."""
        messages: list[Message] = []
        while self.may_retry and not messages:
            lost = self._spend_retry()
            messages = self._start()
            if self.record.server_lost:
                lost.retries = self._retries
                self.record = lost  # with the first reason
        return messages

    def _start(self) -> list[Message]:
        self.finish()
        self.record, self.tools = Record(retries=self._retries), EpisodeTools()
        try:
            start = self._client.reset(**self._request())
        except HoneError as error:
            self.record.note(error, "reset", resetting=True)
            return []
        self._episode = start.episode
        self._dropped = weakref.finalize(self, _close_unasked, self._client, start.episode.id)
        self._dropped.atexit = False
        self.tools = self._settings.tools_of(start.observation)
        self.record.begin(str(start.info.get("task", "")), start.observation)
        return self.record.messages

    def step(self, code: str | None = None, *, response: str | None = None) -> list[Message]:
        """Submits a kernel's source, or a whole response of the model.

        Returns:
            The new messages of the environment; none after a fault or without an episode.

        Raises:
            HoneError: The request is wrong.
        """
        if self._episode is None or self.record.ended:
            return []
        try:
            result = self._client.step(self._episode, code, response=response)
        except HoneError as error:
            self.record.note(error, f"turn {self.record.turns + 1}")
            return []
        return self.record.add(result)

    def call(self, name: str, arguments: str | Mapping[str, Any]) -> str:
        """Calls a tool of the episode for the model. The turn stays open.

        Args:
            name: The tool's name, as the model wrote it.
            arguments: An object, or its JSON.

        Returns:
            The text for the model: the tool's answer, or the error. Empty after a fault or
            without an episode.
        """
        if self._episode is None or self.record.ended:
            return ""
        try:
            action = self.tools.action(name, arguments)
            result = self._client.tool(self._episode, name, **action)
        except (ValueError, HoneError) as error:
            return self.tools.failed_with(name, error, self.record)
        return self.tools.answered(result, self.record)

    def finish(self) -> Record:
        """Closes the episode if it is open, and returns its record. May be called twice."""
        episode, self._episode = self._episode, None
        if self._dropped is not None:
            self._dropped.detach()
        if episode is not None and not episode.ended:
            try:
                closed = self._client.close_episode(episode)
            except HoneError as error:
                _lost_at_the_end(self.record, error)
            else:
                self.record.finish(closed)
        return self.record


class AsyncPlay(_Retries):
    """Like ``Play`` for asyncio, on the loop's connection."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._client: aio.Client | None = None
        self._episode: aio.Episode | None = None
        self.record = Record()
        self.tools = EpisodeTools()

    async def start(
        self,
        task: str | None = None,
        *,
        seed: int | None = None,
        group: str | None = None,
    ) -> list[Message]:
        """Like ``Play.start``."""
        self._begin(task, seed, group)
        messages = await self._start()
        return await self.again() if self.may_retry else messages

    async def again(self) -> list[Message]:
        """Like ``Play.again``."""
        messages: list[Message] = []
        while self.may_retry and not messages:
            lost = self._spend_retry()
            messages = await self._start()
            if self.record.server_lost:
                lost.retries = self._retries
                self.record = lost
        return messages

    async def _start(self) -> list[Message]:
        await self.finish()
        self.record, self.tools = Record(retries=self._retries), EpisodeTools()
        self._client = await loop_client_of(self._settings)
        try:
            start = await self._client.reset(**self._request())
        except HoneError as error:
            self.record.note(error, "reset", resetting=True)
            return []
        self._episode = start.episode
        self.tools = self._settings.tools_of(start.observation)
        self.record.begin(str(start.info.get("task", "")), start.observation)
        return self.record.messages

    async def step(self, code: str | None = None, *, response: str | None = None) -> list[Message]:
        """Like ``Play.step``."""
        if self._client is None or self._episode is None or self.record.ended:
            return []
        try:
            result = await self._client.step(self._episode, code, response=response)
        except HoneError as error:
            self.record.note(error, f"turn {self.record.turns + 1}")
            return []
        return self.record.add(result)

    async def call(self, name: str, arguments: str | Mapping[str, Any]) -> str:
        """Like ``Play.call``."""
        if self._client is None or self._episode is None or self.record.ended:
            return ""
        try:
            action = self.tools.action(name, arguments)
            result = await self._client.tool(self._episode, name, **action)
        except (ValueError, HoneError) as error:
            return self.tools.failed_with(name, error, self.record)
        return self.tools.answered(result, self.record)

    async def finish(self) -> Record:
        """Like ``Play.finish``."""
        episode, self._episode = self._episode, None
        if self._client is not None and episode is not None and not episode.ended:
            try:
                closed = await self._client.close_episode(episode)
            except HoneError as error:
                _lost_at_the_end(self.record, error)
            else:
                self.record.finish(closed)
        return self.record


def _lost_at_the_end(record: Record, error: HoneError) -> None:
    """An episode that could not be closed keeps the return of its last turn, which was judged."""
    record.ended, record.turns_left = True, 0
    if not is_fault(error, resetting=False):
        raise error


def _close_unasked(client: Client, episode_id: str) -> None:
    """Asks the server to close the episode, without waiting."""
    try:
        client.submit("close", {"episode": episode_id})
    except HoneError:
        return  # the client is closed, and its episodes with it
