"""For agents: an MCP server, so that any client of the Model Context Protocol can use hone.

    python -m hone mcp                                             # over stdio
    python -m hone mcp --http 127.0.0.1:8765 --token-file FILE     # over HTTP

An agent lists the tasks, reads one, examines kernels with tools, and submits them. The first
submission or tool call starts an episode. Later ones name the episode by its handle. See
docs/agents.md.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hmac
import math
import os
import secrets
from collections import OrderedDict
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypedDict, TypeVar

from hone import __version__, aio
from hone._requests import DEFAULT_ENDPOINT
from hone._text import sendable
from hone.errors import HoneError, NotFound
from hone.types import Reset, StepResult, Task, ToolResult

from ._play import Settings, loop_client_of
from ._record import is_fault, plain_messages, text_of
from ._tools import tools_argument
from ._versions import require

require("hone.adapters.mcp", "mcp", "2.0", "3")

import uvicorn  # noqa: E402 - a part of mcp
from mcp.server.mcpserver import Context, MCPServer  # noqa: E402 - after the check of its version
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError  # noqa: E402
from mcp.server.transport_security import TransportSecuritySettings  # noqa: E402
from mcp.types import CallToolResult, TextContent, ToolAnnotations  # noqa: E402
from pydantic import Field  # noqa: E402
from starlette.responses import PlainTextResponse  # noqa: E402

from ._http import AnnouncingServer  # noqa: E402

__all__ = [
    "EPISODES",
    "main",
    "server",
]

T = TypeVar("T")

#: Episodes that one server keeps. At the limit, a new one closes an ended or the least recently
#: used one.
EPISODES = 64
#: Time limit for closing the episodes at the end (s).
CLOSE_SECONDS = 5.0
#: The most tasks in one answer of ``list_tasks``.
TASKS = 200
#: The shortest token for HTTP (characters).
TOKEN_CHARACTERS = 16

#: Uses of each tool in an episode, unless ``--tools`` sets them.
TOOL_USES = {
    "check": 8,
    "profile": 4,
    "sanitize": 4,
    "disassemble": 4,
    "compile": 8,
    "hardware": 4,
}

DESCRIPTIONS = {
    "check": "Builds a kernel and checks its results on the shown shapes, without timing.",
    "profile": "Judges and times a kernel without a reward, and says where its time goes.",
    "sanitize": (
        "Runs a kernel under sanitizers: memory errors, undefined behaviour (processor), and races "
        "in shared memory (device), with their lines."
    ),
    "disassemble": "Shows the machine code of the innermost loops of a kernel, with source lines.",
    "compile": "Compiles a kernel: messages, vectorized loops, registers and spills.",
    "hardware": "Describes the device that judges and times kernels.",
}

INSTRUCTIONS = """hone judges compute kernels. It builds a submission, checks its results and \
compares its speed with a baseline. Call list_tasks, then get_task for the prompt, then submit. \
Read the feedback, and submit a better kernel with the same episode. Before you submit, you can \
examine a kernel: check, compile, sanitize, profile, disassemble, hardware. A call leaves \
the turn open. Each tool has a limited number of uses in an episode; left has the uses that are \
left. A call may also cost turns; turns_left has the turns that are left. Each episode has its own \
score. An unscored turn has no reward: the result says what to do next."""


class Listed(TypedDict):
    """Some of the tasks, and how many match."""

    tasks: list[dict[str, Any]]
    matching: int


class Described(TypedDict):
    """A task's public facts."""

    task: dict[str, Any]


class Turn(TypedDict):
    """One turn. If it has no score, ``reward`` is None and ``fault`` has the reason."""

    turn: int
    outcome: str
    reward: float | None
    reward_valid: bool
    speedup: float | None
    speedup_low: float | None
    speedup_high: float | None
    feedback: str
    fault: str


class State(TypedDict):
    """Where an episode stands."""

    episode: str
    task: str
    turns_left: int | None
    ended: bool
    best_speedup: float | None
    return_to_date: float | None


class Submitted(State):
    """A turn, and where its episode stands."""

    turn: Turn


class Examined(State):
    """The answer of a tool, and where its episode stands. ``left``: uses of each tool."""

    tool: str
    feedback: str
    facts: dict[str, Any]
    left: dict[str, int]


class History(State):
    """The turns of an episode, and where it stands."""

    turns: list[Turn]


@dataclass
class _Open:
    """An episode that an agent may continue."""

    handle: str
    episode: aio.Episode
    task: str
    turns: list[Turn] = field(default_factory=list)
    turns_left: int | None = None
    best_speedup: float | None = None
    return_to_date: float | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)  # one turn at a time
    in_doubt: bool = False  # a turn has no result here, but may have one on the server

    def add(self, result: StepResult) -> Turn:
        """Adds the result of a turn."""
        verdict = result.info.get("verdict") or {}
        speedup = verdict.get("speedup") or {}
        turn = Turn(
            turn=result.turn,
            outcome=str(verdict.get("outcome") or "unscored"),
            reward=result.reward,
            reward_valid=result.reward_valid,
            speedup=speedup.get("value"),
            speedup_low=speedup.get("low"),
            speedup_high=speedup.get("high"),
            feedback=str(result.observation.get("feedback") or ""),
            fault="" if result.reward_valid else str(result.info.get("fault") or "not judged"),
        )
        self.turns.append(turn)
        self.in_doubt = False
        self.turns_left = result.observation.get("turns_left")
        self.best_speedup = result.observation.get("best_speedup")
        self.return_to_date = result.return_to_date
        return turn

    def fail(self, error: HoneError) -> Turn:
        """Describes a turn without a result. The turn stays open, so it is not added."""
        return Turn(
            turn=self.episode.turn + 1,
            outcome="unscored",
            reward=None,
            reward_valid=False,
            speedup=None,
            speedup_low=None,
            speedup_high=None,
            feedback="",
            fault=_words(error),
        )

    def state(self) -> State:
        return State(
            episode=self.handle,
            task=self.task,
            turns_left=self.turns_left,
            ended=self.episode.ended,
            best_speedup=self.best_speedup,
            return_to_date=self.return_to_date,
        )


class _Episodes:
    """The open episodes by their handles.

    Rationale: MCP has no session to rely on (over HTTP, each call may come on a new connection), so
    an agent names its episode. A handle cannot be guessed, so agents that share a server do not
    reach each other's episodes.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._closing: set[asyncio.Future[None]] = set()

    def make_room(self, verb: str) -> None:
        """Drops episodes while all places are taken: ended ones, then the least recently used.

        Resets at the same time may take more places than there are, until the next call.

        Raises:
            ToolError: Each has a request in progress.
        """
        while len(self._open) >= self._limit:
            idle = [one for one in self._open.values() if not one.lock.locked()]
            if not idle:
                raise ToolError(f"{verb}: {len(self._open)} requests are in progress; wait for one")
            self.drop(next((one for one in idle if one.episode.ended), idle[0]))

    def add(self, start: Reset[aio.Episode]) -> _Open:
        """Adds an episode."""
        one = _Open(secrets.token_urlsafe(12), start.episode, str(start.info.get("task", "")))
        self._open[one.handle] = one
        return one

    def drop(self, one: _Open) -> None:
        """Forgets an episode if it is known, and closes it in the background."""
        if self._open.pop(one.handle, None) is None:
            return
        closing = asyncio.ensure_future(_close(one))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)

    def find(self, handle: str) -> _Open:
        """The episode of a handle.

        Raises:
            ToolError: There is none.
        """
        found = self._open.get(handle)
        if found is None:
            raise ToolError(
                f"episode: found no open episode {handle[:40]!r}; to start one, submit with a task"
                " and without an episode"
            )
        self._open.move_to_end(handle)
        return found

    async def close(self) -> None:
        """Closes all of them, within ``CLOSE_SECONDS``."""
        for one in list(self._open.values()):
            self.drop(one)
        if self._closing:
            await asyncio.wait(self._closing, timeout=CLOSE_SECONDS)


async def _close(one: _Open) -> None:
    if one.episode.ended:
        return
    with contextlib.suppress(HoneError):  # then its lease ends it
        await one.episode.close()


CODE = "the whole source of the kernel"
TASK = "starts a new episode of this task"
EPISODE = "continues the episode of this handle"
LANGUAGE = "if the task allows several"


class _Tools:
    """The tools and resources. Agents read their docstrings."""

    def __init__(self, settings: Settings, episodes: int, uses: Mapping[str, int]) -> None:
        self._settings = settings
        self._episodes = _Episodes(episodes)
        self._uses = uses
        self._has_tools: bool | None = None  # None: the server was not asked yet

    async def list_tasks(
        self,
        contains: Annotated[str, Field(description="a part of an id, title or tag")] = "",
        split: Annotated[str | None, Field(description="such as train or eval")] = None,
        limit: Annotated[int, Field(ge=1, le=TASKS)] = 50,
        offset: Annotated[int, Field(ge=0, description="tasks to skip")] = 0,
    ) -> Annotated[CallToolResult, Listed]:
        """Lists tasks: id, title, split, tags and backends."""
        tasks = await self._ask(lambda client: client.tasks(split=split))
        matching = [task for task in tasks if _matches(task, contains)]
        shown = matching[offset : offset + limit]
        lines = [
            f"{task.id}  {task.title}  ({', '.join([task.split, *task.backends, *task.tags])})"
            for task in shown
        ]
        if (following := len(matching) - offset - len(shown)) > 0:
            lines.append(f"{following} more: use contains, or offset {offset + limit}")
        listed = Listed(tasks=[dict(vars(task)) for task in shown], matching=len(matching))
        return _result("\n".join(lines) or "no task matches", listed)

    async def get_task(self, task: str) -> Annotated[CallToolResult, Described]:
        """Shows a task's prompt, with the reference and the rules. Does not start an episode."""
        described = await self._describe(task)
        facts = Described(task=_json(described["task"]))
        return _result(text_of(plain_messages(described)), facts)

    async def submit(
        self,
        context: Context,
        code: Annotated[str, Field(description=CODE)],
        task: Annotated[str, Field(description=TASK)] = "",
        episode: Annotated[str, Field(description=EPISODE)] = "",
        language: Annotated[str | None, Field(description=LANGUAGE)] = None,
    ) -> Annotated[CallToolResult, Submitted]:
        """Builds, tests and times a kernel. Give task to start an episode, or episode to go on."""
        async with self._use("submit", task, episode) as one:
            turn = await _judge(one, code, language, context)
        submitted = Submitted(**one.state(), turn=turn)
        return _result(_summary(submitted), submitted)

    def examine_with(self, name: str) -> Callable[..., Awaitable[CallToolResult]]:
        """The tool ``name`` of hone, for a kernel."""

        async def examine(
            context: Context,
            code: Annotated[str, Field(description=CODE)],
            task: Annotated[str, Field(description=TASK)] = "",
            episode: Annotated[str, Field(description=EPISODE)] = "",
            language: Annotated[str | None, Field(description=LANGUAGE)] = None,
        ) -> Annotated[CallToolResult, Examined]:
            return await self._examine(name, code, task, episode, language, context)

        return examine

    async def hardware(
        self,
        context: Context,
        task: Annotated[str, Field(description=TASK)] = "",
        episode: Annotated[str, Field(description=EPISODE)] = "",
    ) -> Annotated[CallToolResult, Examined]:
        """The tool ``hardware`` of hone, which needs no kernel."""
        return await self._examine("hardware", None, task, episode, None, context)

    async def history(self, episode: str) -> Annotated[CallToolResult, History]:
        """Lists the turns of an episode: outcomes, speedups and rewards."""
        one = self._episodes.find(episode)
        lines = [_line(turn) for turn in one.turns] or ["no turn yet"]
        history = History(**one.state(), turns=list(one.turns))
        return _result("\n".join([f"{one.task}, episode {one.handle}", *lines]), history)

    async def prompt(self, task: str) -> str:
        """The text that a model gets at the start of an episode of this task."""
        with _resource_errors():
            return text_of(plain_messages(await self._describe(task)))

    async def feedback(self, episode: str, turn: str) -> str:
        """The feedback of a turn."""
        with _resource_errors():
            turns = self._episodes.find(episode).turns
        for one in turns:
            if str(one["turn"]) == turn:
                return one["feedback"]
        raise ResourceNotFoundError(f"turn: found no turn {turn[:10]!r} in this episode")

    async def close(self) -> None:
        """Closes the episodes."""
        await self._episodes.close()

    async def _examine(
        self,
        name: str,
        code: str | None,
        task: str,
        episode: str,
        language: str | None,
        context: Context,
    ) -> CallToolResult:
        async with self._use(name, task, episode) as one:
            found = await _call(one, name, code, language, context)
        examined = Examined(
            **one.state(),
            tool=name,
            feedback=found.text,
            facts=_json(found.facts),
            left=found.left,
        )
        head = f"episode {one.handle}; uses left of {name}: {found.left.get(name, 0)}"
        return _result(f"{head}\n\n{found.text}".rstrip(), examined)

    @contextlib.asynccontextmanager
    async def _use(self, verb: str, task: str, episode: str) -> AsyncIterator[_Open]:
        """Starts or continues an episode for one request, and holds its lock."""
        if bool(task) == bool(episode):
            raise ToolError(f"{verb}: expected exactly one of task and episode")
        if task:
            self._episodes.make_room(verb)
            start = self._settings.episode(task, None, None)
            start["options"] = {**await self._tool_options(), **self._settings.options}
            one = self._episodes.add(await self._ask(lambda client: client.reset(**start)))
        else:
            one = self._episodes.find(episode)
        if one.lock.locked():
            raise ToolError(
                f"{verb}: a request of episode {one.handle} is in progress; wait for it"
            )
        async with one.lock:
            try:
                if one.in_doubt:
                    await self._resume(one)
                one.in_doubt = True
                yield one
            except BaseException:
                if task:
                    self._episodes.drop(one)  # its handle was not returned
                raise

    async def _tool_options(self) -> dict[str, Any]:
        """The reset option with the uses of tools, if the server's environment has tools."""
        if self._has_tools is None:
            described = await self._ask(lambda client: client.describe())
            self._has_tools = bool((described.get("environment") or {}).get("tools"))
        return {"tools": dict(self._uses)} if self._has_tools and self._uses else {}

    async def _resume(self, one: _Open) -> None:
        """Asks the server where an episode stands."""
        known = one.episode
        try:
            start = await self._ask(lambda client: client.resume(known.id, known.token))
        except ToolError as error:
            if not isinstance(error.__cause__, NotFound):
                raise
            self._episodes.drop(one)
            lost = f"episode {one.handle} no longer exists on the server; submit with a task"
            raise ToolError(lost) from error
        one.episode = start.episode

    async def _describe(self, task: str) -> dict[str, Any]:
        """A task's facts, and the prompt of an episode with the options."""
        body = {"task": task, "options": dict(self._settings.options)}
        return await self._ask(lambda client: client.call("describe", body))

    async def _ask(self, request: Callable[[aio.Client], Awaitable[T]]) -> T:
        try:
            return await request(await loop_client_of(self._settings))
        except HoneError as error:
            raise ToolError(_words(error)) from error


@contextlib.contextmanager
def _resource_errors() -> Iterator[None]:
    """MCP has other errors for resources than for tools."""
    try:
        yield
    except ToolError as error:
        raise ResourceNotFoundError(str(error)) from error


@contextlib.asynccontextmanager
async def _reports(context: Context) -> AsyncIterator[Callable[[Mapping[str, Any]], None]]:
    """Reports the stages of a request as MCP's progress, all of them before the answer."""
    reports: set[asyncio.Future[None]] = set()

    def report(body: Mapping[str, Any]) -> None:
        stage = str(body.get("stage", ""))
        progress = context.report_progress(len(reports) + 1, message=stage)
        reports.add(asyncio.ensure_future(progress))

    try:
        yield report
    finally:
        await asyncio.gather(*reports, return_exceptions=True)


async def _judge(one: _Open, code: str, language: str | None, context: Context) -> Turn:
    async with _reports(context) as report:
        try:
            step = one.episode.step(sendable(code), language=language, on_progress=report)
            return one.add(await step)
        except HoneError as error:
            if not is_fault(error, resetting=False):
                raise ToolError(_words(error)) from error
            return one.fail(error)


async def _call(
    one: _Open, name: str, code: str | None, language: str | None, context: Context
) -> ToolResult:
    """Calls a tool of hone. Even after a fault, the answer is an error: no turn is involved."""
    async with _reports(context) as report:
        source = None if code is None else sendable(code)
        try:
            found = await one.episode.tool(name, source, language=language, on_progress=report)
        except HoneError as error:
            raise ToolError(_words(error)) from error
    one.in_doubt = False
    one.turns_left = found.observation.get("turns_left")
    return found


def _words(error: HoneError) -> str:
    return f"{error.code}: {error}"


def _matches(task: Task, part: str) -> bool:
    return part.lower() in " ".join([task.id, task.title, *task.tags]).lower()


def _line(turn: Turn) -> str:
    """One turn as one line."""
    if not turn["reward_valid"]:
        return f"turn {turn['turn']}: not scored ({turn['fault']})"
    line = f"turn {turn['turn']}: {turn['outcome']}"
    if turn["speedup"] is not None:
        line += f", speedup {turn['speedup']:.3f}"
        line += f" ({turn['speedup_low']:.3f} to {turn['speedup_high']:.3f})"
    return line + ("" if turn["reward"] is None else f", reward {turn['reward']:.3f}")


def _summary(submitted: Submitted) -> str:
    """A turn and its feedback as a text."""
    turn = submitted["turn"]
    if submitted["ended"]:
        next_step = "the episode has ended"
    elif turn["fault"].startswith("deadline_exceeded"):
        next_step = "there was no verdict in time: submit the same or a faster kernel"
    elif not turn["reward_valid"]:
        next_step = "the kernel is not to blame: submit it again"
    else:
        next_step = f"turns left: {submitted['turns_left']}"
    head = f"{_line(turn)}\nepisode {submitted['episode']}; {next_step}"
    return f"{head}\n\n{turn['feedback']}".rstrip()


def _result(text: str, structured: Mapping[str, Any]) -> CallToolResult:
    """An answer as a text for the model and as data for its program."""
    content = [TextContent(type="text", text=text)]
    return CallToolResult(content=content, structured_content=dict(structured))


def _json(value: object) -> Any:  # noqa: ANN401
    """A value of the protocol as JSON can hold it: floats that are not finite become text."""
    if isinstance(value, Mapping):
        return {str(key): _json(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def server(
    settings: Settings, *, episodes: int = EPISODES, uses: Mapping[str, int] = TOOL_USES
) -> tuple[MCPServer, _Tools]:
    """Returns the MCP server and its tools, whose ``close()`` closes the episodes.

    Args:
        settings: The hone server and the rules of the episodes.
        episodes: How many to keep; see ``EPISODES``.
        uses: Uses of each of hone's tools in an episode.
    """
    tools = _Tools(settings, episodes, uses)
    mcp = MCPServer("hone", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING")
    read_only = ToolAnnotations(read_only_hint=True)
    for tool in (tools.list_tasks, tools.get_task, tools.history):
        mcp.tool(annotations=read_only)(tool)
    closed_world = ToolAnnotations(destructive_hint=False, open_world_hint=False)
    mcp.tool(annotations=closed_world)(tools.submit)
    for name, count in uses.items():
        if count > 0:
            examine = tools.hardware if name == "hardware" else tools.examine_with(name)
            mcp.tool(name=name, description=DESCRIPTIONS[name], annotations=closed_world)(examine)
    mcp.resource("hone://tasks/{+task}", name="prompt", mime_type="text/markdown")(tools.prompt)
    mcp.resource("hone://episodes/{episode}/turns/{turn}", name="feedback")(tools.feedback)
    return mcp, tools


class _Guarded:
    """Passes requests that have the token to an ASGI application; answers others with 401."""

    def __init__(self, app: Callable[..., Awaitable[None]], token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(
        self,
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[Any]],
        send: Callable[[Any], Awaitable[None]],
    ) -> None:
        if scope["type"] == "lifespan" or self._admits(scope):
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            refused = PlainTextResponse(
                "expected the header 'Authorization: Bearer TOKEN'\n",
                status_code=401,
                headers={"WWW-Authenticate": "Bearer"},
            )
            await refused(scope, receive, send)

    def _admits(self, scope: Mapping[str, Any]) -> bool:
        given = dict(scope.get("headers") or []).get(b"authorization", b"")
        scheme, _, token = given.partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token, self._token)


def read_token(path: Path) -> str:
    """The token in a file; makes the file if there is none.

    Raises:
        ValueError: Other users have access to the file, or the token is too short, or
            contains spaces or characters that are not ASCII.
        OSError: The file cannot be read or made.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        pass
    else:
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(32) + "\n")
    with path.open() as file:
        mode = os.fstat(file.fileno()).st_mode & 0o777
        if mode & 0o077:
            raise ValueError(f"{path}: other users have access (mode {mode:o}); chmod 600 {path}")
        token = file.read(4096).strip()
    if len(token) < TOKEN_CHARACTERS:
        raise ValueError(
            f"{path}: found a token of {len(token)} characters, expected at least"
            f" {TOKEN_CHARACTERS}"
        )
    if not token.isascii() or any(character.isspace() for character in token):
        raise ValueError(
            f"{path}: found a token with spaces or non-ASCII characters, expected at least"
            f" {TOKEN_CHARACTERS} ASCII characters without spaces"
        )
    return token


async def _serve_http(mcp: MCPServer, tools: _Tools, host: str, port: int, token: str) -> None:
    class Closing(AnnouncingServer):
        """Closes the episodes at its end."""

        async def shutdown(self, sockets: Any = None) -> None:  # noqa: ANN401
            """The last that runs: after it, uvicorn raises the signal that ended the server."""
            await super().shutdown(sockets=sockets)
            await tools.close()

    # Rationale: the SDK checks the header Host against DNS rebinding. The token does more, and
    # the check would refuse requests through a proxy.
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = _Guarded(mcp.streamable_http_app(host=host, transport_security=unchecked), token)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        timeout_graceful_shutdown=math.ceil(CLOSE_SECONDS),
    )
    await Closing(config, "serving MCP on {url}/mcp").serve()


async def _serve(settings: Settings, given: argparse.Namespace, token: str) -> None:
    mcp, tools = server(settings, episodes=given.episodes, uses=given.tools)
    if given.http is not None:
        host, port = given.http
        await _serve_http(mcp, tools, host, port, token)
        return
    try:
        await mcp.run_stdio_async()
    finally:
        await tools.close()


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not (colon and host and port.isdecimal() and int(port) < 65536):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected HOST:PORT")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _count(text: str) -> int:
    if not (text.isdecimal() and 1 <= int(text) <= 100_000):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected a number from 1 to 100000")
    return int(text)


def _tool_uses(text: str) -> dict[str, int]:
    """Reads ``check=8,profile=4``; ``none`` for no tools."""
    given = tools_argument(text)
    for name, count in given.items():
        if name not in TOOL_USES or count > 1000:
            raise argparse.ArgumentTypeError(
                f"found '{name}={count}', expected NAME=N with N up to 1000 and a name of "
                f"{', '.join(TOOL_USES)}"
            )
    return {**dict.fromkeys(TOOL_USES, 0), **given}


def main(arguments: Sequence[str] | None = None) -> None:
    """``python -m hone mcp``: serves until its input ends or it is interrupted."""
    parser = argparse.ArgumentParser(prog="python -m hone mcp", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--endpoint",
        default=DEFAULT_ENDPOINT,
        help="address of hone serve (default: %(default)s)",
    )
    parser.add_argument("--key", metavar="FILE", help="key file, if the server requires keys")
    parser.add_argument(
        "--max-turns", type=_count, metavar="N", help="turns per episode (default: the server's)"
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=600.0,
        metavar="S",
        help="limit of a request (s, default: %(default)s)",
    )
    parser.add_argument(
        "--episodes",
        type=_count,
        default=EPISODES,
        metavar="N",
        help="episodes kept (default: %(default)s)",
    )
    default_uses = ",".join(f"{name}={count}" for name, count in TOOL_USES.items())
    parser.add_argument(
        "--tools",
        type=_tool_uses,
        default=default_uses,
        metavar="NAME=N,...",
        help="uses of each tool in an episode, or none "
        "(default: 8 of check and compile, 4 of the others)",
    )
    parser.add_argument(
        "--http", type=_address, metavar="HOST:PORT", help="serve HTTP instead of stdio"
    )
    parser.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help="file with the token for --http; made with a random token if there is none",
    )
    given = parser.parse_args(arguments)
    token = ""
    if given.http is None and given.token_file is not None:
        parser.error("--token-file: expected --http, since stdio needs no token")
    if given.http is not None:
        if given.token_file is None:
            parser.error("--http: expected --token-file, so that only your agents can submit code")
        try:
            token = read_token(given.token_file)
        except (OSError, ValueError) as error:
            parser.error(f"--token-file: {error}")
    options = {} if given.max_turns is None else {"max_turns": given.max_turns}
    settings = Settings(given.endpoint, options=options, timeout=given.timeout, key=given.key)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(settings, given, token))


if __name__ == "__main__":
    main()
