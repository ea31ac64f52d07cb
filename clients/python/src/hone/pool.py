"""Many episodes with EnvPool's interface: send actions, receive the results that are ready first.

    import hone
    from hone.pool import Pool

    with hone.connect("tcp://127.0.0.1:5917") as client:
        pool = Pool(client, 8, batch_size=2, task="add_relu", seed=1)
        pool.async_reset()
        for _ in range(8):
            observations, rewards, terminated, truncated, info = pool.recv()
            pool.send([policy(seen) for seen in observations], info["env_id"])
        pool.close()

An environment whose episode has ended starts another one with the next action, and ignores that
action: ``recv`` then returns the new episode's first observation.
"""

from __future__ import annotations

import contextlib
import random
import weakref
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple

from . import _core
from ._requests import Request, send, unwrap
from ._verbs import request_of
from .client import Client, Episode
from .errors import FailedPrecondition, HoneError, InvalidArgument
from .types import Observation, Reset, StepResult
from .vector import Action, give_up, step_request

__all__ = [
    "Batch",
    "Pool",
]

Answer = Reset[Episode] | StepResult | HoneError


class Batch(NamedTuple):
    """The answers of ``batch_size`` environments, in the order of their arrival.

    Attributes:
        observations: As the server sends them (docs/protocol.md, OBS).
        rewards: 0.0 for a reset, and where ``info["reward_valid"]`` is False.
        terminated: Whether an episode reached its end.
        truncated: Whether one ran out of turns or seconds, or was lost.
        info: A list for each of: ``env_id``; ``elapsed_step``, turns done, 0 after a reset;
            ``reward_valid``, False for turns that must not be trained on; ``error``, a
            ``HoneError`` or None; ``result``, the ``StepResult``, or None for a reset and an error.
    """

    observations: list[Observation]
    rewards: list[float]
    terminated: list[bool]
    truncated: list[bool]
    info: dict[str, list[Any]]


def leave(client: Client, episodes: Sequence[Episode | None]) -> None:
    """Closes episodes of a garbage-collected pool. Waits at most 1 s for each answer."""
    open_ones = [one for one in episodes if one is not None and not one.ended]
    with contextlib.suppress(HoneError):  # the client is closed, and its episodes with it
        tickets = [client.submit("close", {"episode": one.id}) for one in open_ones]
        all(ticket.wait(1.0) for ticket in tickets)


class Places:
    """Episodes in numbered places, each with at most one request under way.

    ``Pool`` and the vector environments use it. Used by one thread at a time.
    """

    def __init__(self, client: Client, count: int) -> None:
        if count < 1:
            raise ValueError(f"num_envs: found {count}, expected at least 1")
        self.client = client
        self.episodes: list[Episode | None] = [None] * count
        self._completions = _core.Completions()
        self._waiting: dict[int, tuple[_core.Ticket, Request[Any]]] = {}
        self._arrived: deque[int] = deque()
        weakref.finalize(self, leave, client, self.episodes).atexit = False

    @property
    def under_way(self) -> int:
        """The number of places with a pending request."""
        return len(self._waiting)

    def reset(self, place: int, task: str | None = None, **given: Any) -> None:  # noqa: ANN401
        """Sends a reset; an episode that is still open there is closed."""
        self.drop(place)
        self._submit(place, request_of(self.client.reset, task, **given))

    def step(
        self, place: int, action: Action, *, responses: bool, timeout: float | None = None
    ) -> None:
        """Sends a step of the episode in this place."""
        episode = self.episodes[place]
        if episode is None:
            raise FailedPrecondition(f"place {place}: reset comes before step")
        self._submit(place, step_request(episode, action, responses, timeout))

    def answers(self, count: int) -> Iterator[tuple[int, Answer]]:
        """Yields ``count`` places with their answers, in the order of arrival."""
        if count > len(self._waiting):
            raise FailedPrecondition(
                f"found {len(self._waiting)} pending requests, expected at least {count}; "
                "send actions first"
            )
        for _ in range(count):
            place = self._next()
            ticket, request = self._waiting.pop(place)
            try:
                answer = request.read(unwrap(ticket.result()))
            except HoneError as error:
                yield place, error
                continue
            if isinstance(answer, Reset):
                self.episodes[place] = answer.episode
            yield place, answer

    def _next(self) -> int:
        """Waits for an answer and returns its place."""
        while True:
            while not self._arrived:
                self._completions.wait(-1.0)
                self._arrived.extend(self._completions.drain())
            place = self._arrived.popleft()
            # Otherwise a signal interrupted the sending, or the request went to another server.
            if place in self._waiting and self._waiting[place][0].done():
                return place

    def drop(self, place: int) -> None:
        """Closes the episode in this place, where one is open."""
        episode, self.episodes[place] = self.episodes[place], None
        if episode is not None and not episode.ended:
            with contextlib.suppress(HoneError):  # it was lost with its server
                self.client.close_episode(episode)

    def give_up(self) -> None:
        """Cancels all requests; turns stay open, and episodes of unfinished resets are closed."""
        for ticket, request in self._waiting.values():
            give_up(self.client, request.verb, ticket)
        self._waiting.clear()
        self._arrived.clear()
        self._completions = _core.Completions()

    def close(self) -> None:
        """Cancels all requests and closes every episode, also those of pending resets."""
        for place, (ticket, request) in list(self._waiting.items()):
            if request.verb == "reset":
                with contextlib.suppress(HoneError):  # the reset failed: there is no episode
                    ticket.wait()
                    self.episodes[place] = request.read(unwrap(ticket.result())).episode
                del self._waiting[place]
        self.give_up()
        for place in range(len(self.episodes)):
            self.drop(place)

    def _submit(self, place: int, request: Request[Any]) -> None:
        if place in self._waiting:
            raise FailedPrecondition(
                f"env_id {place}: its last request is still pending; call recv first"
            )
        ticket = send(self.client._connection, request, self._completions, place)
        self._waiting[place] = (ticket, request)


class Pool:
    """``num_envs`` episodes. ``recv`` returns the first ``batch_size`` results."""

    def __init__(
        self,
        client: Client,
        num_envs: int,
        batch_size: int | None = None,
        *,
        task: str | None = None,
        split: str | None = None,
        seed: int | None = None,
        group: str | None = None,
        environment: str | None = None,
        options: Mapping[str, Any] | None = None,
        responses: bool = False,
        timeout: float | None = None,
    ) -> None:
        """Prepares the pool. ``async_reset`` sends the first requests.

        Args:
            client: A connection.
            num_envs: Number of concurrent episodes.
            batch_size: Number of results of each ``recv``; None for ``num_envs``.
            task: As in ``Client.reset``, as are ``split``, ``group``, ``environment``, ``options``.
            split: Where to draw from, without a task.
            seed: Environment i draws the seeds of its episodes from ``seed + i``.
            group: Samples of one task that share a device model and one baseline.
            environment: None for the server's default.
            options: Options of every episode, as in ``Client.reset``.
            responses: Whether text is a whole model response instead of source.
            timeout: Seconds a step may take, instead of the client's.

        Raises:
            ValueError: ``batch_size`` is not from 1 to ``num_envs``.
        """
        self._places = Places(client, num_envs)
        self.num_envs = num_envs
        self.batch_size = num_envs if batch_size is None else batch_size
        if not 1 <= self.batch_size <= num_envs:
            raise ValueError(f"batch_size: found {batch_size}, expected 1 to {num_envs}")
        self._task, self._responses, self._timeout = task, responses, timeout
        self._given = {
            "split": split,
            "group": group,
            "environment": environment,
            "options": options,
        }
        self._seeds = [random.Random(None if seed is None else seed + i) for i in range(num_envs)]
        self._last: list[int] = []
        self._held: list[tuple[int, Answer]] = []  # received from the server, not yet returned

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def async_reset(self) -> None:
        """Starts an episode in every place. ``recv`` returns their first observations."""
        self.close()
        for place in range(self.num_envs):
            self._reset(place)

    def send(self, actions: Sequence[Action], env_id: Sequence[int] | None = None) -> None:
        """Sends an action to each of these environments without waiting.

        Args:
            actions: One per environment: text, or a map for an environment that takes others.
            env_id: Their environments; None for those of the last ``recv``, in its order.

        Raises:
            ValueError: The numbers of actions and environments differ, or an id is out of range.
            FailedPrecondition: One of them has a pending action.
        """
        env_id = self._last if env_id is None else [int(place) for place in env_id]
        if len(actions) != len(env_id):
            raise ValueError(
                f"found {len(actions)} actions, expected {len(env_id)}: one per env_id"
            )
        for place, action in zip(env_id, actions, strict=True):
            if not 0 <= place < self.num_envs:
                raise ValueError(f"env_id: found {place}, expected 0 to {self.num_envs - 1}")
            if any(place == held for held, _ in self._held):
                raise FailedPrecondition(
                    f"env_id {place}: its last result was not received; call recv first"
                )
            episode = self._places.episodes[place]
            if episode is None or episode.ended:
                self._reset(place)
            else:
                self._places.step(place, action, responses=self._responses, timeout=self._timeout)

    def recv(self) -> Batch:
        """Waits for the first ``batch_size`` results.

        Raises:
            FailedPrecondition: Fewer than ``batch_size`` environments have a pending action.
            InvalidArgument: An action is malformed. Its turn stays open, and the next ``recv``
                returns the other results.
            HoneError: A reset failed. A failed step truncates its episode and has its error in
                ``info``.
        """
        self._held += self._places.answers(self.batch_size - len(self._held))
        for place, answer in self._held:
            failed_reset = self._places.episodes[place] is None
            if isinstance(answer, HoneError) and (
                failed_reset or isinstance(answer, InvalidArgument)
            ):
                self._held.remove((place, answer))
                raise answer
        batch = Batch([], [], [], [], {})
        for place, answer in self._held:
            self._add(batch, place, answer)
        self._held = []
        self._last = list(batch.info["env_id"])
        return batch

    def step(self, actions: Sequence[Action], env_id: Sequence[int] | None = None) -> Batch:
        """``send``, then ``recv``."""
        self.send(actions, env_id)
        return self.recv()

    def reset(self) -> Batch:
        """``async_reset``, then ``recv``."""
        self.async_reset()
        return self.recv()

    def close(self) -> None:
        """Cancels pending requests and closes every episode. May be called twice."""
        self._held = []
        self._places.close()

    def _reset(self, place: int) -> None:
        seed = self._seeds[place].getrandbits(31)
        self._places.reset(place, self._task, seed=seed, **self._given)

    def _add(self, batch: Batch, place: int, answer: Answer) -> None:
        result = answer if isinstance(answer, StepResult) else None
        error = answer if isinstance(answer, HoneError) else None
        if error is not None:
            self._places.drop(place)
        reward = result.reward if result is not None else None
        batch.observations.append(
            Observation() if isinstance(answer, HoneError) else answer.observation
        )
        batch.rewards.append(0.0 if reward is None else float(reward))
        batch.terminated.append(result is not None and result.terminated)
        batch.truncated.append(error is not None or (result is not None and result.truncated))
        row = {
            "env_id": place,
            "elapsed_step": result.turn if result is not None else 0,
            "reward_valid": result is not None and result.reward_valid,
            "error": error,
            "result": result,
        }
        for name, value in row.items():
            batch.info.setdefault(name, []).append(value)
