"""For NeMo Gym (0.7): a resources server whose tools play an episode of hone.

    python -m hone.adapters.nemo_gym --options '{"max_turns": 4}' > data/kernels.jsonl

writes a dataset with one row for each task. An agent of Gym seeds a session with a row, calls
``submit_kernel`` and hone's tools, and then requests ``verify``: the reward is the episode's
return. After a fault of the machine the answer has ``mask_sample``, a ``failure_kind`` and a
``failure_reason``, and Gym keeps it out of all scores. See docs/trainers/nemo_gym.md.

Theory of operation: Gym's agents post a function call of the model to the path that the model
named, with the cookies of their own requests. So the model can call every route. A session has
one episode: a second ``/seed_session`` is refused. The first ``/verify`` ends the episode, and
the session is kept, so that the agent's own ``/verify`` returns the same reward.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from hone._functions import parse_json, refusal
from hone._requests import DEFAULT_ENDPOINT
from hone.errors import HoneError

from ._play import AsyncPlay, Settings, client_of, tool_functions
from ._record import Record, is_wrong_request
from ._tools import (
    FAILED,
    OVER,
    TOOL_PROMPT,
    TOOLS_PROMPT,
    EpisodeTools,
    after_turn,
    expect_source,
    source,
)
from ._versions import require

require("hone.adapters.nemo_gym", "nemo-gym", "0.7", "0.8")

from fastapi import FastAPI, HTTPException, Request  # noqa: E402 - after the check of its version
from fastapi.encoders import jsonable_encoder  # noqa: E402
from fastapi.responses import JSONResponse, PlainTextResponse  # noqa: E402
from nemo_gym.base_resources_server import (  # noqa: E402
    BaseResourcesServerConfig,
    BaseSeedSessionRequest,
    BaseSeedSessionResponse,
    BaseVerifyRequest,
    BaseVerifyResponse,
    SimpleResourcesServer,
)
from nemo_gym.config_types import AggregateMetrics, AggregateMetricsRequest  # noqa: E402
from nemo_gym.failure_kinds import SESSION_LOST, VERIFIER_ERROR  # noqa: E402
from nemo_gym.server_utils import SESSION_ID_KEY  # noqa: E402
from pydantic import ConfigDict, Field, PrivateAttr, field_validator  # noqa: E402

__all__ = [
    "REASON_CHARACTERS",
    "SESSION_SECONDS",
    "VERIFIED_SESSIONS",
    "HoneResourcesServer",
    "HoneResourcesServerConfig",
    "HoneSeedSessionRequest",
    "HoneVerifyRequest",
    "HoneVerifyResponse",
    "main",
    "rows",
]

#: Idle time after which the start of another session drops a session and ends its episode (s).
SESSION_SECONDS = 7200.0
#: Limit of verified sessions in memory, about 2 KB each. If it were small, a model could call
#: ``verify`` and wait until its session is dropped: its sample would then be masked.
VERIFIED_SESSIONS = 65536
#: Gym's limit for the length of a failure reason.
REASON_CHARACTERS = 2000

# Key in a session's signed cookie: an episode was started. A model cannot remove it.
_SEEDED_KEY = "hone_seeded"

_SUBMIT = {
    "name": "submit_kernel",
    "description": "Compiles a kernel, checks its results and measures how fast it is.",
    "parameters": {
        "type": "object",
        "properties": {"code": {"type": "string", "description": "the whole source file"}},
        "required": ["code"],
        "additionalProperties": False,
    },
}


class HoneResourcesServerConfig(BaseResourcesServerConfig):  # type: ignore[misc]
    """The fields of ``Settings``, and the effect of a fault.

    ``on_fault`` is ``mask`` (the sample is in Gym's results and in no score) or ``fail`` (the
    request fails, and the rollout with it).
    """

    endpoint: str | list[str] = DEFAULT_ENDPOINT
    options: dict[str, Any] = Field(default_factory=dict)
    timeout: float = Settings.timeout
    connect_timeout: float = Settings.connect_timeout
    reconnect_timeout: float = Settings.reconnect_timeout
    key: str | None = None
    server_key: str | None = None
    retries: int = Settings.retries
    on_fault: Literal["mask", "fail"] = "mask"
    session_seconds: float = SESSION_SECONDS

    @field_validator("num_workers")  # type: ignore[untyped-decorator]
    @classmethod
    def _one_process(cls, value: int | None) -> int | None:
        if (value or 1) > 1:
            raise ValueError(f"found {value}, expected 1: an episode lives in one process")
        return value

    def settings(self) -> Settings:
        """The fields that are also in ``Settings``."""
        names = set(Settings.__dataclass_fields__) - {"split"}
        return Settings(**{name: getattr(self, name) for name in names})


class HoneSeedSessionRequest(BaseSeedSessionRequest):  # type: ignore[misc]
    """A row of a dataset, as an agent's ``/run`` sends it. ``task`` chooses hone's task."""

    task: str
    seed: int | None = None
    group: str | None = None
    task_index: int | None = Field(default=None, alias="_ng_task_index")


class HoneVerifyRequest(BaseVerifyRequest):  # type: ignore[misc]
    """A row of a dataset and the model's last response."""

    model_config = ConfigDict(extra="allow")


class HoneVerifyResponse(BaseVerifyResponse):  # type: ignore[misc]
    """The reward, and in ``hone`` the rewards by turn, returns, outcomes, tool calls and fault."""

    model_config = ConfigDict(extra="allow")


@dataclass
class _Session:
    """An episode between ``seed_session`` and ``verify``, or the record of a verified one."""

    play: AsyncPlay
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    error: HoneError | None = None
    requests: int = 0  # in progress or waiting for the lock
    used_at: float = field(default_factory=time.monotonic)

    @contextlib.asynccontextmanager
    async def use(self) -> AsyncIterator[None]:
        """Holds the lock for one request, and keeps the session from being idle."""
        self.requests += 1
        try:
            async with self.lock:
                yield
        finally:
            self.requests -= 1
            self.used_at = time.monotonic()


class HoneResourcesServer(SimpleResourcesServer):  # type: ignore[misc]
    """Seeds, plays and verifies episodes. One process serves any number of rollouts."""

    ray_enabled = False
    config: HoneResourcesServerConfig
    _playing: dict[str, _Session] = PrivateAttr(default_factory=dict)
    # Ordered by the time of the last ``verify``, the oldest first.
    _verified: OrderedDict[str, _Session] = PrivateAttr(default_factory=OrderedDict)
    _ending: set[asyncio.Task[None]] = PrivateAttr(default_factory=set)

    def setup_webserver(self) -> FastAPI:
        """The routes of a resources server, ``/submit_kernel``, and a route for each tool."""
        app = super().setup_webserver()
        # Last, because it matches every path. An unknown name is a mistake of the model.
        app.post("/{tool:path}")(self.call_tool)
        return app

    async def seed_session(
        self, request: Request, body: HoneSeedSessionRequest
    ) -> BaseSeedSessionResponse:
        """Starts the episode of a row. ``verify`` reports a fault."""
        self._refuse_in_episode(request, "seed_session")
        self._drop_old()
        session_id = request.session[SESSION_ID_KEY]
        group = body.group
        if group is None and body.task_index is not None:
            group = f"nemo-gym-{body.task}-{body.task_index}"
        session = self._playing[session_id] = _Session(AsyncPlay(self.config.settings()))
        async with session.use():
            try:
                await session.play.start(body.task, seed=body.seed, group=group)
            except BaseException as error:
                del self._playing[session_id]
                session.play.record.fail("the reset failed")  # for requests that wait for the lock
                if isinstance(error, HoneError):
                    raise _http_error(error) from error
                raise
        request.session[_SEEDED_KEY] = True
        return BaseSeedSessionResponse()

    async def call_tool(self, request: Request, tool: str) -> PlainTextResponse:
        """Submits a kernel or calls a tool of hone. The model gets its mistakes as answers."""
        session = self._find(request)
        if session is None:
            return PlainTextResponse(OVER)
        async with session.use():
            try:
                arguments = parse_json(await request.body())
            except ValueError as error:
                return PlainTextResponse(refusal(error))
            return PlainTextResponse(await _use(session, tool, arguments))

    async def verify(self, request: Request, body: HoneVerifyRequest) -> Any:  # noqa: ANN401
        """Ends the episode. Returns its return, or a masked sample after a fault.

        If nothing was submitted, the text of the last answer is submitted first. Later requests
        get the same reward: the first one may be a call of the model.
        """
        session = self._find(request)
        if session is None:
            lost = "the session has no episode: not seeded, or idle for too long"
            return self._fault(body, Record(fault=lost), SESSION_LOST)
        async with session.use():
            record = session.play.record
            answer = _last_text(body.response)
            try:
                if session.error is None and answer and not record.turns and not record.ended:
                    await session.play.step(response=answer)
                record = await session.play.finish()
            except HoneError as error:
                session.error = session.error or error
            record.messages, session.play.tools = [], EpisodeTools()  # the rest is small
            self._keep(request.session[SESSION_ID_KEY], session)
            if session.error is not None:
                raise _http_error(session.error)
        if record.fault is not None:
            return self._fault(body, record, VERIFIER_ERROR)
        metrics: dict[str, float] = {"turns": record.turns}
        metrics["tool_calls"] = sum(record.tool_calls.values())
        if record.best_speedup is not None:
            metrics["speedup"] = record.best_speedup
        row = {**body.model_dump(), "hone": record.details(), **metrics}
        return HoneVerifyResponse(**{**row, "reward": record.score})

    async def aggregate_metrics(
        self, request: Request, body: AggregateMetricsRequest
    ) -> AggregateMetrics:
        """Gym's own metrics. Gym itself requests them without a session that has an episode."""
        self._refuse_in_episode(request, "aggregate_metrics")
        return await super().aggregate_metrics(body)

    def _fault(self, body: HoneVerifyRequest, record: Record, kind: str) -> JSONResponse:
        """A masked sample. Gym requires a number as its reward, but no score contains it.

        Rationale: the same members as Gym's own ``judge_failsafe``. NeMo RL reads
        ``instance_config``, and leaves the sample out of the loss and its group's baseline.
        ``_ng_failure_class`` keeps it out of the file of rollouts, so a resumed run repeats it.
        """
        reason = str(record.fault)[:REASON_CHARACTERS]
        if self.config.on_fault == "fail":
            raise HTTPException(503, f"hone: {reason}")
        row = body.model_dump()
        given = row.get("instance_config")
        row |= {
            "reward": 0.0,
            "mask_sample": True,
            "failure_kind": kind,
            "failure_reason": reason,
            "instance_config": {**(given if isinstance(given, dict) else {}), "mask_sample": True},
            "_ng_failure_class": kind,
            "hone": record.details(),
        }
        return JSONResponse(jsonable_encoder(row))

    def _find(self, request: Request) -> _Session | None:
        """The session of a request, if it has an episode."""
        session_id = request.session[SESSION_ID_KEY]
        return self._playing.get(session_id) or self._verified.get(session_id)

    def _refuse_in_episode(self, request: Request, name: str) -> None:
        """Refuses a request in a session that has an episode: the model may have sent it.

        Raises:
            HTTPException: An episode was started in the session. Agents give the model the text.
        """
        if request.session.get(_SEEDED_KEY) or self._find(request) is not None:
            raise HTTPException(409, f"hone: {name}: the session already has an episode")

    def _keep(self, session_id: str, session: _Session) -> None:
        """Moves a session to the end of the verified ones."""
        self._playing.pop(session_id, None)
        self._verified[session_id] = session
        self._verified.move_to_end(session_id)

    def _drop_old(self) -> None:
        """Drops idle sessions, for example of an agent that was killed, and ends their episodes.

        The episodes end in the background, so that the caller does not wait.
        """
        limit = time.monotonic() - self.config.session_seconds
        idle = [
            name for name, one in self._playing.items() if one.used_at < limit and not one.requests
        ]
        for name in idle:
            ending = asyncio.create_task(_end(self._playing.pop(name).play))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)
        while self._verified:
            first = next(iter(self._verified.values()))
            if first.used_at >= limit and len(self._verified) <= VERIFIED_SESSIONS:
                return
            self._verified.popitem(last=False)


async def _end(play: AsyncPlay) -> None:
    with contextlib.suppress(HoneError):  # the episode ends when its lease expires
        await play.finish()


async def _use(session: _Session, tool: str, arguments: Any) -> str:  # noqa: ANN401 - JSON
    """Makes a call, and returns the text for the model."""
    play = session.play
    if session.error is not None or play.record.fault is not None:
        return FAILED
    if play.record.ended:
        return OVER
    if tool != _SUBMIT["name"]:
        answer = await play.call(tool, arguments)
        return FAILED if play.record.fault is not None else answer
    given = arguments.get("code") if isinstance(arguments, dict) else arguments
    try:
        action = source(expect_source(given))
    except ValueError as error:
        return str(error)
    try:
        feedback = await play.step(**action)
    except HoneError as error:
        session.error = error  # verify raises it; raised here, the model would see it
        return FAILED
    return after_turn(play.record, feedback)


def _last_text(response: Any) -> str:  # noqa: ANN401 - NeMoGymResponse
    """The text of the model's last message; empty if the model ended with anything else."""
    if not response.output:
        return ""
    last = response.output[-1]
    if last.type != "message" or last.role != "assistant":
        return ""
    return "".join(part.text for part in last.content if part.type == "output_text")


def _http_error(error: HoneError) -> HTTPException:
    """The HTTP response to a failed request: status 400 if the request is wrong, else 503."""
    status = 400 if is_wrong_request(error) else 503
    return HTTPException(status, f"hone: {error.code}: {error}")


def rows(settings: Settings) -> Iterator[dict[str, Any]]:
    """A dataset: one row for each task of the server, with the prompt and the tools.

    Raises:
        hone.HoneError: No server answered, or an option is wrong.
    """
    client = client_of(settings)
    tools = [one for one in tool_functions(settings) if one["name"] in settings.tools]
    said = TOOL_PROMPT + (TOOLS_PROMPT if tools else "")
    for task in client.tasks(split=settings.split):
        messages = [dict(one) for one in client.prompt(task.id, options=settings.options)]
        first = next(one for one in messages if one["role"] == "user")
        first["content"] = said + first["content"]
        yield {
            "responses_create_params": {
                "input": messages,
                "tools": [
                    {"type": "function", **one, "strict": False} for one in [_SUBMIT, *tools]
                ],
                "parallel_tool_calls": False,
            },
            "task": task.id,
        }


def main(arguments: Sequence[str] | None = None) -> None:
    """``python -m hone.adapters.nemo_gym``: prints the rows of a dataset."""
    parser = argparse.ArgumentParser(prog="python -m hone.adapters.nemo_gym")
    parser.add_argument(
        "--endpoint", default=DEFAULT_ENDPOINT, help="address of hone serve (default: %(default)s)"
    )
    parser.add_argument("--split", help="tasks of this split only")
    parser.add_argument(
        "--options", type=json.loads, default={}, help="options of the YAML file, as JSON"
    )
    given = parser.parse_args(arguments)
    settings = Settings(endpoint=given.endpoint, split=given.split, options=given.options)
    for row in rows(settings):
        sys.stdout.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
