"""Many episodes over one connection: reset all, step all, or take results as they come.

All requests are pending at the same time. An episode that fails does not delay the others.

    with hone.connect() as client:
        episodes = hone.vector.Episodes(client, 8)
        starts = episodes.reset("add_relu", group="g1")
        for done in episodes.as_completed([policy(s.observation) for s in starts]):
            print(done.index, done.result or done.error)
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import _core
from ._requests import Request, T, send, unwrap
from ._verbs import request_of
from .client import Client, Episode
from .errors import FailedPrecondition, HoneError
from .types import Reset, StepResult

__all__ = [
    "Action",
    "Completion",
    "Episodes",
]

Action = str | Mapping[str, Any]


@dataclass(frozen=True)
class Completion:
    """One episode's step: its result or its error.

    Attributes:
        index: The episode's place, from 0.
        result: None if the step failed.
        error: None if the step succeeded. After an error the episode's turn stays open.
    """

    index: int
    result: StepResult | None
    error: HoneError | None


def step_request(
    episode: Episode, action: Action, responses: bool, timeout: float | None = None
) -> Request[StepResult]:
    """A step with an action of either kind."""
    if not isinstance(action, str):
        return request_of(episode.step, action=action, timeout=timeout)
    if responses:
        return request_of(episode.step, response=action, timeout=timeout)
    return request_of(episode.step, action, timeout=timeout)


def give_up(client: Client, verb: str, ticket: _core.Ticket) -> None:
    """Cancels a request whose answer will not be read, and closes the episode that it started."""
    ticket.cancel()
    if verb == "reset":
        body, _ = ticket.result()  # does not block: the request was cancelled
        if body is not None:
            with contextlib.suppress(HoneError):  # the client is closed, and its episodes with it
                client.submit("close", {"episode": body["episode"]})


class Episodes:
    """A fixed number of episodes, each in its place. Used by one thread at a time."""

    def __init__(self, client: Client, count: int) -> None:
        if count < 1:
            raise ValueError(f"count: found {count}, expected at least 1")
        self._client = client
        self._count = count
        self._episodes: list[Episode] = []

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Episode:
        return self._episodes[index]

    def reset(
        self,
        task: str | Sequence[str | None] | None = None,
        *,
        split: str | None = None,
        seed: int | Sequence[int] | None = None,
        group: str | None = None,
        environment: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> list[Reset[Episode]]:
        """Starts an episode in every place.

        Args:
            task: One task for all places, or one per place.
            split: The split to draw from, for places without a task.
            seed: One seed per place; or one number: place i then has ``seed + i``.
            group: As in ``Client.reset``.
            environment: As in ``Client.reset``.
            options: As in ``Client.reset``.

        Returns:
            One start per place, in their order.

        Raises:
            HoneError: The first error, raised after all answers have come. Episodes that did start
                are closed.
        """
        tasks = [task] * self._count if task is None or isinstance(task, str) else list(task)
        if seed is None or isinstance(seed, int):
            seeds = [None if seed is None else seed + i for i in range(self._count)]
        else:
            seeds = list(seed)
        if len(tasks) != self._count or len(seeds) != self._count:
            raise ValueError(
                f"found {len(tasks)} tasks and {len(seeds)} seeds, expected {self._count} of each"
            )
        requests = [
            request_of(
                self._client.reset,
                t,
                split=split,
                seed=s,
                group=group,
                environment=environment,
                options=options,
            )
            for t, s in zip(tasks, seeds, strict=True)
        ]
        starts: dict[int, Reset[Episode]] = {}
        error: HoneError | None = None
        for index, ticket in self._answers(dict(enumerate(requests))):
            try:
                starts[index] = requests[index].read(unwrap(ticket.result()))
            except HoneError as failed:
                error = error or failed
        if error is not None:
            for start in starts.values():
                self._client.close_episode(start.episode)
            raise error
        ordered = [starts[i] for i in range(self._count)]
        self._episodes = [start.episode for start in ordered]
        return ordered

    def as_completed(
        self,
        actions: Sequence[Action | None],
        *,
        responses: bool = False,
        timeout: float | None = None,
    ) -> Iterator[Completion]:
        """Steps every episode that has an action, and yields each result when it arrives.

        Args:
            actions: One per place: text, or a map for an environment with other actions; None for
                no step.
            responses: Whether text is a whole model response instead of source.
            timeout: Seconds per step; None for the client's timeout.

        Raises:
            FailedPrecondition: ``reset`` was not called.
            ValueError: The number of actions is not the number of places.
        """
        if not self._episodes:
            raise FailedPrecondition("reset comes before step", error_class="protocol")
        if len(actions) != self._count:
            raise ValueError(f"found {len(actions)} actions, expected {self._count}")
        requests = {
            i: step_request(self._episodes[i], a, responses, timeout)
            for i, a in enumerate(actions)
            if a is not None
        }
        for index, ticket in self._answers(requests):
            try:
                result = requests[index].read(unwrap(ticket.result()))
            except HoneError as error:
                yield Completion(index, None, error)
            else:
                yield Completion(index, result, None)

    def step(
        self,
        actions: Sequence[Action | None],
        *,
        responses: bool = False,
        timeout: float | None = None,
    ) -> list[StepResult | None]:
        """Steps every episode that has an action and waits for all.

        Returns:
            One per place; None where there was no action.

        Raises:
            HoneError: The first error, raised after all answers have come. ``as_completed`` also
                yields the results of the others.
        """
        results: list[StepResult | None] = [None] * self._count
        error: HoneError | None = None
        for done in self.as_completed(actions, responses=responses, timeout=timeout):
            results[done.index] = done.result
            error = error or done.error
        if error is not None:
            raise error
        return results

    def close(self) -> None:
        """Closes the episodes that are still open."""
        for episode in self._episodes:
            if not episode.ended:
                episode.close()

    def _answers(self, requests: Mapping[int, Request[T]]) -> Iterator[tuple[int, _core.Ticket]]:
        """Sends every request and yields tickets in the order in which their answers come."""
        completions = _core.Completions()
        tickets: dict[int, _core.Ticket] = {}
        try:
            for index, request in requests.items():
                tickets[index] = send(self._client._connection, request, completions, index)
            while tickets:
                completions.wait(-1.0)
                for index in completions.drain():
                    # A tag comes again if the request went to another server (hone.fleet).
                    if index in tickets and tickets[index].done():
                        yield index, tickets.pop(index)
        finally:
            # Sending failed, or the caller stopped early: these answers will not be read.
            for index, ticket in tickets.items():
                give_up(self._client, requests[index].verb, ticket)
