"""The blocking client. One connection, any number of threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from .errors import FailedPrecondition
from .types import Closed, EpisodeState, Reset, StepResult, Task

__all__ = [
    "Client",
    "Episode",
    "Progress",
    "connect",
]

Progress = Callable[[dict[str, Any]], None]


@dataclass
class Episode(EpisodeState):
    """One episode on one connection; used by one thread at a time."""

    client: Client = field(repr=False, kw_only=True)

    def step(
        self,
        code: str | None = None,
        *,
        response: str | None = None,
        language: str | None = None,
        action: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        on_progress: Progress | None = None,
    ) -> StepResult:
        """Like ``Client.step`` for this episode."""
        return self.client.step(
            self,
            code,
            response=response,
            language=language,
            action=action,
            timeout=timeout,
            on_progress=on_progress,
        )

    def branch(self, turn: int | None = None, *, group: str | None = None) -> Reset[Episode]:
        """Like ``Client.branch`` for this episode."""
        return self.client.branch(self, turn, group=group)

    def close(self) -> Closed:
        """Like ``Client.close_episode`` for this episode."""
        return self.client.close_episode(self)


class Client:
    """A connection to ``hone serve``; made by ``hone.connect``.

    Lost connections are made anew by themselves: open episodes are resumed and unanswered requests
    sent again. While no server has been there for ``reconnect_timeout`` seconds, requests raise
    ``Unavailable``; once it is back, they work again. A full server is asked again until the
    request's timeout. Not for use across
    ``os.fork``: connect in the child.
    """

    def __init__(self, connection: _core.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def server(self) -> dict[str, Any]:
        """The server's hello: version, limits, environments, backends, isolation, fingerprint."""
        return hello_of(self._connection)

    def describe(
        self, task: str | None = None, *, split: str | None = None, environment: str | None = None
    ) -> dict[str, Any]:
        """Asks for an environment (by default the server's) and its tasks, or for one task.

        Raises:
            NotFound: No such task, or one that is held back.
        """
        body = {"task": task, "split": split, "environment": environment}
        return self._ask(_requests.plain("describe", **body))

    def prompt(
        self, task: str, *, options: Mapping[str, Any] | None = None
    ) -> list[dict[str, str]]:
        """What a model would be asked: the messages of a reset with these options, without one.

        Raises:
            NotFound: No such task.
            InvalidArgument: An option is unknown or out of range.
        """
        return self._ask(_requests.prompt(task, options))

    def tasks(self, *, split: str | None = None) -> list[Task]:
        """Lists the tasks that this server serves."""
        return self._ask(_requests.tasks(split))

    def reset(
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
        """Starts an episode.

        Args:
            task: ``"dataset/id"`` or ``"id"``; None draws one with the seed.
            split: Where to draw from.
            seed: Makes the draw repeatable.
            group: Samples of one task that share a device model and one baseline.
            environment: None for the server's default.
            options: For example ``{"max_turns": 4, "reward": "kevin"}``; ``describe`` lists them.
            timeout: Seconds, instead of the client's.

        Raises:
            NotFound: No such task.
            InvalidArgument: An option is unknown or out of range.
            Busy: The server holds as many episodes as it may.
        """
        request = _requests.reset(
            partial(Episode, client=self),
            task,
            split=split,
            seed=seed,
            group=group,
            environment=environment,
            options=options,
        )
        return self._ask(request, timeout)

    def step(
        self,
        episode: Episode,
        code: str | None = None,
        *,
        response: str | None = None,
        language: str | None = None,
        action: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        on_progress: Progress | None = None,
    ) -> StepResult:
        """Submits a kernel and waits for its verdict.

        Args:
            episode: From ``reset`` or ``resume``.
            code: Source of the kernel; or
            response: a whole model response, from which the server takes the code.
            language: Of the code; None for the task's own.
            action: Instead of either, for an environment whose actions are neither:
                ``{"index": 7}`` in ``autotune``.
            timeout: Seconds, instead of the client's. What runs then is ended by the server.
            on_progress: Called in this thread with ``{"stage": ...}`` as the evaluation moves on.

        Raises:
            FailedPrecondition: The episode ended, or belongs to another connection.
            DeadlineExceeded: No answer in time; the same step may be sent again.
            Unavailable: The episode was lost with its server.
        """
        request = _requests.step(episode, code, response, language, action)
        ticket = self.submit(request.verb, request.body, timeout=timeout)
        try:
            if on_progress is not None:
                while not ticket.done():
                    ticket.wait(-1.0, or_progress=True)
                    for body in ticket.progress():
                        on_progress(body)
            ticket.wait()
        except BaseException:
            ticket.cancel()  # Ctrl-C, or on_progress raised: nobody will read the answer
            raise
        return request.read(unwrap(ticket.result()))

    def cancel(self, episode: Episode, turn: int | None = None) -> bool:
        """Ends the evaluation of a turn (by default the next) on the control endpoint.

        Returns:
            Whether there was one. Its step then raises ``Cancelled``; the turn stays open.
        """
        return self._ask(_requests.cancel(episode, turn))

    def resume(self, episode_id: str, token: str) -> Reset[Episode]:
        """Takes over an episode of another connection or process.

        Raises:
            NotFound: No such episode, or the wrong token.
        """
        make = partial(Episode, client=self)
        return self._ask(_requests.resume(make, episode_id, token))

    def branch(
        self, episode: Episode, turn: int | None = None, *, group: str | None = None
    ) -> Reset[Episode]:
        """Starts an episode that shares another's turns: several answers to one state.

        Args:
            episode: The one to branch from; it goes on as it was.
            turn: How many of its turns to share; None for all that it has done.
            group: Instead of the episode's own.

        Raises:
            FailedPrecondition: It has not done that many turns, or ended with that one.
            NotFound: It is gone (a server with a journal still has what was closed).
        """
        return self._ask(_requests.branch(partial(Episode, client=self), episode, turn, group))

    def close_episode(self, episode: Episode) -> Closed:
        """Ends an episode before its time and frees its place."""
        return self._ask(_requests.close(episode))

    def ping(self) -> dict[str, Any]:
        """Asks for a sign of life: ``incarnation`` and ``time``. Leases are renewed without it."""
        return self._ask(_requests.plain("ping"))

    @overload
    def metrics(self, format: Literal["map"] = "map") -> dict[str, Any]: ...
    @overload
    def metrics(self, format: Literal["prometheus"]) -> str: ...
    def metrics(self, format: MetricsFormat = "map") -> dict[str, Any] | str:
        """The server's counters and histograms, from its control endpoint.

        Args:
            format: ``"map"``, or ``"prometheus"`` for Prometheus' text format 0.0.4.

        Raises:
            InvalidArgument: The server knows no such format.
        """
        answer: dict[str, Any] | str = self._ask(_requests.metrics(format))
        return answer

    def health(self) -> dict[str, Any]:
        """How the server is, from its control endpoint.

        Returns:
            ``status``: ``"serving"``, ``"draining"``, or ``"failing"`` while steps cannot be done;
            ``problems``, a list that says why (a full disk); ``incarnation``; ``uptime_s``; and how
            many there are now, of all clients: ``steps`` under way, ``in_flight`` requests of any
            verb without an answer, ``connections`` to either endpoint, and requests in the
            ``queue``.
        """
        return self._ask(_requests.plain("health"))

    def close(self) -> None:
        """Closes the connection; what is under way raises ``Cancelled``. May be called twice."""
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
        """Sends any verb without waiting; what the other members are made of."""
        return _requests.submit(self._connection, verb, body, timeout, completions, tag)

    def call(
        self, verb: str, body: Mapping[str, Any], *, timeout: float | None = None
    ) -> dict[str, Any]:
        """Sends any verb and waits for its body."""
        ticket = self.submit(verb, body, timeout=timeout)
        try:
            ticket.wait()
        except BaseException:
            ticket.cancel()
            raise
        return unwrap(ticket.result())

    def _ask(self, request: Request[T], timeout: float | None = None) -> T:
        return request.read(self.call(request.verb, request.body, timeout=timeout))


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
) -> Client:
    """Connects to ``hone serve``.

    Args:
        endpoint: ZeroMQ address of the server.
        timeout: Seconds a request may take, queueing and retries included; 0 for no end.
        connect_timeout: Seconds to wait for the server's hello.
        reconnect_timeout: Seconds without a server, once connected, after which requests raise
            ``Unavailable`` instead of waiting for it to come back; 0 for no limit.
        retry_busy: Whether to ask a full server again; else ``Busy`` is raised at once.
        name: How this client calls itself, ``"trainer/1.0"``.
        control: Control endpoint, where it is not the one that hello names (behind a tunnel).
        key: This client's key file (``hone keys new NAME``), for a server that serves with keys.
            With it the connection is encrypted, and the key, not ``name``, says who this is.
        server_key: The server's public key, or a file with it; None for the one in ``key``.

    Raises:
        Unavailable: Nobody answered in time.
        InvalidArgument: The endpoint or a key file is malformed, or there is no version in common.
        FailedPrecondition: The key is refused, or others can read its file; or a key is wanted.
    """
    return Client(
        open_connection(
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
    )
