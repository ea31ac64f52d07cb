"""For verifiers (``verifiers.v1``, 0.4): a taskset of a server's tasks and the environment over it.

    vf-eval hone-kernels -m MODEL --no-push --client.base-url http://127.0.0.1:8000/v1
        --env.taskset.endpoint tcp://127.0.0.1:5917

finds it as the module ``hone_kernels``. The environment speaks first: hone's prompt, then its
feedback after each answer. With the option ``tools``, the player may call the episode's tools
before it answers. A fault of the machine fails the episode (``episode.ok`` False, no
reward), which ``--env.retries`` plays again. See docs/trainers/verifiers.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hone._requests import DEFAULT_ENDPOINT

from ._play import AsyncPlay, Settings, client_of
from ._record import Message, text_of
from ._tools import NO_MORE_CALLS
from ._versions import require

require("hone.adapters.verifiers", "verifiers", "0.4", "0.5")

import httpx  # noqa: E402 - a dependency of verifiers, after the check of its version
import verifiers.v1 as vf  # noqa: E402
from verifiers.v1.dialects.chat import message_to_wire  # noqa: E402
from verifiers.v1.runtimes import ProgramResult, SubprocessConfig  # noqa: E402

MODEL_SECONDS_MAX = 3600.0


class HoneTasksetConfig(vf.TasksetConfig):  # type: ignore[misc]
    """The server and the episodes' rules, as in ``Settings``: ``--env.taskset.*``."""

    endpoint: str | list[str] = DEFAULT_ENDPOINT
    split: str | None = None
    options: dict[str, Any] = {}  # noqa: RUF012 - pydantic copies it
    timeout: float = Settings.timeout
    connect_timeout: float = Settings.connect_timeout
    reconnect_timeout: float = Settings.reconnect_timeout
    key: str | None = None
    server_key: str | None = None
    retries: int = Settings.retries

    def settings(self) -> Settings:
        """The same as ``Settings``."""
        names = Settings.__dataclass_fields__
        return Settings(**{name: getattr(self, name) for name in names})


class HoneData(vf.TaskData):  # type: ignore[misc]
    """A task's name on the server. The prompt and the function tools come with the episode."""

    hone_task: str
    hone_tools: list[dict[str, Any]] = []  # noqa: RUF012 - pydantic copies it


class HoneState(vf.State):  # type: ignore[misc]
    """Whether the player may call tools in its next answer."""

    may_call: bool = True


class HoneTask(vf.Task[HoneData, HoneState, vf.TaskConfig]):  # type: ignore[misc]
    """One task of a server."""


class HoneTaskset(vf.Taskset[HoneTask, HoneTasksetConfig]):  # type: ignore[misc]
    """Every task of a server, in its order."""

    def load(self) -> Iterator[HoneTask]:
        """Lists the tasks.

        Raises:
            hone.Unavailable: No server answered.
        """
        settings = self.config.settings()
        for task in client_of(settings).tasks(split=settings.split):
            data = HoneData(id=task.id, name=task.id, description=task.title, hone_task=task.id)
            yield HoneTask(data, self.config.task)


class HoneEnvConfig(vf.EnvConfig):  # type: ignore[misc]
    """The player needs no sandbox: hone judges kernels, and runs its tools, in its own sandbox."""

    player: vf.AgentConfig = vf.AgentConfig(runtime=SubprocessConfig())


class FaultError(RuntimeError):
    """A fault of the machine: the episode must not be trained on."""


class HoneEnv(vf.Env[HoneEnvConfig]):  # type: ignore[misc]
    """One episode: hone's prompt, the player's kernel, hone's feedback, until either ends it."""

    async def run(self, task: HoneTask, agents: Any) -> None:  # noqa: ANN401 - verifiers' Agents
        """Plays an episode and records its return as the reward ``hone``.

        Raises:
            FaultError: The machine was at fault; verifiers makes it the episode's error.
            hone.HoneError: The request is wrong.
        """
        play = AsyncPlay(self.taskset.config.settings())
        messages = await play.start(task.data.hone_task)
        try:
            if play.record.fault is not None:
                raise FaultError(play.record.fault)
            system = [m for m in messages if m["role"] == "system"]
            spoken = task.with_data(
                system_prompt=text_of(system) or None, hone_tools=play.tools.functions
            )
            async with agents.player.interaction(spoken) as interaction:
                await _converse(interaction, play, [m for m in messages if m not in system])
                trace = interaction.trace
        finally:
            record = await play.finish()
        trace.info["hone"] = record.details()
        if record.fault is not None:
            raise FaultError(record.fault)
        # A failed model leaves a trace that is not ok: a provider's failure must not score 0.
        if trace.ok and record.score is not None:
            trace.record_reward("hone", record.score)
            trace.record_metric("turns", float(record.turns))
            if record.best_speedup is not None:
                trace.record_metric("speedup", record.best_speedup)


async def _converse(interaction: Any, play: AsyncPlay, messages: list[Message]) -> None:  # noqa: ANN401
    """Answers each tool call and submits each answer, until the episode or the model ends."""
    said: str | list[Any] = text_of(messages)
    while True:
        may_call = interaction.trace.state.may_call = play.tools.may_call
        segment = await interaction.turn(said)
        if segment.terminated:
            return
        calls = _calls(segment)
        if calls and may_call:
            said = [_answer(call, await play.call(call.name, call.arguments)) for call in calls]
        else:
            feedback = text_of(await play.step(response=segment.last_reply))
            # Some providers refuse a conversation in which a call has no answer.
            unmade = [_answer(call, NO_MORE_CALLS) for call in calls]
            said = [*unmade, vf.UserMessage(content=feedback)] if unmade else feedback
        if play.record.ended:
            return


def _calls(segment: Any) -> list[Any]:  # noqa: ANN401
    """The tool calls of the last answer."""
    answers = [one for one in segment.messages if isinstance(one, vf.AssistantMessage)]
    return list(answers[-1].tool_calls or []) if answers else []


def _answer(call: Any, text: str) -> Any:  # noqa: ANN401
    return vf.ToolMessage(tool_call_id=call.id, name=call.name, content=text)


class HoneHarnessConfig(vf.HarnessConfig):  # type: ignore[misc]
    """Has no settings."""


class HoneHarness(vf.Harness[HoneHarnessConfig]):  # type: ignore[misc]
    """Calls the model from this process: no sandbox, no program to install."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: Any,  # noqa: ANN401 - verifiers' types
        trace: Any,  # noqa: ANN401
        runtime: Any,  # noqa: ANN401
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: Any,  # noqa: ANN401
    ) -> ProgramResult:
        """Sends the conversation to verifiers' endpoint, which records the model's answer."""
        system, prompt = self.resolve_prompt(data)
        messages: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
        if isinstance(prompt, str):
            messages.append({"role": "user", "content": prompt})
        else:
            given = prompt or []
            messages += [message_to_wire(one) for one in given]
        body: dict[str, Any] = {"model": ctx.model, "messages": messages}
        if data.hone_tools:
            choice = "auto" if trace.state.may_call else "none"
            body |= {"tools": data.hone_tools, "tool_choice": choice}
        async with httpx.AsyncClient(timeout=MODEL_SECONDS_MAX, trust_env=False) as client:
            reply = await client.post(
                f"{endpoint}/chat/completions",
                json=body,
                headers={"Authorization": f"Bearer {secret}"},
            )
        failed = reply.status_code != 200
        return ProgramResult(int(failed), "", reply.text[-2000:] if failed else "")


__all__ = [
    "FaultError",
    "HoneData",
    "HoneEnv",
    "HoneEnvConfig",
    "HoneHarness",
    "HoneHarnessConfig",
    "HoneState",
    "HoneTask",
    "HoneTaskset",
    "HoneTasksetConfig",
]
