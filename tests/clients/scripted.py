"""A server of hone/1 that follows a script, with faults on demand, which a real server cannot produce.

It and its tools judge a kernel by words in its source: `crash`, `wrong`, `slow`; `fault` is a fault of the machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import threading
import time
from collections import Counter
from typing import Any

import hone.aio
import msgpack
import pytest
import zmq

JUDGEMENTS = {
    "crash": ("crashed", 0.0),
    "wrong": ("wrong", 0.1),
    "slow": ("correct", 0.4),
    "temporary": ("correct", 0.4),
}

SCHEMAS = {
    name: {
        "name": name,
        "description": f"Does a {name}.",
        "parameters": {
            "type": "object",
            "properties": {"code": {"type": "string", "description": "a whole source file"}} if needs_code else {},
            "required": ["code"] if needs_code else [],
            "additionalProperties": False,
        },
    }
    for name, needs_code in (("check", True), ("hardware", False))
}


class Refused(Exception):
    def __init__(self, code: str, message: str, error_class: str = "protocol", **more: Any):
        super().__init__(message)
        self.body = {
            "code": code,
            "class": error_class,
            "message": message,
            "retryable": code in ("resource_exhausted", "unavailable", "deadline_exceeded"),
            "retry_after_ms": None,
            "reward_valid": False,
            **more,
        }


class ScriptedServer:
    """One thread, two ROUTERs. Script it through the attributes before or while it runs."""

    def __init__(self, port: int | None = None, *, heartbeat_s: float = 0.2, lease_s: float = 60.0):
        self.incarnation = secrets.token_hex(8)
        self.busy_replies = 0  # number of resets and steps that are first refused with BUSY
        self.retry_after_ms = 20
        self.refused_resets: set[int] = set()  # resets that are refused for their options, counted from 1
        self.hold_steps = threading.Event()  # while set, steps are accepted and not answered
        self.late_steps = threading.Event()  # while set, steps do not arrive
        self.holding: set[str] = set()  # "reset", "resume", "close": while in it, they are not answered
        self._unanswered: list[tuple[bytes, int, str, dict[str, Any]]] = []
        self.hold_cancelled = threading.Event()  # while set, a cancelled step still has its turn
        self.shutting_down = threading.Event()  # while set, what is new is refused, as by a server that drains
        self.drain_ms = 0  # time that a refusal names while it shuts down
        self._going_away: list[dict[str, Any]] = []  # announcements to send
        self._connections: set[bytes] = set()
        self.mute = threading.Event()  # while set, nothing is answered at all
        self.problems: list[str] = []  # that health says
        self.versions = ["hone/1"]
        self.limits = {"frame_bytes": 1 << 20, "source_bytes": 1 << 18, "response_bytes": 1 << 19, "in_flight": 64}
        self.seen: Counter[str] = Counter()
        self.renewed: Counter[str] = Counter()
        self.evaluations = 0
        self.refused = 0  # requests beyond limits["in_flight"]
        self.episodes: dict[str, dict[str, Any]] = {}
        self._reset_replies: dict[str, dict[str, Any]] = {}
        self._held: list[tuple[list[bytes], int, dict[str, Any]]] = []
        self._late: list[list[bytes]] = []
        self._cancelled: list[tuple[list[bytes], int, dict[str, Any]]] = []
        self._welcome = {"heartbeat_s": heartbeat_s, "lease_s": lease_s}
        self._context = zmq.Context()
        self._main = self._context.socket(zmq.ROUTER)
        self._control = self._context.socket(zmq.ROUTER)
        for socket in (self._main, self._control):
            socket.linger = 0
        if port is None:
            port = self._main.bind_to_random_port("tcp://127.0.0.1")
        else:
            self._main.bind(f"tcp://127.0.0.1:{port}")
        self.port = port
        self.endpoint = f"tcp://127.0.0.1:{port}"
        self._control_port = self._control.bind_to_random_port("tcp://127.0.0.1")
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        if self._context.closed:
            return
        self._stopping.set()
        self._thread.join()
        self._main.close()
        self._control.close()
        self._context.term()

    def stopped(self) -> bool:
        return self._stopping.is_set()

    def wait_for(self, verb: str, count: int = 1) -> None:
        """Returns once `count` requests of this verb have come."""
        end = time.monotonic() + 100
        while self.seen[verb] < count:
            assert time.monotonic() < end, f"{verb}: found {self.seen[verb]}, expected {count}"
            self._stopping.wait(0.005)

    def go_away(self, drain_ms: int) -> None:
        """Refuses what is new, and tells all clients."""
        self.drain_ms = drain_ms
        self.shutting_down.set()
        self._going_away.append({"drain_ms": drain_ms, "a later version's key": 1})

    def open(self) -> list[str]:
        """The episodes that go on."""
        return [name for name, state in self.episodes.items() if state["turn"] < state["max_turns"]]

    def reset_replies(self) -> list[dict[str, Any]]:
        """In the order of the requests."""
        return list(self._reset_replies.values())

    def _run(self) -> None:
        poller = zmq.Poller()
        poller.register(self._main, zmq.POLLIN)
        poller.register(self._control, zmq.POLLIN)
        while not self._stopping.is_set():
            for socket, _ in poller.poll(10):
                self._serve_all(socket)
            while self._going_away:
                body = self._going_away.pop()
                for identity in self._connections:
                    self._reply(self._main, identity, "going_away", -1, "", body)
                self.seen["going_away"] += 1
            if not self.hold_cancelled.is_set():
                self._end_cancelled()
            if not self.late_steps.is_set():
                late, self._late = self._late, []
                for frames in late:
                    self._serve(self._main, frames)
            unanswered, self._unanswered = self._unanswered, []
            for one in unanswered:
                self._answer_unless_held(*one)
            if not self.hold_steps.is_set():
                held, self._held = self._held, []
                for identity, request_id, body in held:
                    self._answer(self._main, identity, request_id, "step", lambda b=body, i=identity: self._step(i, b))

    def _serve_all(self, socket: zmq.Socket[bytes]) -> None:
        """Serves what has come, and refuses what one connection sent beyond its limit."""
        batch = []
        with contextlib.suppress(zmq.Again):
            while True:
                batch.append(socket.recv_multipart(zmq.NOBLOCK))
        under_way = Counter(identity for identity, _, _ in self._held)
        for frames in batch:
            under_way[frames[0]] += 1
            if under_way[frames[0]] > self.limits.get("in_flight", 1 << 30):
                self.refused += 1
                verb, request_id = frames[2].decode(), msgpack.unpackb(frames[3])["id"]
                refusal = Refused("resource_exhausted", "too many requests at once", "capacity", retry_after_ms=20)
                self._reply(socket, frames[0], "error", request_id, verb, refusal.body)
            else:
                self._serve(socket, frames)

    def _serve(self, socket: zmq.Socket[bytes], frames: list[bytes]) -> None:
        identity, protocol, verb_bytes, header_bytes, body_bytes = frames[:5]
        assert protocol == b"hone/1"
        verb, header, body = verb_bytes.decode(), msgpack.unpackb(header_bytes), msgpack.unpackb(body_bytes)
        request_id = header["id"]
        if socket is self._main:
            self._connections.add(identity)
        if verb == "step" and self.late_steps.is_set():
            self.seen["late step"] += 1
            self._late.append(frames)
            return
        self.seen[verb] += 1
        if self.mute.is_set():
            return
        refusal = None
        if self.shutting_down.is_set() and verb in ("hello", "reset", "step"):
            refusal = Refused("unavailable", "the server is shutting down", "infra", shutting_down=True)
            refusal.body |= {"retry_after_ms": 1000, "drain_ms": self.drain_ms}
        elif verb == "step" and self._is_under_way_otherwise(body):
            refusal = Refused("failed_precondition", f"turn {body['turn']} is under way with another action", "task")
        if refusal is not None:
            self._reply(socket, identity, "error", request_id, verb, refusal.body)
            return
        if verb == "step" and self.hold_steps.is_set():
            self._reply(socket, identity, "accepted", request_id, verb, {})
            self._reply(socket, identity, "progress", request_id, verb, {"stage": "building"})
            self._held.append((identity, request_id, body))
        elif verb in ("reset", "resume", "close"):
            self._answer_unless_held(identity, request_id, verb, body)
        else:
            self._answer(socket, identity, request_id, verb, lambda: getattr(self, f"_{verb}")(identity, body))

    def _answer_unless_held(self, identity: bytes, request_id: int, verb: str, body: dict[str, Any]) -> None:
        if verb in self.holding:
            self._unanswered.append((identity, request_id, verb, body))
        else:
            self._answer(self._main, identity, request_id, verb, lambda: getattr(self, f"_{verb}")(identity, body))

    def _answer(self, socket: zmq.Socket[bytes], identity: bytes, request_id: int, verb: str, handler: Any) -> None:
        try:
            if verb in ("reset", "step") and self.busy_replies > 0:
                self.busy_replies -= 1
                raise Refused(
                    "resource_exhausted", "the queue is full: 64 of 64", "capacity", retry_after_ms=self.retry_after_ms
                )
            if verb == "step":
                self._reply(socket, identity, "accepted", request_id, verb, {})
            result = handler()
        except Refused as refusal:
            self._reply(socket, identity, "error", request_id, verb, refusal.body)
        else:
            self._reply(socket, identity, "result", request_id, verb, result)

    @staticmethod
    def _reply(socket: zmq.Socket[bytes], identity: bytes, kind: str, request_id: int, verb: str, body: Any) -> None:
        header = msgpack.packb({"id": request_id, "verb": verb, "a later version's key": 1})
        socket.send_multipart([identity, b"hone/1", kind.encode(), header, msgpack.packb(body)])

    def _hello(self, identity: bytes, body: dict[str, Any]) -> dict[str, Any]:
        if not set(body["versions"]) & set(self.versions):
            found, speaks = ", ".join(body["versions"]), ", ".join(self.versions)
            raise Refused("invalid_argument", f"versions: found [{found}], this server speaks [{speaks}]")
        return {
            "version": "hone/1",
            "server": "scripted 1.0",
            "incarnation": self.incarnation,
            "verbs": ["hello", "describe", "reset", "step", "cancel", "ping", "close", "resume", "metrics", "health"],
            "control": f"tcp://127.0.0.1:{self._control_port}",
            "limits": self.limits,
            "environments": ["kernel_refine", "autotune"],
            "backends": ["cpu"],
            "isolation": "none",
            "fingerprint": "scripted",
            **self._welcome,
        }

    def _describe(self, identity: bytes, body: dict[str, Any]) -> dict[str, Any]:
        if body.get("task") == "unfit":
            raise Refused("invalid_argument", "unfit: it defines no module", cause="unfit_task")
        if body.get("task") not in (None, "add_relu", "tasks/add_relu"):
            raise Refused("not_found", f"unknown task '{body['task']}'; did you mean 'tasks/add_relu'?", "task")
        task = {
            "id": "tasks/add_relu",
            "title": "Add, then ReLU",
            "split": "train",
            "tags": ["cpu"],
            "backends": ["cpu"],
        }
        if body.get("task"):
            return {"task": task, "messages": [{"role": "user", "content": "Write a kernel."}]}
        environment = {"name": body.get("environment", "kernel_refine"), "max_turns": 4, "space": {"size": 12}}
        environment["tools"] = list(SCHEMAS.values())
        return {"environment": environment, "tasks": [task]}

    def _reset(self, identity: bytes, body: dict[str, Any]) -> dict[str, Any]:
        self._describe(identity, {"task": body.get("task")})
        if self.seen["reset"] in self.refused_resets:
            raise Refused("invalid_argument", "options: unknown key 'x'")
        key = body.get("key", secrets.token_hex(8))
        if key in self._reset_replies:
            return self._reset_replies[key]
        episode = secrets.token_hex(4)
        self.episodes[episode] = {
            "owner": identity,
            "token": secrets.token_hex(8),
            "turn": 0,
            "replies": {},
            "max_turns": (body.get("options") or {}).get("max_turns", 4),
            "rewards": [],
            "tools": (body.get("options") or {}).get("tools", {}),
            "group": body.get("group"),
            "seed": body.get("seed"),
        }
        schemas = {"tools": [one for name, one in SCHEMAS.items() if name in self.episodes[episode]["tools"]]}
        reply = {
            "episode": episode,
            "token": self.episodes[episode]["token"],
            "turn": 0,
            "lease_s": self._welcome["lease_s"],
            "observation": {**self._observation(episode, "Write a kernel."), **schemas},
            "info": {
                "seed": body.get("seed", 0),
                "task": "tasks/add_relu",
                "group": body.get("group"),
                "fingerprint": "scripted",
            },
        }
        self._reset_replies[key] = reply
        return reply

    def _observation(self, episode: str, text: str) -> dict[str, Any]:
        state = self.episodes[episode]
        return {
            "task": {"id": "tasks/add_relu"},
            "messages": [{"role": "user", "content": text}],
            "feedback": text if state["turn"] else "",
            "turn": state["turn"],
            "turns_left": state["max_turns"] - state["turn"],
            "seconds_left": None,
            "history": [],
            "best_speedup": None,
            "tools_left": dict(state["tools"]),
        }

    def _owned(self, identity: bytes, episode: str) -> dict[str, Any]:
        if episode not in self.episodes:
            raise Refused("not_found", f"unknown episode {episode}", "task")
        state = self.episodes[episode]
        if state["owner"] != identity:
            raise Refused(
                "failed_precondition", f"episode {episode} belongs to another connection; resume it with its token"
            )
        return state

    def _step(self, identity: bytes, body: dict[str, Any]) -> dict[str, Any]:
        state = self._owned(identity, body["episode"])
        turn, action = body["turn"], body["action"]
        if "tool" in action:
            return self._tool(state, body)
        if turn in state["replies"]:
            if state["replies"][turn][0] != action:
                raise Refused("failed_precondition", f"turn {turn} is done, with another action", "task")
            return state["replies"][turn][1]
        if state["turn"] >= state["max_turns"]:
            raise Refused(
                "failed_precondition", f"the episode ended after turn {state['turn']} (turns used up)", "task"
            )
        if turn != state["turn"] + 1:
            raise Refused("failed_precondition", f"found turn {turn}, expected {state['turn'] + 1}", "task")
        self.evaluations += 1
        source = action.get("code", action.get("response", ""))
        figures = {} if "index" not in action else {"index": action["index"], "facts": {"speedup": 1.3, "gflops": 9.0}}
        fault = "fault" in source
        outcome, reward = next((JUDGEMENTS[word] for word in JUDGEMENTS if word in source), ("correct", 1.3))
        state["turn"] = turn
        state["rewards"].append(None if fault else reward)
        ended = turn >= state["max_turns"]
        reply = {
            "episode": body["episode"],
            "turn": turn,
            "observation": {**self._observation(body["episode"], f"Your kernel was judged: {outcome}."), **figures},
            "reward": None if fault else reward,
            "reward_valid": not fault,
            "return_to_date": sum(r for r in state["rewards"] if r is not None),
            "terminated": False,
            "truncated": ended,
            "returns": state["rewards"] if ended else None,
            "info": {
                "verdict": None if fault else {"outcome": outcome},
                "components": {},
                "stop_reason": "turns used up" if ended else None,
                "fault": "the judge's process died" if fault else None,
            },
        }
        state["replies"][turn] = (action, reply)
        return reply

    def _tool(self, state: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        action = body["action"]
        name, source = action["tool"], action.get("code", action.get("response", ""))
        if "fault" in source:
            raise Refused("unavailable", "the builder's process died", "infra")
        if state["tools"].get(name, 0) < 1:
            raise Refused("failed_precondition", f"tool {name}: its uses are spent in this episode", "task")
        if name == "check" and not source:
            raise Refused("invalid_argument", "step: action: the code is empty")
        self.evaluations += 1
        state["tools"][name] -= 1
        text = f"{name} found: {next((JUDGEMENTS[word][0] for word in JUDGEMENTS if word in source), 'nothing')}"
        call = {"id": "1", "type": "function", "function": {"name": name, "arguments": "{}"}}
        messages = [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "name": name, "content": text},
        ]
        observation = {**self._observation(body["episode"], text), "messages": messages, "feedback": text}
        return {"tool": name, "turn": body["turn"], "call": body["call"], "observation": observation, "info": {}}

    def _cancel(self, identity: bytes, body: dict[str, Any]) -> dict[str, Any]:
        for held in list(self._held):
            _, _, step = held
            if (step["episode"], step["turn"]) == (body["episode"], body["turn"]):
                self._held.remove(held)
                self._cancelled.append(held)
                if not self.hold_cancelled.is_set():
                    self._end_cancelled()
                return {"cancelled": True}
        return {"cancelled": False}

    def _is_under_way_otherwise(self, body: dict[str, Any]) -> bool:
        turn, action = (body["episode"], body["turn"]), body["action"]
        there = [step for _, _, step in self._held + self._cancelled if (step["episode"], step["turn"]) == turn]
        return any(step["action"] != action for step in there)

    def _end_cancelled(self) -> None:
        ended, self._cancelled = self._cancelled, []
        for owner, request_id, step in ended:
            refusal = Refused("cancelled", f"turn {step['turn']} was cancelled", "cancelled")
            self._reply(self._main, owner, "error", request_id, "step", refusal.body)

    def _resume(self, identity: bytes, body: dict[str, Any]) -> dict[str, Any]:
        state = self.episodes.get(body["episode"])
        if state is None or state["token"] != body["token"]:
            raise Refused("not_found", f"unknown episode {body['episode']}", "task")
        state["owner"] = identity
        # A held step of the lost connection goes on, and is answered to whoever asks again.
        self._held = [h for h in self._held if h[2]["episode"] != body["episode"]]
        return {
            "episode": body["episode"],
            "turn": state["turn"],
            "pending": False,
            "ended": state["turn"] >= state["max_turns"],
            "observation": self._observation(body["episode"], "Resumed."),
            "lease_s": self._welcome["lease_s"],
        }

    def _close(self, identity: bytes, body: dict[str, Any]) -> dict[str, Any]:
        state = self._owned(identity, body["episode"])
        del self.episodes[body["episode"]]
        self.seen["closed"] += 1  # "close" counts requests when they come
        return {
            "episode": body["episode"],
            "turns": state["turn"],
            "returns": state["rewards"],
            "return_to_date": sum(r or 0 for r in state["rewards"]),
        }

    def _ping(self, identity: bytes, body: dict[str, Any]) -> dict[str, Any]:
        self.renewed.update(body.get("episodes") or [])
        return {"incarnation": self.incarnation, "time": "2026-11-21T00:00:00Z"}

    def _health(self, identity: bytes, body: dict[str, Any]) -> dict[str, Any]:
        return {"status": "failing" if self.problems else "serving", "problems": self.problems}

    def _metrics(self, identity: bytes, body: dict[str, Any]) -> dict[str, Any]:
        text = {"text": f"# TYPE hone_steps_total counter\nhone_steps_total {self.evaluations}\n"}
        return text if body["format"] == "prometheus" else {"metrics": {"steps_total": self.evaluations}}


async def cancel_and_find_no_episode(
    reset: asyncio.Task[Any], client: hone.aio.Client, scripted: ScriptedServer
) -> None:
    """Gives up a reset, lets all that is held go its way, and expects that its episode is closed."""
    reset.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reset
    scripted.holding.clear()
    await asyncio.to_thread(scripted.wait_for, "close")
    await client.ping()  # a connection keeps its order: the episode is closed by now
    assert scripted.episodes == {}
