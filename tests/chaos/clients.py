"""Clients that play the plan's episodes, retry through all faults, and report the replies to the model."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hone
import hone.aio
from model import Episode, Model
from plan import Script, Turn, draw_script

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "envs" / "kernel_refine" / "tasks" / "add_relu" / "golden"
SOURCES = {"wrong": (GOLDEN / "demo_1_wrong.cpp").read_text(), "fast": (GOLDEN / "demo_4_fused.cpp").read_text()}
STUCK_S = 240.0  # no request may take longer, whatever happens to the server meanwhile
HEAVY_AT_ONCE = 3  # steps that build, of all clients


class Pulse:
    """Counts what passes between clients and server, and does something at a chosen count."""

    def __init__(self) -> None:
        self._counts = {"send": 0, "ack": 0}
        self._armed: tuple[str, int, Callable[[], object]] | None = None

    def arm(self, what: str, count: int, act: Callable[[], object]) -> None:
        self._armed = (what, self._counts[what] + count, act)

    def disarm(self) -> None:
        self._armed = None

    def beat(self, what: str) -> None:
        self._counts[what] += 1
        if self._armed is not None and self._armed[0] == what and self._counts[what] >= self._armed[1]:
            act, self._armed = self._armed[2], None
            act()


def action_of(kind: str, nonce: str) -> tuple[dict[str, str], str]:
    """A unique action, and its text."""
    if kind == "none":
        text = f"no kernel: {nonce}"
        return {"response": text}, text
    text = f"#error {nonce}\n" if kind == "error" else f"{SOURCES[kind]}// {nonce}\n"
    return {"code": text}, text


class Player:
    """One client: a connection at a time, episodes one after the other."""

    def __init__(
        self,
        index: int,
        seed: int,
        model: Model,
        pulse: Pulse,
        heavy: asyncio.Semaphore,
        endpoint: str,
        key: Path | None,
    ) -> None:
        self.index, self.seed, self.model, self.pulse, self.heavy = index, seed, model, pulse, heavy
        self.endpoint, self.key = endpoint, key
        self.client: hone.aio.Client | None = None
        self.doing = "connecting"
        self.since = time.monotonic()

    async def play(self, stop: asyncio.Event) -> None:
        """Episodes until told to stop; the one under way is left where it is."""
        await self.connect()
        number = 0
        while not stop.is_set():
            await self.episode(draw_script(self.seed, self.index, number), stop)
            number += 1

    async def connect(self) -> None:
        self.client = await hone.aio.connect(
            self.endpoint,
            timeout=STUCK_S,
            connect_timeout=STUCK_S,
            reconnect_timeout=STUCK_S,
            name=f"chaos-{self.index % 8}",
            key=self.key,
        )

    async def close(self) -> None:
        if self.client is not None:
            await self.client.close()

    async def call(self, verb: str, body: dict[str, Any]) -> dict[str, Any]:
        assert self.client is not None
        asked = asyncio.ensure_future(self.client.call(verb, body, timeout=STUCK_S))
        await asyncio.sleep(0)  # it is with the client's own thread now
        self.model.sends += 1
        self.pulse.beat("send")
        return await asked

    async def ask(self, verb: str, body: dict[str, Any], token: str = "") -> dict[str, Any]:
        """Until it is answered: what may be sent again is sent again, unchanged."""
        started = self.since = time.monotonic()
        self.doing = f"{verb} {body.get('episode', '')} {body.get('turn', '')}"
        while True:
            try:
                answer = await self.call(verb, body)
                self.model.slowest_s = max(self.model.slowest_s, time.monotonic() - started)
                return answer
            except hone.HoneError as error:
                elsewhere = isinstance(error, hone.FailedPrecondition) and "belongs to another connection" in str(error)
                again = error.retryable or error.error_class in ("infra", "capacity", "timeout")
                if "is lost:" in str(error) or not (again or (elsewhere and token)):
                    raise
                if time.monotonic() - started > STUCK_S:
                    raise TimeoutError(f"{self.doing}: no answer within {STUCK_S:.0f} s; at last: {error}") from error
                if elsewhere:
                    await self.ask("resume", {"episode": body["episode"], "token": token})
            await asyncio.sleep(0.05)

    async def episode(self, script: Script, stop: asyncio.Event) -> None:
        episode = await self.open(script)
        for number, turn in enumerate(script.turns, start=1):
            if stop.is_set():
                return
            if turn.think_s > 0:
                await asyncio.sleep(turn.think_s)
            await self.turn(episode, turn, f"{self.seed}-{self.index}-{script.number}-{number}")
            await self.extras(episode, turn)
        if script.fate == "close":
            await self.close_episode(episode)

    async def open(self, script: Script) -> Episode:
        seed = self.index * 1_000_000 + script.number
        options: dict[str, Any] = {"max_turns": script.max_turns}
        if script.seconds_max is not None:
            options["seconds_max"] = script.seconds_max
        if script.reward:
            options["reward"] = script.reward
        body = {"task": script.task, "seed": seed, "key": f"{self.seed}-{seed}", "options": options}
        self.model.resets_unanswered.add(seed)
        answer = await self.ask("reset", body)
        self.model.require(answer["info"]["seed"] == seed, f"reset {seed}: found the seed {answer['info']['seed']}")
        episode = Episode(seed, answer["episode"], answer["token"], script.reward, script.max_turns, self.index)
        self.model.opened(episode)
        return episode

    async def turn(self, episode: Episode, turn: Turn, nonce: str) -> None:
        action, text = action_of(turn.kind, nonce)
        body = {"episode": episode.name, "turn": len(episode.turns) + 1, "action": action}
        episode.sent = text
        if turn.kind == "none":
            answers = await self.step(episode, body, twice="twin" in turn.extras)
        else:
            async with self.heavy:
                answers = await self.step(episode, body, twice="twin" in turn.extras)
        self.model.acknowledge(episode, turn.kind, text, answers[0])
        for other in answers[1:]:
            self.model.repeated(episode, body["turn"], other)
        self.pulse.beat("ack")

    async def step(self, episode: Episode, body: dict[str, Any], twice: bool) -> list[dict[str, Any]]:
        asked = [self.ask("step", body, episode.token) for _ in range(2 if twice else 1)]
        return list(await asyncio.gather(*asked))

    async def extras(self, episode: Episode, turn: Turn) -> None:
        done = len(episode.turns)
        earlier = 1 + done // 2  # one that is done
        if "move" in turn.extras:
            await self.move(episode)
        if "repeat" in turn.extras:
            kind, text = self.kind_and_text(episode, earlier)
            action = {"response": text} if kind == "response" else {"code": text}
            body = {"episode": episode.name, "turn": earlier, "action": action}
            self.model.repeated(episode, earlier, await self.ask("step", body, episode.token))
        if "conflict" in turn.extras:
            body = {"episode": episode.name, "turn": earlier, "action": {"response": "something else"}}
            await self.refused(episode, body, "is done, with another action")
        if "gap" in turn.extras and not episode.ended:
            body = {"episode": episode.name, "turn": done + 3, "action": {"response": "too early"}}
            await self.refused(episode, body, f"found turn {done + 3}, expected {done + 1}")

    @staticmethod
    def kind_and_text(episode: Episode, number: int) -> tuple[str, str]:
        text = episode.turns[number - 1].text
        return ("response" if text.startswith("no kernel: ") else "code"), text

    async def refused(self, episode: Episode, body: dict[str, Any], words: str) -> None:
        try:
            answer = await self.ask("step", body, episode.token)
        except hone.FailedPrecondition as error:
            self.model.conflicts += 1
            self.model.require(words in str(error), f"episode {episode.name}: found '{error}', expected '{words}'")
        else:
            self.model.doubled += 1
            self.model.violate(f"episode {episode.name}, turn {body['turn']}: expected '{words}', found {answer}")

    async def move(self, episode: Episode) -> None:
        """Another connection takes the episode over, as after a client's own end."""
        await self.close()
        await self.connect()
        await self.resume(episode)

    async def resume(self, episode: Episode) -> None:
        state = await self.ask("resume", {"episode": episode.name, "token": episode.token})
        found = (state["turn"], state["ended"], state["pending"])
        expected = (len(episode.turns), episode.ended, False)
        self.model.require(found == expected, f"episode {episode.name}: resumed at {found}, expected {expected}")
        said = [one["content"] for one in state["observation"]["messages"] if one["role"] == "assistant"]
        texts = [turn.text for turn in episode.turns]
        same = len(said) == len(texts) and all(text.strip() in words for text, words in zip(texts, said, strict=True))
        self.model.require(same, f"episode {episode.name}: resumed with the submissions {said}, expected {texts}")

    async def close_episode(self, episode: Episode) -> None:
        episode.closing = True
        try:
            answer = await self.ask("close", {"episode": episode.name}, episode.token)
        except (hone.NotFound, hone.Unavailable) as error:
            # The first of two did it, and its answer was lost. The client then finds nothing to resume.
            self.model.require("no such episode" in str(error), f"episode {episode.name}: close: {error}")
            return
        found = (answer["turns"], len(answer["returns"]))
        self.model.require(found == (len(episode.turns),) * 2, f"episode {episode.name}: closed with {found} turns")
        episode.closed = True

    async def finish(self, episode: Episode) -> None:
        """An episode that was left open goes on, and one that ended repeats its last word."""
        await self.resume(episode)
        if episode.ended:
            kind, text = self.kind_and_text(episode, len(episode.turns))
            body = {"episode": episode.name, "turn": len(episode.turns), "action": {kind: text}}
            answer = await self.ask("step", body, episode.token)
            self.model.repeated(episode, len(episode.turns), answer)
            return
        turn = Turn("none", 0.0, ())
        await self.turn(episode, turn, f"{self.seed}-{self.index}-{episode.seed}-last")
