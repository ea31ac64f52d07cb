"""Gymnasium's ``hone/KernelRefine-v0`` and ``hone/Autotune-v0``. Needs ``hone-rl[gym]``.

    import gymnasium
    import hone.gym

    env = gymnasium.make("hone/KernelRefine-v0", task="add_relu", options={"max_turns": 4})
    observation, info = env.reset(seed=7)
    observation, reward, terminated, truncated, info = env.step(policy(observation["text"]))

``KernelRefineEnv`` and ``AutotuneEnv`` describe their observations, actions and rewards.
``gymnasium.make_vec`` makes a vector of either over one connection: ``hone.gym_vector``.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ._gym_forms import (
    SOURCE_CHARACTERS_MAX,
    TEXT_CHARACTERS_MAX,
    AutotuneForm,
    Form,
    KernelRefineForm,
    Observation,
    Unicode,
    info_of,
    options_of,
    reward_of,
    text_of,
)

import gymnasium  # isort: skip - the import above says what to install where it is missing
from gymnasium.envs.registration import register, registry  # isort: skip

from ._requests import DEFAULT_ENDPOINT, PathLike
from .client import Client, Episode, connect
from .pool import leave
from .types import ToolResult
from .vector import step_request

ENV_ID = "hone/KernelRefine-v0"
AUTOTUNE_ID = "hone/Autotune-v0"

__all__ = [
    "AUTOTUNE_ID",
    "ENV_ID",
    "SOURCE_CHARACTERS_MAX",
    "TEXT_CHARACTERS_MAX",
    "AutotuneEnv",
    "HoneEnv",
    "KernelRefineEnv",
    "Observation",
    "Unicode",
]


class HoneEnv(gymnasium.Env[Observation, Any]):
    """One episode at a time on a server of hone; ``KernelRefineEnv`` and ``AutotuneEnv`` are it.

    Reward: finite always. An unscored step has reward 0.0 and ``info["reward_valid"]`` False: leave
    it out of training.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        endpoint: str | Sequence[str] = DEFAULT_ENDPOINT,
        task: str | None = None,
        *,
        split: str | None = None,
        group: str | None = None,
        max_turns: int | None = None,
        options: Mapping[str, Any] | None = None,
        timeout: float = 600.0,
        connect_timeout: float = 10.0,
        reconnect_timeout: float = 30.0,
        render_mode: str | None = None,
        key: PathLike | None = None,
        server_key: PathLike | None = None,
    ) -> None:
        """Connects to the server.

        Args:
            endpoint: ZeroMQ address of ``hone serve``, or a list of them.
            task: ``"dataset/id"`` or ``"id"``; None draws one at every reset, with its seed.
            split: Where to draw from.
            group: Samples of one task that share a device model and one baseline.
            max_turns: Turns of an episode; None for the server's default.
            options: More options of the episode, such as ``{"reward": "kevin"}``.
            timeout: Seconds a step may take.
            connect_timeout: As in ``hone.connect``.
            reconnect_timeout: As in ``hone.connect``.
            render_mode: ``"ansi"`` or None.
            key: As in ``hone.connect``.
            server_key: As in ``hone.connect``.

        Raises:
            ValueError: An unknown render mode, or ``options`` with another ``max_turns``.
            hone.Unavailable: No server answered.
        """
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(f"render_mode: found {render_mode!r}, expected 'ansi' or None")
        self.render_mode = render_mode
        self._task, self._split, self._group = task, split, group
        self._options = options_of(options, max_turns)
        self._client: Client | None = connect(
            endpoint,
            timeout=timeout,
            connect_timeout=connect_timeout,
            reconnect_timeout=reconnect_timeout,
            key=key,
            server_key=server_key,
        )
        try:
            self._form = self._make_form(self._client)
        except BaseException:
            self._client.close()
            self._client = None
            raise
        self.observation_space = self._form.observation_space
        self.action_space = self._form.action_space
        self._episode: Episode | None = None
        self._dropped: weakref.finalize[Any, HoneEnv] | None = None
        self._transcript = ""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Starts an episode; one that is still open is closed.

        Args:
            seed: Draws the task and goes to the server as the episode's seed.
            options: ``task``, ``split`` and ``group`` override the environment's own; all other
                keys are options of the episode.
        """
        super().reset(seed=seed)
        chosen = {"task": self._task, "split": self._split, "group": self._group}
        episode_options = dict(self._options)
        for key, value in (options or {}).items():
            (chosen if key in chosen else episode_options)[key] = value
        if seed is None:
            seed = int(self.np_random.integers(2**31))
        self._end_episode()
        start = self._connected().reset(
            chosen["task"],
            split=chosen["split"],
            group=chosen["group"],
            seed=seed,
            environment=self._form.environment,
            options=episode_options,
        )
        self._episode = start.episode
        self._dropped = weakref.finalize(self, leave, self._connected(), [start.episode])
        self._dropped.atexit = False
        self._transcript = text_of(start.observation)
        observation = self._form.observe(start.observation)
        return observation, {**start.info, "observation": start.observation}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:  # noqa: ANN401
        """Submits the action and waits for its verdict.

        Raises:
            gymnasium.error.ResetNeeded: There is no open episode.
        """
        if self._episode is None:
            raise gymnasium.error.ResetNeeded("step needs an open episode: call reset first")
        form = self._form
        request = step_request(self._episode, form.action(action), form.responses)
        result = self._connected()._ask(request)
        if result.ended:
            self._episode = None
        self._transcript += "\n" + text_of(result.observation)
        observation = form.observe(result.observation)
        return (
            observation,
            reward_of(result),
            result.terminated,
            result.truncated,
            info_of(result),
        )

    def render(self) -> str | None:
        """The episode's messages so far, with render mode ``"ansi"``."""
        return self._transcript if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Closes the episode and the connection. May be called twice."""
        if self._client is None:
            return
        try:
            self._end_episode()
        finally:
            self._client.close()
            self._client = None

    def _make_form(self, client: Client) -> Form:
        """The spaces."""
        raise NotImplementedError

    def _connected(self) -> Client:
        if self._client is None:
            raise gymnasium.error.ClosedEnvironmentError("the environment is closed")
        return self._client

    def _end_episode(self) -> None:
        episode, self._episode = self._episode, None
        if self._dropped is not None:
            self._dropped.detach()
        if episode is not None and self._client is not None:
            with contextlib.suppress(ConnectionError):  # it was lost with its server
                self._client.close_episode(episode)


class KernelRefineEnv(HoneEnv):
    """A model refines a kernel.

    Observation (a dict): ``text``, the new messages of this turn for a model to read; ``feedback``,
    hone's words about the last submission; ``turn`` and ``turns_left``, int64 arrays of shape (1,).
    The structured observation is in ``info["observation"]``.

    Action: a str: a whole model response, or with ``action="code"`` a kernel's source.

    Tools (``options={"tools": {"check": 4}}``) are the method ``call_tool``, and not an action.
    Rationale: a step of Gymnasium has a reward and counts towards time limits, but a tool call has
    no reward and leaves the turn open. The action space stays the same with and without tools.
    ``info["observation"]`` has ``tools`` (schemas, after ``reset``) and ``tools_left``. With
    wrappers, call ``env.unwrapped.call_tool``.
    """

    def __init__(
        self,
        endpoint: str | Sequence[str] = DEFAULT_ENDPOINT,
        task: str | None = None,
        *,
        action: Literal["response", "code"] = "response",
        split: str | None = None,
        group: str | None = None,
        max_turns: int | None = None,
        options: Mapping[str, Any] | None = None,
        timeout: float = 600.0,
        connect_timeout: float = 10.0,
        reconnect_timeout: float = 30.0,
        render_mode: str | None = None,
        key: PathLike | None = None,
        server_key: PathLike | None = None,
    ) -> None:
        """Connects like ``HoneEnv``. ``action``: whether a str is a ``response`` or ``code``."""
        self._action_form = KernelRefineForm(action)
        super().__init__(
            endpoint,
            task,
            split=split,
            group=group,
            max_turns=max_turns,
            options=options,
            timeout=timeout,
            connect_timeout=connect_timeout,
            reconnect_timeout=reconnect_timeout,
            render_mode=render_mode,
            key=key,
            server_key=server_key,
        )

    def call_tool(
        self,
        name: str,
        code: str | None = None,
        *,
        response: str | None = None,
        language: str | None = None,
    ) -> ToolResult:
        """Examines a kernel without ending the turn, as ``hone.Episode.tool``.

        Args:
            name: ``check``, ``profile``, ``sanitize``, ``disassemble``, ``compile`` or
                ``hardware``.
            code: Source of the kernel; ``hardware`` needs none.
            response: A whole model response; the server extracts the code.
            language: Language of ``code``; None for the task's own.

        Returns:
            ``text`` for a policy to read, ``facts``, and ``left``, the uses of each tool that are
            left.

        Raises:
            gymnasium.error.ResetNeeded: There is no open episode.
            hone.FailedPrecondition: The episode does not have the tool, or its uses are spent.
            hone.InvalidArgument: There is no such tool, or the code is empty or not text.
        """
        if self._episode is None:
            raise gymnasium.error.ResetNeeded("call_tool needs an open episode: call reset first")
        result = self._episode.tool(name, code, response=response, language=language)
        self._transcript += "\n" + result.text
        return result

    def _make_form(self, client: Client) -> Form:
        return self._action_form


class AutotuneEnv(HoneEnv):
    """A policy chooses how a matrix product is blocked (docs/environments.md).

    Observation (a dict): ``choice``, the last one's number, or the number of choices before the
    first; its ``speedup`` and ``gflops``, and ``best_speedup``, float64 arrays of shape
    (1,), 0 for none; ``turn`` and ``turns_left``, int64 arrays of shape (1,).

    Action: Discrete, a choice's number. ``info["observation"]["choice"]`` has its knobs.
    """

    def _make_form(self, client: Client) -> Form:
        return AutotuneForm(client)


for name in ("KernelRefine", "Autotune"):
    if f"hone/{name}-v0" not in registry:
        register(
            id=f"hone/{name}-v0",
            entry_point=f"hone.gym:{name}Env",
            vector_entry_point=f"hone.gym_vector:{name}VectorEnv",
            nondeterministic=True,
        )
