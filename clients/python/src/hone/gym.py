"""The Gymnasium environment ``hone/KernelRefine-v0``. Needs the extra ``hone-rl[gym]``.

    import gymnasium
    import hone.gym

    env = gymnasium.make("hone/KernelRefine-v0", task="add_relu", options={"max_turns": 4})
    observation, info = env.reset(seed=7)
    observation, reward, terminated, truncated, info = env.step(policy(observation["text"]))

``KernelRefineEnv`` says what observations, actions and rewards are.
"""

from __future__ import annotations

import contextlib
import string
from collections.abc import Mapping
from typing import Any

try:
    import gymnasium
    import numpy as np
    from gymnasium import spaces
    from gymnasium.envs.registration import register, registry
    from numpy.typing import NDArray
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"hone.gym needs {missing.name}, which is not installed: pip install 'hone-rl[gym]' "
        "(in a checkout of hone: pip install './clients/python[gym]')",
        name=missing.name,
    ) from missing

from ._requests import DEFAULT_ENDPOINT, PathLike
from .client import Client, Episode, connect
from .types import StepResult

Observation = dict[str, Any]

ENV_ID = "hone/KernelRefine-v0"

SOURCE_CHARACTERS_MAX = 65_536
TEXT_CHARACTERS_MAX = 1 << 24


class Unicode(spaces.Text):
    """Text with any characters: ``Text`` itself refuses whatever its charset does not list.

    Samples are printable ASCII, as ``Text`` draws them.
    """

    def __init__(self, max_length: int, *, sample_length: int = 256) -> None:
        self._length_max = max_length
        super().__init__(
            min(sample_length, max_length), min_length=0, charset=string.printable.strip() + " \n\t"
        )

    def contains(self, x: Any) -> bool:  # noqa: ANN401 - Gymnasium's signature
        """Whether x is a str of no more than the allowed characters."""
        return isinstance(x, str) and len(x) <= self._length_max

    def __repr__(self) -> str:
        return f"Unicode({self._length_max})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unicode) and other._length_max == self._length_max

    __hash__ = None  # type: ignore[assignment]


class KernelRefineEnv(gymnasium.Env[Observation, str]):
    """One episode at a time on a server of hone.

    Observation (a dict): ``text``, the new messages of this turn for a model to read; ``feedback``,
    hone's words about the last submission; ``turn`` and ``turns_left``, int64 arrays of shape (1,).
    The structured observation is in ``info["observation"]``.

    Action: a str: a whole model response, or with ``action="code"`` a kernel's source.

    Reward: finite always. An unscored step has reward 0.0 and ``info["reward_valid"]`` False: leave
    it out of training.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        endpoint: str = DEFAULT_ENDPOINT,
        task: str | None = None,
        *,
        split: str | None = None,
        group: str | None = None,
        options: Mapping[str, Any] | None = None,
        action: str = "response",
        timeout: float = 600.0,
        reconnect_timeout: float = 30.0,
        render_mode: str | None = None,
        key: PathLike | None = None,
        server_key: PathLike | None = None,
    ) -> None:
        """Connects to the server.

        Args:
            endpoint: ZeroMQ address of ``hone serve``.
            task: ``"dataset/id"`` or ``"id"``; None draws one at every reset, with its seed.
            split: Where to draw from.
            group: Samples of one task that share a device model and one baseline.
            options: Options of the episode, such as ``{"max_turns": 4}``.
            action: What a str is: ``"response"`` or ``"code"``.
            timeout: Seconds a step may take.
            reconnect_timeout: As in ``hone.connect``.
            render_mode: ``"ansi"`` or None.
            key: As in ``hone.connect``.
            server_key: As in ``hone.connect``.

        Raises:
            ValueError: An unknown action or render mode.
            hone.Unavailable: No server answered.
        """
        if action not in ("response", "code"):
            raise ValueError(f"action: found {action!r}, expected 'response' or 'code'")
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(f"render_mode: found {render_mode!r}, expected 'ansi' or None")
        self.render_mode = render_mode
        self.observation_space = spaces.Dict(
            {
                "text": Unicode(TEXT_CHARACTERS_MAX),
                "feedback": Unicode(TEXT_CHARACTERS_MAX),
                "turn": spaces.Box(0, np.iinfo(np.int64).max, (1,), np.int64),
                "turns_left": spaces.Box(0, np.iinfo(np.int64).max, (1,), np.int64),
            }
        )
        self.action_space = Unicode(SOURCE_CHARACTERS_MAX)
        self._task, self._split, self._group = task, split, group
        self._options = dict(options or {})
        self._action = action
        self._client: Client | None = connect(
            endpoint,
            timeout=timeout,
            reconnect_timeout=reconnect_timeout,
            key=key,
            server_key=server_key,
        )
        self._episode: Episode | None = None
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
            options=episode_options,
        )
        self._episode = start.episode
        observation = self._observe(start.observation)
        self._transcript = observation["text"]
        return observation, {**start.info, "observation": start.observation}

    def step(self, action: str) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Submits the action and waits for its verdict.

        Raises:
            gymnasium.error.ResetNeeded: There is no open episode.
        """
        if self._episode is None:
            raise gymnasium.error.ResetNeeded("step needs an open episode: call reset first")
        client = self._connected()
        if self._action == "code":
            result = client.step(self._episode, action)
        else:
            result = client.step(self._episode, response=action)
        if result.ended:
            self._episode = None
        observation = self._observe(result.observation)
        self._transcript += "\n" + observation["text"]
        reward = 0.0 if result.reward is None else float(result.reward)
        if not np.isfinite(reward):
            reward = 0.0
        return observation, reward, result.terminated, result.truncated, self._info(result)

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

    def _connected(self) -> Client:
        if self._client is None:
            raise gymnasium.error.ClosedEnvironmentError("the environment is closed")
        return self._client

    def _end_episode(self) -> None:
        episode, self._episode = self._episode, None
        if episode is not None and self._client is not None:
            with contextlib.suppress(ConnectionError):  # lost with its server: nothing to close
                self._client.close_episode(episode)

    @staticmethod
    def _info(result: StepResult) -> dict[str, Any]:
        return {
            **result.info,
            "reward_valid": result.reward_valid,
            "return_to_date": result.return_to_date,
            "returns": result.returns,
            "observation": result.observation,
        }

    @staticmethod
    def _observe(observation: Mapping[str, Any]) -> Observation:
        messages = observation.get("messages") or []
        # A step's messages repeat the assistant's own words, which the policy knows.
        new = [m["content"] for m in messages if m.get("role") != "assistant"]
        return {
            "text": "\n\n".join(new),
            "feedback": observation.get("feedback") or "",
            "turn": _count(observation.get("turn")),
            "turns_left": _count(observation.get("turns_left")),
        }


def _count(value: int | None) -> NDArray[np.int64]:
    return np.array([max(0, value or 0)], dtype=np.int64)


if ENV_ID not in registry:
    register(id=ENV_ID, entry_point="hone.gym:KernelRefineEnv", nondeterministic=True)
