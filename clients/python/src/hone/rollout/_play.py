"""Plays an attempt on the server: what was answered is judged, what was judged is answered."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from hone import aio
from hone._functions import call_arguments, expect_use_left, refusal
from hone.errors import FailedPrecondition, HoneError, InvalidArgument, NotFound, Unavailable
from hone.types import StepResult

from ._attempt import Attempt, name_of
from ._ledger import Event
from ._model import Model
from ._settings import Settings

# The errors of resume for a lost episode: its lease ran out, or its server stopped.
_LOST = (NotFound, FailedPrecondition, InvalidArgument, Unavailable)


class Player:
    """Plays attempts, any number at once, each for itself.

    Args:
        settings: Of the rollout.
        client: Of the server.
        model: Who answers.
        record: Writes an event to the ledger and has its attempt take it in.
    """

    def __init__(
        self,
        settings: Settings,
        client: aio.Client,
        model: Model,
        record: Callable[[Attempt, Event], None],
    ) -> None:
        self._settings = settings
        self._client = client
        self._model = model
        self._record = record

    async def play(self, attempt: Attempt) -> None:
        """Goes on from where the attempt is until it is over.

        Raises:
            ModelError: The model does not answer. What it answered is recorded.
            HoneError: The server does not judge, or cannot be reached.
        """
        if attempt.reason is not None:
            return
        episode = await self._open(attempt)
        while attempt.reason is None:
            if attempt.unfinished_use is not None:
                await self._call(attempt, episode)
            elif attempt.unjudged is None:
                await self._ask(attempt)
            else:
                await self._judge(attempt, episode)
        if not episode.ended:  # what is left in the middle is left open, to be gone on with
            await _close(episode)

    async def _ask(self, attempt: Attempt) -> None:
        turn = attempt.judged + 1
        request_id = f"{attempt.key}/{attempt.number}/{turn}"
        uses = sum(use.turn == turn for use in attempt.uses)
        may_call = attempt.may_call()
        answer = await self._model.ask(
            attempt.messages,
            f"{request_id}.{uses}" if uses else request_id,
            attempt.tools,
            may_call=may_call,
        )
        if not may_call:  # not every endpoint heeds tool_choice
            answer = replace(answer, tool_calls=())
        event = {"event": "answer", **name_of(attempt), "at": time.time()}
        self._record(attempt, {**event, "answer": answer.plain()})

    async def _call(self, attempt: Attempt, episode: aio.Episode) -> None:
        """Does the next tool call of the last answer. A mistake of the model is its result."""
        use = attempt.unfinished_use
        call = None if use is None else use.next_call
        assert call is not None
        name = call["function"]["name"]
        result: dict[str, Any] = {"id": call["id"], "tool": name, "call": None, "facts": None}
        try:
            arguments = call_arguments(call["function"]["arguments"])
            expect_use_left(name, attempt.tools_left())
            found = await episode.tool(name, **arguments, timeout=self._settings.step_timeout)
        except (ValueError, FailedPrecondition) as error:
            result["content"] = refusal(error)
        else:
            result |= {"content": found.text, "call": found.call, "facts": found.facts}
        self._record(attempt, {"event": "called", **name_of(attempt), "result": result})

    async def _judge(self, attempt: Attempt, episode: aio.Episode) -> None:
        answered = attempt.unjudged
        assert answered is not None
        said = answered.answer["text"]
        result = await episode.step(response=said, timeout=self._settings.step_timeout)
        event = {"event": "judged", **name_of(attempt), "result": _plain(result)}
        self._record(attempt, event)

    async def _open(self, attempt: Attempt) -> aio.Episode:
        """The attempt's episode: new, resumed, or rebuilt with the recorded answers."""
        if not attempt.start:
            return await self._start(attempt)
        try:
            found = await self._client.resume(attempt.start["episode"], attempt.start["token"])
        except _LOST:
            return await self._again(attempt)
        episode = found.episode
        if episode.turn not in (attempt.judged, attempt.judged + 1):
            return await self._again(attempt)
        calls = attempt.open_calls
        if episode.turn == attempt.judged and episode.calls not in (calls, calls + 1):
            return await self._again(attempt)
        # The server repeats an unrecorded verdict or tool result if it gets the same answer again.
        episode.turn, episode.ended, episode.calls = attempt.judged, False, calls
        return episode

    async def _start(self, attempt: Attempt) -> aio.Episode:
        options = self._settings.episode_options()
        group = f"rollout-{attempt.task}"
        start = await self._client.reset(attempt.task, group=group, options=options)
        event: Event = {"event": "start", **name_of(attempt), "at": time.time()}
        event |= {"episode": start.episode.id, "token": start.episode.token, "info": start.info}
        event |= {"task": start.observation.get("task") or {}}
        event |= {"messages": list(start.observation.get("messages") or [])}
        seen: Mapping[str, Any] = start.observation
        event |= {name: seen[name] for name in ("tools", "tools_left") if name in seen}
        self._record(attempt, event)
        return start.episode

    async def _again(self, attempt: Attempt) -> aio.Episode:
        """Judges the recorded answers once more, for the server forgot them.

        The records stay as they are, and with them the conversation. Tool calls are not repeated,
        for their results are recorded; what they used is counted here.
        """
        options = self._settings.episode_options(rebuilt=True)
        group, seed = f"rollout-{attempt.task}", attempt.start["info"].get("seed")
        start = await self._client.reset(attempt.task, seed=seed, group=group, options=options)
        for turn in attempt.turns[: attempt.judged]:
            await start.episode.step(
                response=turn.answer["text"], timeout=self._settings.step_timeout
            )
        return start.episode


def _plain(result: StepResult) -> dict[str, Any]:
    """The members of a verdict that are kept."""
    return {
        "turn": result.turn,
        "messages": list(result.observation.get("messages") or []),
        "feedback": str(result.observation.get("feedback") or ""),
        "code": str(result.observation.get("code") or ""),
        "reward": result.reward,
        "reward_valid": result.reward_valid,
        "return_to_date": result.return_to_date,
        "returns": result.returns,
        "terminated": result.terminated,
        "truncated": result.truncated,
        "info": result.info,
    }


async def _close(episode: aio.Episode) -> None:
    """Frees its place; where that fails its lease runs out."""
    try:
        await episode.close()
    except HoneError:
        return
