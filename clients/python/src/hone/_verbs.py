"""The verbs of the protocol, each defined once for the blocking and the asyncio client.

A verb is a method that builds a ``Request`` and sends nothing. ``@Verb`` makes it a method of both
clients, with the same parameters and docstring:

    @Verb
    def ping(self) -> Request[dict[str, Any]]: ...

    hone.Client.ping       # def ping(self) -> dict[str, Any]
    hone.aio.Client.ping   # async def ping(self) -> dict[str, Any]

A client says how a request is sent and awaited: it is ``Blocking`` or ``Asynchronous`` and has the
method ``_ask``. To add a verb, add a method to ``ClientVerbs``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from types import MethodType
from typing import Any, Concatenate, Generic, Literal, ParamSpec, cast, overload

from . import _core
from ._requests import Progress, Request, T, without_none
from .errors import FailedPrecondition
from .types import (
    Closed,
    EpisodeState,
    EpisodeT,
    Observation,
    Reset,
    ResetInfo,
    StepResult,
    Task,
    ToolResult,
    decode_closed,
    decode_step,
    decode_tasks,
    decode_tool,
)

P = ParamSpec("P")
MetricsFormat = Literal["map", "prometheus"]


class Blocking:
    """Sends a request and blocks until it is answered."""

    def _ask(self, request: Request[T]) -> T:
        raise NotImplementedError


class Asynchronous:
    """Sends a request and awaits its answer."""

    async def _ask(self, request: Request[T]) -> T:
        raise NotImplementedError


class Verb(Generic[P, T]):
    """Turns a method that builds a request into one that sends it and returns the decoded reply.

    On a subclass of ``Blocking`` it is a function, on one of ``Asynchronous`` a coroutine function.
    """

    def __init__(self, build: Callable[Concatenate[Any, P], Request[T]]) -> None:
        @wraps(build)
        def blocking(self: Any, *args: P.args, **kwargs: P.kwargs) -> T:  # noqa: ANN401
            return cast(T, self._ask(build(self, *args, **kwargs)))

        @wraps(build)
        async def asynchronous(self: Any, *args: P.args, **kwargs: P.kwargs) -> T:  # noqa: ANN401
            return cast(T, await self._ask(build(self, *args, **kwargs)))

        # help() shows what the method returns, T, and not that it builds a Request[T].
        signature = inspect.signature(build)
        returned = signature.return_annotation.removeprefix("Request[").removesuffix("]")
        for method in (blocking, asynchronous):
            method.__dict__["__signature__"] = signature.replace(return_annotation=returned)
        self._blocking, self._asynchronous = blocking, asynchronous

    @overload
    def __get__(self, instance: Blocking, owner: object = None) -> Callable[P, T]: ...
    @overload
    def __get__(
        self, instance: Asynchronous, owner: object = None
    ) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def __get__(
        self, instance: None, owner: type[Blocking]
    ) -> Callable[Concatenate[Any, P], T]: ...
    @overload
    def __get__(
        self, instance: None, owner: type[Asynchronous]
    ) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]: ...
    def __get__(self, instance: object, owner: Any = None) -> Any:
        method = self._asynchronous if issubclass(owner, Asynchronous) else self._blocking
        return method if instance is None else MethodType(method, instance)


def request_of(verb: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Request[T]:
    """Builds the request of a blocking client's verb without sending it.

    ``request_of(client.reset, "add_relu")`` is what ``client.reset("add_relu")`` sends.
    """
    assert isinstance(verb, MethodType)
    build = verb.__func__.__wrapped__  # type: ignore[attr-defined]
    return cast("Request[T]", build(verb.__self__, *args, **kwargs))


class ClientVerbs(Generic[EpisodeT]):
    """The verbs of a connection."""

    def __init__(self, connection: _core.Connection) -> None:
        self._connection = connection

    def _episode(
        self, id: str, token: str, turn: int = 0, ended: bool = False, calls: int = 0
    ) -> EpisodeT:
        """Makes this client's handle of an episode."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__qualname__}, {self._connection!r}>"

    @property
    def server(self) -> dict[str, Any]:
        """The server's hello: version, limits, environments, backends, isolation, fingerprint.

        Raises:
            FailedPrecondition: The client is closed, or was made before a fork.
        """
        hello = self._connection.hello()
        if hello is None:
            raise FailedPrecondition(
                "the client is closed, or was made before fork(); connect again",
                error_class="protocol",
            )
        return hello

    @Verb
    def call(
        self, verb: str, body: Mapping[str, Any], *, timeout: float | None = None
    ) -> Request[dict[str, Any]]:
        """Sends any verb and waits for the body of its answer.

        Args:
            verb: The protocol's name for it.
            body: A map that MessagePack can hold.
            timeout: Seconds; None for the client's timeout.
        """
        return Request(verb, dict(body), _as_it_is, timeout)

    @Verb
    def describe(
        self, task: str | None = None, *, split: str | None = None, environment: str | None = None
    ) -> Request[dict[str, Any]]:
        """Describes one task, or an environment (by default the server's) and its tasks.

        Raises:
            NotFound: There is no such task, or it is held back.
        """
        body = without_none({"task": task, "split": split, "environment": environment})
        return Request("describe", body, _as_it_is)

    @Verb
    def prompt(
        self, task: str, *, options: Mapping[str, Any] | None = None
    ) -> Request[list[dict[str, str]]]:
        """Returns the messages that a reset with these options would give, without a reset.

        Raises:
            NotFound: There is no such task.
            InvalidArgument: An option is unknown or out of range.
        """
        body = {"task": task, "options": dict(options or {})}
        return Request("describe", body, lambda answer: list(answer.get("messages") or []))

    @Verb
    def tasks(self, *, split: str | None = None) -> Request[list[Task]]:
        """Lists the tasks that this server serves."""
        return Request("describe", without_none({"split": split}), decode_tasks)

    @Verb
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
    ) -> Request[Reset[EpisodeT]]:
        """Starts an episode.

        Args:
            task: ``"dataset/id"`` or ``"id"``; None draws a task with the seed.
            split: The split to draw from.
            seed: Makes the draw repeatable.
            group: Samples of one task that share a device model and one baseline.
            environment: None for the server's default.
            options: For example ``{"max_turns": 4, "reward": "kevin"}``; ``describe`` lists them.
            timeout: Seconds; None for the client's timeout.

        Raises:
            NotFound: There is no such task.
            InvalidArgument: An option is unknown or out of range.
            Busy: The server's limit of open episodes is reached.
        """
        body = without_none(
            {"environment": environment, "task": task, "split": split, "seed": seed, "group": group}
        )
        if options:
            body["options"] = dict(options)

        def read(answer: dict[str, Any]) -> Reset[EpisodeT]:
            return _start(self._episode(str(answer["episode"]), str(answer["token"])), answer)

        return Request("reset", body, read, timeout)

    @Verb
    def step(
        self,
        episode: EpisodeState,
        code: str | None = None,
        *,
        response: str | None = None,
        language: str | None = None,
        action: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        on_progress: Progress | None = None,
    ) -> Request[StepResult]:
        """Submits a kernel and waits for its verdict.

        Give exactly one of ``code``, ``response`` and ``action``. With asyncio, cancelling the task
        that waits ends the evaluation; the turn stays open.

        Args:
            episode: From ``reset``, ``branch`` or ``resume``.
            code: Source of the kernel.
            response: A whole model response; the server extracts the code.
            language: Language of ``code``; None for the task's own.
            action: For an environment with other actions: ``{"index": 7}`` in ``autotune``.
            timeout: Seconds, after which the server ends the evaluation; None for the client's
                timeout.
            on_progress: Called in the thread that waits with ``{"stage": ...}`` at each new stage.

        Raises:
            TypeError: Not exactly one of code, response and action was given, or ``language`` was
                given with ``action``.
            FailedPrecondition: The episode ended, or belongs to another connection.
            DeadlineExceeded: There was no answer in time; the same step may be sent again.
            Unavailable: The episode was lost with its server.
        """
        given = without_none({"code": code, "response": response, "action": action})
        if len(given) != 1:
            found = ", ".join(given) or "none of them"
            raise TypeError(f"step: found {found}, expected one of code, response= and action=")
        if action is not None and language is not None:
            raise TypeError("step: language= goes with code; set action['language'] instead")
        if action is None:
            action = without_none({**given, "language": language})

        def read(answer: dict[str, Any]) -> StepResult:
            result = decode_step(answer)
            episode.turn = result.turn
            episode.ended = result.ended
            episode.calls = 0
            return result

        body = {"episode": episode.id, "turn": episode.turn + 1, "action": dict(action)}
        return Request("step", body, read, timeout, on_progress)

    @Verb
    def tool(
        self,
        episode: EpisodeState,
        name: str,
        code: str | None = None,
        *,
        response: str | None = None,
        language: str | None = None,
        timeout: float | None = None,
        on_progress: Progress | None = None,
    ) -> Request[ToolResult]:
        """Examines a kernel without ending the turn. The episode's option ``tools`` allows it.

        Args:
            episode: From ``reset``, ``branch`` or ``resume``.
            name: ``check``, ``profile``, ``sanitize``, ``disassemble``, ``compile`` or
                ``hardware``.
            code: Source of the kernel; ``hardware`` needs none.
            response: A whole model response; the server extracts the code.
            language: Language of ``code``; None for the task's own.
            timeout: Time limit of the call (s); None for the client's timeout.
            on_progress: As in ``step``.

        Raises:
            FailedPrecondition: The episode does not have the tool, its uses are spent, or the
                episode ended.
            InvalidArgument: There is no such tool, or the code is empty or not text.
            DeadlineExceeded: There was no answer in time. The call counts as used if its
                evaluation had begun.
            Unavailable: A fault of the machine. The call was not counted; send it again.
        """
        action = without_none(
            {"tool": name, "code": code, "response": response, "language": language}
        )

        def read(answer: dict[str, Any]) -> ToolResult:
            result = decode_tool(answer)
            episode.calls = result.call
            return result

        body = {
            "episode": episode.id,
            "turn": episode.turn + 1,
            "call": episode.calls + 1,
            "action": action,
        }
        return Request("step", body, read, timeout, on_progress)

    @Verb
    def cancel(self, episode: EpisodeState, turn: int | None = None) -> Request[bool]:
        """Ends the evaluation of a turn, by default the next, through the control endpoint.

        Returns:
            Whether a step was cancelled. It then raises ``Cancelled``, and the turn stays open.
            False also if eight steps of the episode already ended during their evaluation, by a
            cancellation or a deadline.
        """
        turn = episode.turn + 1 if turn is None else turn
        body = {"episode": episode.id, "turn": turn}
        return Request("cancel", body, lambda answer: bool(answer.get("cancelled")))

    @Verb
    def resume(self, episode_id: str, token: str) -> Request[Reset[EpisodeT]]:
        """Takes over an episode of another connection or process.

        Raises:
            NotFound: There is no such episode, or the token is wrong.
        """

        def read(answer: dict[str, Any]) -> Reset[EpisodeT]:
            turn, ended = int(answer.get("turn", 0)), bool(answer.get("ended", False))
            calls = int(answer.get("calls", 0))
            return _start(self._episode(episode_id, token, turn, ended, calls), answer)

        return Request("resume", {"episode": episode_id, "token": token}, read)

    @Verb
    def branch(
        self, episode: EpisodeState, turn: int | None = None, *, group: str | None = None
    ) -> Request[Reset[EpisodeT]]:
        """Starts an episode that shares another's first turns: several answers to one state.

        Args:
            episode: The episode to branch from; it stays as it is.
            turn: Number of its turns to share; None for all that it has done.
            group: None for the episode's own.

        Raises:
            FailedPrecondition: It has not done that many turns, or ended with that turn.
            NotFound: It is gone (a server with a journal still has closed episodes).
        """
        at = episode.turn if turn is None else turn
        body = {"episode": episode.id, "token": episode.token, "turn": at, "group": group}

        def read(answer: dict[str, Any]) -> Reset[EpisodeT]:
            return _start(self._episode(str(answer["episode"]), str(answer["token"]), at), answer)

        return Request("branch", without_none(body), read)

    @Verb
    def close_episode(self, episode: EpisodeState) -> Request[Closed]:
        """Ends an episode early and frees its place on the server."""

        def read(answer: dict[str, Any]) -> Closed:
            episode.ended = True
            return decode_closed(answer)

        return Request("close", {"episode": episode.id}, read)

    @Verb
    def ping(self) -> Request[dict[str, Any]]:
        """Asks for a sign of life: ``incarnation`` and ``time``. Leases are renewed without it."""
        return Request("ping", {}, _as_it_is)

    @Verb
    def health(self) -> Request[dict[str, Any]]:
        """Asks the control endpoint for the server's state.

        Returns:
            ``status``: ``"serving"``, ``"draining"``, or ``"failing"`` while steps cannot be done;
            ``problems``: the reasons, such as a full disk, and single devices that do not work
            while others do; ``incarnation``; ``uptime_s``; and, over all clients, the numbers of
            ``steps`` being evaluated, of ``in_flight`` requests without an answer, of
            ``connections`` to either endpoint and of requests in the ``queue``.
        """
        return Request("health", {}, _as_it_is)


class EpisodeVerbs(EpisodeState, Generic[EpisodeT]):
    """The verbs of one episode: those of its client, for this episode."""

    client: Any

    @property
    def endpoint(self) -> str | None:
        """Address of the episode's server; None if a client of several servers does not know it."""
        connection = self.client._connection
        home_of = getattr(connection, "home", None)  # of a FleetConnection
        home = connection if home_of is None else home_of(self.id)
        return None if home is None else str(home.endpoint)

    @Verb
    def step(
        self,
        code: str | None = None,
        *,
        response: str | None = None,
        language: str | None = None,
        action: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        on_progress: Progress | None = None,
    ) -> Request[StepResult]:
        """Like ``Client.step`` for this episode."""
        return request_of(
            self.client.step,
            self,
            code,
            response=response,
            language=language,
            action=action,
            timeout=timeout,
            on_progress=on_progress,
        )

    @Verb
    def tool(
        self,
        name: str,
        code: str | None = None,
        *,
        response: str | None = None,
        language: str | None = None,
        timeout: float | None = None,
        on_progress: Progress | None = None,
    ) -> Request[ToolResult]:
        """Like ``Client.tool`` for this episode."""
        return request_of(
            self.client.tool,
            self,
            name,
            code,
            response=response,
            language=language,
            timeout=timeout,
            on_progress=on_progress,
        )

    @Verb
    def branch(
        self, turn: int | None = None, *, group: str | None = None
    ) -> Request[Reset[EpisodeT]]:
        """Like ``Client.branch`` for this episode."""
        return request_of(self.client.branch, self, turn, group=group)

    @Verb
    def close(self) -> Request[Closed]:
        """Like ``Client.close_episode`` for this episode."""
        return request_of(self.client.close_episode, self)


def metrics(format: MetricsFormat) -> Request[Any]:
    """Asks for the server's metrics; each client declares the type that each format gives."""
    key = "text" if format == "prometheus" else "metrics"
    return Request("metrics", {"format": format}, lambda answer: answer.get(key) or {})


def _start(episode: EpisodeT, answer: Mapping[str, Any]) -> Reset[EpisodeT]:
    lease = float(answer.get("lease_s") or 0)
    observation = cast(Observation, answer.get("observation") or {})
    return Reset(episode, observation, cast(ResetInfo, answer.get("info") or {}), lease)


def _as_it_is(answer: dict[str, Any]) -> dict[str, Any]:
    return answer
