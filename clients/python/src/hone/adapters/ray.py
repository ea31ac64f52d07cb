"""For Ray: an actor that owns a client, so that many rollout workers play on one hone.

    from hone.adapters.ray import HoneActor, play

    hone = HoneActor.options(name="hone").remote("tcp://127.0.0.1:5917", {"max_turns": 4})
    episodes = ray.get([worker.remote(hone, task) for task in ray.get(hone.tasks.remote())])

where a worker calls ``play(hone, model, task)``. With the option ``tools`` the model may call the
episode's tools. After a fault of the machine a turn's reward is None and an episode's
``reward_valid`` False. See docs/trainers/ray.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

from hone._requests import DEFAULT_ENDPOINT

from ._calls import as_user, call_of, calls_in, respond_async, with_tools
from ._play import AsyncPlay, Settings, loop_client_of
from ._record import Message
from ._versions import require

require("hone.adapters.ray", "ray", "2.40", "3")

import ray  # noqa: E402 - after the check of its version

__all__ = [
    "CALLS_MAX",
    "HoneActor",
    "play",
]

#: Concurrent calls of the actor. A turn takes one of them while it is judged.
CALLS_MAX = 1000


class _Actor:
    """Plays episodes for workers, which name them by number.

    Args:
        endpoint: ZeroMQ address of ``hone serve``, or a list of them.
        options: Options of every episode, such as ``{"max_turns": 4, "reward": "kevin"}``.
        idle_s: Idle time after which an episode is closed (s); its worker may have died.
        settings: Further members of ``Settings``.
    """

    def __init__(
        self,
        endpoint: str | Sequence[str] = DEFAULT_ENDPOINT,
        options: Mapping[str, Any] | None = None,
        *,
        idle_s: float = 1800.0,
        **settings: Any,  # noqa: ANN401 - Settings checks them
    ) -> None:
        given = {"endpoint": endpoint, "options": dict(options or {}), **settings}
        self._settings = Settings.of(given)
        self._idle_s = idle_s
        self._numbers = count(1)
        self._plays: dict[int, tuple[AsyncPlay, float]] = {}

    async def tasks(self, split: str | None = None) -> list[str]:
        """The ids of the server's tasks."""
        client = await loop_client_of(self._settings)
        return [task.id for task in await client.tasks(split=split or self._settings.split)]

    async def start(
        self, task: str | None = None, *, seed: int | None = None, group: str | None = None
    ) -> dict[str, Any]:
        """Starts an episode; without a task one is drawn.

        Returns:
            Like ``step``, with the prompt as ``messages`` and no reward. ``tools`` has the
            episode's tools as OpenAI's function tools; it is empty without the option ``tools``.

        Raises:
            hone.HoneError: The request is wrong, or no server answers the actor's first call.
        """
        await self._end_idle()
        play, number = AsyncPlay(self._settings), next(self._numbers)
        messages = await play.start(task, seed=seed, group=group)
        self._plays[number] = (play, time.monotonic())
        return {**_turn(number, play, messages), "tools": play.tools.functions}

    async def again(self, episode: int) -> dict[str, Any]:
        """Begins an episode whose turn has ``may_retry`` again, on another server if there is one.

        Returns:
            Like ``start``, with the same number.

        Raises:
            KeyError: As ``step``.
        """
        play = self._play(episode)
        messages = await play.again()
        self._used(episode)
        return {**_turn(episode, play, messages), "tools": play.tools.functions}

    async def step(
        self, episode: int, response: str | None = None, *, code: str | None = None
    ) -> dict[str, Any]:
        """Submits a model's whole answer, or a kernel's source.

        Returns:
            ``episode``, ``messages`` (the environment's new ones), ``reward`` (None without a
            score), ``reward_valid``, ``return_to_date``, ``ended``, ``fault``, ``may_retry`` (the
            server was lost, and ``again`` may begin the episode), ``turns_left``, ``tools_left``.

        Raises:
            KeyError: There is no such episode, or it was idle for too long.
        """
        play = self._play(episode)
        turns = play.record.turns
        messages = await play.step(code, response=response)
        self._used(episode)
        return _turn(episode, play, messages, has_turn=play.record.turns > turns)

    async def call(
        self, episode: int, name: str, arguments: str | Mapping[str, Any]
    ) -> dict[str, Any]:
        """Calls a tool of hone for the model. The turn stays open.

        Args:
            episode: Its number.
            name: The tool's name, as the model wrote it.
            arguments: An object, or its JSON.

        Returns:
            Like ``step``, with the answer as a message of the role ``tool``, and no reward. The
            answer to a mistaken call begins with ``error: ``. After a fault there is none.

        Raises:
            KeyError: As ``step``.
        """
        play = self._play(episode)
        answer = await play.call(name, arguments)
        self._used(episode)
        tool = {"role": "tool", "name": call_of(name, None).name, "content": answer}
        return _turn(episode, play, [] if play.record.ended else [tool])

    async def respond(self, episode: int, answer: str) -> dict[str, Any]:
        """Makes the tool calls in a model's whole answer, or submits it: a step of ``play``.

        Args:
            episode: Its number.
            answer: Calls are JSON between ``<tool_call>`` tags.

        Returns:
            Like ``step``. The answers of tools are one message of the user.

        Raises:
            KeyError: As ``step``.
        """
        play = self._play(episode)
        turns = play.record.turns
        calls = calls_in(answer) if play.tools.functions else []
        messages = await respond_async(play, answer, calls)
        self._used(episode)
        return _turn(episode, play, as_user(messages), has_turn=play.record.turns > turns)

    async def finish(self, episode: int) -> dict[str, Any]:
        """Closes an episode if it is open.

        Returns:
            Its record: ``score`` (None after a fault), ``reward_valid``, ``turn_rewards``,
            ``returns``, ``outcomes``, ``best_speedup``, ``fault``, ``messages``, …
        """
        play = self._play(episode)
        del self._plays[episode]
        record = await play.finish()
        return {**record.details(), "score": record.score, "messages": record.messages}

    async def open(self) -> int:
        """The number of open episodes."""
        return len(self._plays)

    def _play(self, episode: int) -> AsyncPlay:
        if episode not in self._plays:
            raise KeyError(f"found no episode {episode}: it is finished, or was idle for too long")
        return self._plays[episode][0]

    def _used(self, episode: int) -> None:
        """Notes that the episode is in use, unless it was finished meanwhile."""
        if episode in self._plays:
            self._plays[episode] = (self._plays[episode][0], time.monotonic())

    async def _end_idle(self) -> None:
        """Closes episodes that were idle for too long."""
        latest = time.monotonic() - self._idle_s
        idle = [number for number, (_, at) in self._plays.items() if at < latest]
        for number in idle:
            play, _ = self._plays.pop(number)
            await play.finish()


def _turn(
    number: int, play: AsyncPlay, messages: list[Message], *, has_turn: bool = False
) -> dict[str, Any]:
    """The reply to a request. ``has_turn``: the request has completed a turn."""
    record = play.record
    return {
        "episode": number,
        "messages": messages,
        "reward": record.rewards[-1] if has_turn else None,
        "reward_valid": record.fault is None,
        "return_to_date": record.return_to_date,
        "ended": record.ended,
        "fault": record.fault or "",
        "may_retry": play.may_retry,
        "turns_left": record.turns_left,
        "tools_left": dict(play.tools.left),
    }


#: ``HoneActor.remote(endpoint, options)``: one for a cluster, or one for each node.
HoneActor = ray.remote(num_cpus=0, max_concurrency=CALLS_MAX)(_Actor)


def play(
    hone: Any,  # noqa: ANN401 - an actor's handle
    model: Callable[[list[Message]], str],
    task: str | None = None,
    *,
    seed: int | None = None,
    group: str | None = None,
) -> dict[str, Any]:
    """Plays an episode from a worker, and waits for each verdict.

    Args:
        hone: The actor. With its option ``tools``, the prompt describes the tools.
        model: Returns an answer to a conversation. An answer with tool calls (JSON between
            ``<tool_call>`` tags) is not submitted.
        task: None draws a task.
        seed: Makes the draw repeatable.
        group: Samples that are compared with each other.

    Returns:
        Like the actor's ``finish``.
    """
    turn = ray.get(hone.start.remote(task, seed=seed, group=group))
    try:
        while True:
            messages = list(with_tools(turn["messages"], turn["tools"]))
            while not turn["ended"]:
                answer = model(messages)
                turn = ray.get(hone.respond.remote(turn["episode"], answer))
                messages += [{"role": "assistant", "content": answer}, *turn["messages"]]
            if not turn["may_retry"]:
                break
            turn = ray.get(hone.again.remote(turn["episode"]))
    finally:
        came = ray.get(hone.finish.remote(turn["episode"]))
    return dict(came)
