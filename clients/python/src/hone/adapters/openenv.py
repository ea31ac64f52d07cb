"""For OpenEnv (0.10): a server and a client of its protocol, so that its tools work with hone.

    python -m hone openenv --endpoint tcp://127.0.0.1:5917 --port 8000

serves, and ``--write DIR`` writes an environment for OpenEnv's hub. In Python ``app()`` is the
application, and ``HoneEnv`` the client::

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
from pathlib import Path
from typing import Any

from hone import __version__
from hone._requests import DEFAULT_ENDPOINT
from hone.errors import DeadlineExceeded, HoneError, Unavailable

from ._play import Play, Settings, client_of
from ._record import Message
from ._tools import tools_argument
from ._versions import require

require("hone.adapters.openenv", "openenv", "0.10", "0.11")

from fastapi.responses import JSONResponse  # noqa: E402 - after the check of the version
from openenv.core.env_server import Environment, State, create_app  # noqa: E402
from openenv.core.env_server.types import EnvironmentMetadata  # noqa: E402

from ._openenv_client import HoneEnv  # noqa: E402
from ._openenv_folder import DESCRIPTION, ENVIRONMENT, write  # noqa: E402
from ._openenv_models import HoneAction, HoneObservation  # noqa: E402

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
        split: str | None = None,
        index: int | None = None,
        **_: Any,  # noqa: ANN401 - further arguments of OpenEnv's tools
    ) -> HoneObservation:
        """Starts an episode of a task; without a task, one is drawn with the seed.

        A split and an index name a task, as in ``get_task``.

        Raises:
            ValueError: Only one of split and index was given, or a task was given with them.
            hone.HoneError: The request is wrong, or no server answers the first one.
        """
        if split is not None or index is not None:
            if split is None or index is None or task is not None:
                raise ValueError("reset: expected a task, or split and index")
            task = self.get_task(split, index)["id"]
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
        """A task of a split; ``reset`` with the same arguments plays it.

        Raises:
            IndexError: The split has no task of this index.
        """
        tasks = client_of(self._settings).tasks(split=split)
        if not 0 <= index < len(tasks):
            raise IndexError(f"split {split}: found index {index}, expected 0 to {len(tasks) - 1}")
        task = tasks[index]
        return {"id": task.id, "index": index, "title": task.title}

    def get_metadata(self) -> EnvironmentMetadata:
        """Name, version and description, for ``/metadata`` and the web interface."""
        return EnvironmentMetadata(
            name=ENVIRONMENT,
            description=DESCRIPTION,
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
            turns_left=record.turns_left,
            reward_valid=record.fault is None,
            fault=record.fault or "",
            task=record.task,
            turn=record.turns,
            outcome=record.outcomes[-1] if has_turn else "",
            best_speedup=record.best_speedup,
            return_to_date=record.return_to_date,
            returns=list(record.returns),
        )


def app(
    endpoint: str | Sequence[str] = DEFAULT_ENDPOINT,
    options: Mapping[str, Any] | None = None,
    *,
    sessions: int = SESSIONS,
    **settings: Any,  # noqa: ANN401 - Settings checks them
) -> Any:  # noqa: ANN401 - a FastAPI
    """The server's application, for any ASGI server.

    Args:
        endpoint: Of ``hone serve``, or a list of them.
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
            env_name=ENVIRONMENT,
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
        if not settings.has_one_server:
            client.ping()  # one server that answers is enough
            return JSONResponse({"status": "healthy"})
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
    """``python -m hone openenv``: serves until it is interrupted, or writes an environment."""
    import uvicorn

    from ._http import AnnouncingServer

    parser = argparse.ArgumentParser(prog="python -m hone openenv", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    default = "(default: %(default)s)"
    parser.add_argument(
        "--endpoint", default=DEFAULT_ENDPOINT, help=f"address of hone serve {default}"
    )
    parser.add_argument("--key", metavar="FILE", help="key file, if the server requires keys")
    parser.add_argument("--host", default="127.0.0.1", help=f"address to listen on {default}")
    parser.add_argument("--port", type=int, default=8000, help=f"port to listen on {default}")
    parser.add_argument(
        "--max-turns", type=int, metavar="N", help="turns of each episode (default: the server's)"
    )
    parser.add_argument(
        "--tools",
        type=tools_argument,
        metavar="NAME=USES,...",
        help="uses of each tool in an episode, for example check=4,profile=2; or none",
    )
    parser.add_argument(
        "--sessions", type=int, default=SESSIONS, help=f"sessions at the same time {default}"
    )
    parser.add_argument(
        "--write",
        type=Path,
        metavar="DIR",
        help="write an environment for OpenEnv's hub into DIR, an empty folder, and exit",
    )
    parser.add_argument(
        "--wheel",
        type=Path,
        metavar="FILE",
        help="with --write: a wheel of scripts/wheel, which the environment's image installs",
    )
    given = parser.parse_args(arguments)
    wanted = {"max_turns": given.max_turns, "tools": given.tools}
    options = {name: value for name, value in wanted.items() if value is not None}
    if given.write is not None:
        try:
            write(given.write, options=options, sessions=given.sessions, wheel=given.wheel)
        except (OSError, ValueError) as error:
            parser.error(str(error))
        if given.wheel is None:
            print(
                f"wrote {given.write}, without hone-rl: `uv lock` needs hone-rl {__version__} from "
                "a package registry. To include it, run scripts/wheel, delete "
                "the folder, and write it again with --wheel FILE"
            )
        else:
            print(f"wrote {given.write}; next: cd {given.write} && uv lock && openenv validate")
        return
    if given.wheel is not None:
        parser.error("--wheel: found no --write DIR; use them together")
    served = app(given.endpoint, options, sessions=given.sessions, key=given.key)
    config = uvicorn.Config(served, host=given.host, port=given.port, log_level="warning")
    AnnouncingServer(config, f"serving {given.endpoint} to OpenEnv on {{url}}").run()


if __name__ == "__main__":
    main()
