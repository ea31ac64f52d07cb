"""For OpenEnv (0.10): a server and a client of its protocol, so that its tools work with hone.

    python -m hone.adapters.openenv --endpoint tcp://127.0.0.1:5917 --port 8000

serves; in Python ``app()`` is the application, and ``HoneEnv`` the client::

    with HoneEnv("http://127.0.0.1:8000", message_timeout_s=600).sync() as env:
        result = env.reset(task="add_relu")
        result = env.step(HoneAction(tool="check", response=answer))  # with the option tools
        result = env.step(HoneAction(response=answer))

After a fault of the machine ``reward`` is None and ``observation.reward_valid`` False. See
docs/trainers/openenv.md.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from hone import __version__
from hone._requests import DEFAULT_ENDPOINT
from hone._text import sendable
from hone.errors import DeadlineExceeded, HoneError, Unavailable

from ._play import Play, Settings, client_of
from ._record import Message
from ._tools import tools_argument
from ._versions import require

require("hone.adapters.openenv", "openenv", "0.10", "0.11")

from fastapi.responses import JSONResponse  # noqa: E402
from openenv.core.client_types import StepResult  # noqa: E402 - after the check of its version
from openenv.core.env_client import EnvClient  # noqa: E402
from openenv.core.env_server import (  # noqa: E402
    Action,
    Environment,
    Observation,
    State,
    create_app,
)
from openenv.core.env_server.types import EnvironmentMetadata  # noqa: E402
from pydantic import BeforeValidator, Field  # noqa: E402

__all__ = [
    "SESSIONS",
    "HoneAction",
    "HoneEnv",
    "HoneEnvironment",
    "HoneObservation",
    "app",
    "main",
]

#: Sessions at once; OpenEnv's own default is one.
SESSIONS = 64
#: Environment variable. If it is ``true``, OpenEnv serves its web interface at ``/web``.
WEB = "ENABLE_WEB_INTERFACE"
#: Timeout of ``/health``'s request to hone (s); a second request may follow.
HEALTH_SECONDS = 2.0


def _mended(text: object) -> object:
    """Replaces lone surrogates. A model's answer may have them, and Pydantic refuses them."""
    return sendable(text) if isinstance(text, str) else text


_Text = Annotated[str | None, BeforeValidator(_mended)]


class HoneAction(Action):  # type: ignore[misc]
    """A submission, or with ``tool`` a call of a tool, which leaves the turn open.

    Exactly one of response and code is given; for the tool ``hardware`` neither.
    """

    response: _Text = Field(default=None, description="a model's whole answer")
    code: _Text = Field(default=None, description="or a kernel's source")
    tool: str | None = Field(default=None, description="name of a tool to call; None: submit")


class HoneObservation(Observation):  # type: ignore[misc]
    """An observation; ``reward`` is None for an unscored turn.

    ``reward_valid`` is a field because some of OpenEnv's paths drop metadata.
    """

    messages: list[Message] = Field(default_factory=list, description="new ones, as in a chat")
    tools: list[dict[str, Any]] = Field(
        default_factory=list, description="after reset: the tools as OpenAI's function tools"
    )
    tools_left: dict[str, int] = Field(default_factory=dict, description="uses of each tool")
    reward_valid: bool = Field(default=True, description="False: do not train on this episode")
    fault: str = Field(default="", description="the reason if reward_valid is False")
    task: str = ""
    turn: int = 0
    outcome: str = Field(default="", description="of the turn: correct, wrong, build_failed, …")
    best_speedup: float | None = None
    return_to_date: float | None = None
    returns: list[float | None] = Field(
        default_factory=list, description="of all turns, at the end"
    )


class HoneEnvironment(Environment[HoneAction, HoneObservation, State]):  # type: ignore[misc]
    """One session of OpenEnv: one episode of hone after another.

    Args:
        settings: The server and the episodes' rules.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings
        self._play: Play | None = None
        self._episode_id: str | None = None

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        *,
        task: str | None = None,
        group: str | None = None,
        **_: Any,  # noqa: ANN401 - further arguments of OpenEnv's tools
    ) -> HoneObservation:
        """Starts an episode of a task; without a task, one is drawn with the seed.

        Raises:
            hone.HoneError: The request is wrong, or no server answers the first one.
        """
        self._play = self._play or Play(self._settings)
        self._episode_id = episode_id
        messages = self._play.start(task, seed=seed, group=group)
        seen = self._observed(messages)
        seen.tools = self._play.tools.functions
        return seen

    def step(
        self,
        action: HoneAction,
        timeout_s: float | None = None,
        **_: Any,  # noqa: ANN401
    ) -> HoneObservation:
        """Submits a kernel, or calls a tool. The timeout is that of the settings.

        After a call of a tool, ``messages`` has its answer and ``reward`` is None. A mistaken call
        is answered with a text that begins with ``error: ``.

        Raises:
            ValueError: Not exactly one of response and code was given (for the tool ``hardware``:
                one was given), or reset was not called.
        """
        named = {"response": action.response, "code": action.code}
        given = {name: text for name, text in named.items() if text is not None}
        if action.tool == "hardware":
            if given:
                raise ValueError("action: expected neither response nor code")
        elif len(given) != 1:
            raise ValueError("action: expected exactly one of response and code")
        if self._play is None:
            raise ValueError("step: the episode is not started; call reset first")
        if action.tool is None:
            turns = self._play.record.turns
            messages = self._play.step(action.code, response=action.response)
            return self._observed(messages, has_turn=self._play.record.turns > turns)
        answer = self._play.call(action.tool, given)
        return self._observed([{"role": "user", "content": answer}] if answer else [])

    @property
    def state(self) -> State:
        """The episode's task and progress."""
        if self._play is None:
            return State(episode_id=self._episode_id)
        record = self._play.record
        return State(episode_id=self._episode_id, step_count=record.turns, **record.details())

    def close(self) -> None:
        """Closes the episode. OpenEnv calls it at every end of a session."""
        if self._play is not None:
            self._play.finish()

    def list_splits(self) -> list[str]:
        """The splits that the server has tasks in."""
        return sorted({task.split for task in client_of(self._settings).tasks()})

    def num_tasks(self, split: str) -> int:
        """The number of tasks in a split."""
        return len(client_of(self._settings).tasks(split=split))

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """A task of a split: ``reset(task=get_task(…)["id"])`` plays it."""
        task = client_of(self._settings).tasks(split=split)[index]
        return {"id": task.id, "index": index, "title": task.title}

    def get_metadata(self) -> EnvironmentMetadata:
        """Name, version and description, for ``/metadata`` and the web interface."""
        return EnvironmentMetadata(
            name="hone_kernels",
            description=(
                "Write fast and correct kernels: each turn builds, checks and times a kernel, and "
                "its feedback says how to go on."
            ),
            version=__version__,
            readme_content=__doc__,
        )

    def _observed(self, messages: list[Message], *, has_turn: bool = False) -> HoneObservation:
        """The observation of a request. ``has_turn``: the request has completed a turn."""
        assert self._play is not None
        record = self._play.record
        return HoneObservation(
            done=record.ended,
            reward=record.rewards[-1] if has_turn else None,
            messages=messages,
            tools_left=dict(self._play.tools.left),
            reward_valid=record.fault is None,
            fault=record.fault or "",
            task=record.task,
            turn=record.turns,
            outcome=record.outcomes[-1] if has_turn else "",
            best_speedup=record.best_speedup,
            return_to_date=record.return_to_date,
            returns=list(record.returns),
        )


class HoneEnv(EnvClient[HoneAction, HoneObservation, State]):  # type: ignore[misc]
    """OpenEnv's client; set ``message_timeout_s`` to the longest turn."""

    def _step_payload(self, action: HoneAction) -> dict[str, Any]:
        return dict(action.model_dump(exclude_none=True))

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[HoneObservation]:
        done, reward = bool(payload.get("done")), payload.get("reward")
        fields = {**payload.get("observation", {}), "done": done, "reward": reward}
        return StepResult(observation=HoneObservation(**fields), reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> State:
        return State(**payload)


def app(
    endpoint: str = DEFAULT_ENDPOINT,
    options: Mapping[str, Any] | None = None,
    *,
    sessions: int = SESSIONS,
    **settings: Any,  # noqa: ANN401 - Settings checks them
) -> Any:  # noqa: ANN401 - a FastAPI
    """The server's application, for any ASGI server.

    Args:
        endpoint: Of ``hone serve``.
        options: Of every episode.
        sessions: At once.
        settings: More of ``Settings``.

    Raises:
        TypeError: A setting is unknown.
        SystemExit: ``ENABLE_WEB_INTERFACE`` is set, and gradio is not installed.
    """
    given = Settings.of({"endpoint": endpoint, "options": dict(options or {}), **settings})
    try:
        made = create_app(
            lambda: HoneEnvironment(given),
            HoneAction,
            HoneObservation,
            env_name="hone_kernels",
            max_concurrent_envs=sessions,
        )
    except ModuleNotFoundError as error:
        if WEB not in os.environ or not str(error.name).startswith("gradio"):
            raise
        raise SystemExit(
            f"{WEB}: OpenEnv's web interface needs gradio: pip install gradio"
        ) from None
    # OpenEnv's own /health is always healthy.
    made.router.routes[:] = [
        route for route in made.router.routes if getattr(route, "path", None) != "/health"
    ]
    made.add_api_route("/health", lambda: _health(given), methods=["GET"], tags=["Health"])
    return made


def _health(settings: Settings) -> JSONResponse:
    """200 if hone answers and can do steps; otherwise 503."""
    soon = replace(settings, connect_timeout=HEALTH_SECONDS, timeout=HEALTH_SECONDS)
    try:
        client = client_of(soon)
        try:
            said = client.health()
        except (Unavailable, DeadlineExceeded):  # a control endpoint out of reach, behind a tunnel
            client.ping()
            said = {"status": "serving"}
    except HoneError as error:
        return JSONResponse({"status": "unhealthy", "detail": str(error)}, status_code=503)
    if said["status"] == "serving":
        return JSONResponse({"status": "healthy"})
    why = said.get("problems") or ["the server is shutting down"]
    return JSONResponse({"status": "unhealthy", "detail": "; ".join(why)}, status_code=503)


def main(arguments: Sequence[str] | None = None) -> None:
    """``python -m hone.adapters.openenv``: serves until it is interrupted."""
    import uvicorn

    from ._http import AnnouncingServer

    parser = argparse.ArgumentParser(prog="python -m hone.adapters.openenv", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    default = "(default: %(default)s)"
    parser.add_argument(
        "--endpoint", default=DEFAULT_ENDPOINT, help=f"address of hone serve {default}"
    )
    parser.add_argument("--host", default="127.0.0.1", help=f"address to listen on {default}")
    parser.add_argument("--port", type=int, default=8000, help=f"port to listen on {default}")
    parser.add_argument(
        "--max-turns", type=int, metavar="N", help="turns of each episode (default: the server's)"
    )
    parser.add_argument(
        "--tools",
        type=tools_argument,
        metavar="NAME=USES,...",
        help="uses of each tool in an episode, or none: check=4,profile=2",
    )
    parser.add_argument(
        "--sessions", type=int, default=SESSIONS, help=f"sessions at the same time {default}"
    )
    given = parser.parse_args(arguments)
    wanted = {"max_turns": given.max_turns, "tools": given.tools}
    options = {name: value for name, value in wanted.items() if value is not None}
    served = app(given.endpoint, options, sessions=given.sessions)
    config = uvicorn.Config(served, host=given.host, port=given.port, log_level="warning")
    AnnouncingServer(config, f"serving {given.endpoint} to OpenEnv on {{url}}").run()


if __name__ == "__main__":
    main()
