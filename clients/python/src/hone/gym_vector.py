"""Gymnasium's vector environments over one connection: hundreds of episodes from one process.

    import gymnasium
    import hone.gym

    envs = gymnasium.make_vec("hone/KernelRefine-v0", num_envs=4, task="add_relu")
    observations, infos = envs.reset(seed=7)
    observations, rewards, terminated, truncated, infos = envs.step(
        [policy(text) for text in observations["text"]]
    )
    envs.close()

Steps of all environments are under way at once. What observations, actions and rewards are of one,
``hone.gym`` says.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from ._gym_forms import (
    AutotuneForm,
    Form,
    KernelRefineForm,
    info_of,
    options_of,
    reward_of,
    text_of,
)
from ._requests import DEFAULT_ENDPOINT, PathLike
from .client import Client, connect
from .errors import HoneError
from .pool import Places

import numpy as np  # isort: skip
from gymnasium.error import ClosedEnvironmentError, ResetNeeded  # isort: skip
from gymnasium.utils import seeding  # isort: skip
from gymnasium.vector import AutoresetMode, VectorEnv  # isort: skip
from gymnasium.vector.utils import (  # isort: skip
    batch_space,
    concatenate,
    create_empty_array,
    iterate,
)
from numpy.typing import NDArray  # isort: skip

Flags = NDArray[np.bool_]
Stepped = tuple[Any, NDArray[np.float64], Flags, Flags, dict[str, Any]]


class HoneVectorEnv(VectorEnv[Any, Any, Any]):
    """``num_envs`` episodes; ``KernelRefineVectorEnv`` and ``AutotuneVectorEnv`` are it.

    ``infos`` has an array for each key, and a mask ``_key``: ``reward_valid`` says which rewards
    are some. Where an episode is over, ``autoreset_mode`` says what follows:

    * ``NextStep``: its next action is not looked at and starts another, with reward 0.
    * ``SameStep``: another is started in the same step; the last observation and info are in
      ``infos["final_obs"]`` and ``infos["final_info"]``.
    * ``Disabled``: ``reset(options={"reset_mask": array})`` starts others.

    A step that fails with its connection or server raises, once all have been answered.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012

    _client: Client | None = None

    def __init__(
        self,
        num_envs: int = 1,
        endpoint: str | Sequence[str] = DEFAULT_ENDPOINT,
        task: str | None = None,
        *,
        split: str | None = None,
        group: str | None = None,
        max_turns: int | None = None,
        options: Mapping[str, Any] | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        timeout: float = 600.0,
        connect_timeout: float = 10.0,
        reconnect_timeout: float = 30.0,
        render_mode: str | None = None,
        key: PathLike | None = None,
        server_key: PathLike | None = None,
    ) -> None:
        """Connects once for all; arguments are those of ``hone.gym.HoneEnv``.

        Raises:
            ValueError: An unknown render or autoreset mode, no environments, or ``options`` with
                another ``max_turns``.
            hone.Unavailable: No server answered.
        """
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(f"render_mode: found {render_mode!r}, expected 'ansi' or None")
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = render_mode
        self.num_envs = num_envs
        self._task, self._split, self._group = task, split, group
        self._options = options_of(options, max_turns)
        self._client = connect(
            endpoint,
            timeout=timeout,
            connect_timeout=connect_timeout,
            reconnect_timeout=reconnect_timeout,
            key=key,
            server_key=server_key,
        )
        try:
            self._form = self._make_form(self._client)
            self._places = Places(self._client, num_envs)
        except BaseException:
            self._client.close()
            self._client = None
            raise
        self.single_observation_space = self._form.observation_space
        self.single_action_space = self._form.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._generators = [seeding.np_random()[0] for _ in range(num_envs)]
        self._observations: list[dict[str, Any]] = [{} for _ in range(num_envs)]
        self._transcripts = [""] * num_envs
        self._over: Flags = np.ones(num_envs, dtype=np.bool_)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Starts an episode in every place, all at once.

        Args:
            seed: One number, from which place i has ``seed + i``, or one for each; None goes on
                with the seeds that the last ones began.
            options: ``task``, ``split`` and ``group`` override the environment's own;
                ``reset_mask``, a boolean array, says which places; all others are the episodes'.
        """
        given = dict(options or {})
        mask = self._mask(given.pop("reset_mask", None))
        seeds = self._seeds(seed)
        infos: dict[str, Any] = {}
        self._start(np.flatnonzero(mask), infos, given, seeds)
        return self._batched(self._observations), infos

    def step(self, actions: Any) -> Stepped:  # noqa: ANN401 - of the action space
        """Steps every place and waits for all.

        Raises:
            gymnasium.error.ResetNeeded: An episode is over, or none was started.
            hone.HoneError: The first that failed, once all have been answered.
        """
        self._connected()
        each = list(iterate(self.action_space, actions))
        if len(each) != self.num_envs:
            raise ValueError(f"found {len(each)} actions, expected {self.num_envs}")
        again = self._over.copy()
        never = not all(self._observations)
        if never or (self.autoreset_mode is not AutoresetMode.NEXT_STEP and again.any()):
            places = ", ".join(str(i) for i in np.flatnonzero(again)[:8])
            raise ResetNeeded(f"no open episode in places {places}: call reset first")
        infos: dict[str, Any] = {}
        rewards = np.zeros(self.num_envs, dtype=np.float64)
        terminated, truncated = np.zeros((2, self.num_envs), dtype=np.bool_)
        going = [place for place in range(self.num_envs) if not again[place]]
        with self._all_or_none():
            for place in going:
                action = self._form.action(each[place])
                self._places.step(place, action, responses=self._form.responses)
            answers = self._answers(len(going))
        for place, result in answers:
            rewards[place] = reward_of(result)
            terminated[place], truncated[place] = result.terminated, result.truncated
            self._observations[place] = self._form.observe(result.observation)
            self._transcripts[place] += "\n" + text_of(result.observation)
            info = info_of(result)
            if result.ended and self.autoreset_mode is AutoresetMode.SAME_STEP:
                final = {"final_obs": self._observations[place], "final_info": info}
                infos = self._add_info(infos, final, place)
            else:
                infos = self._add_info(infos, info, place)
        self._over = terminated | truncated
        same_step = self.autoreset_mode is AutoresetMode.SAME_STEP
        self._start(np.flatnonzero(self._over if same_step else again), infos)
        return self._batched(self._observations), rewards, terminated, truncated, infos

    def render(self) -> tuple[str, ...] | None:
        """The messages of each episode so far, with render mode ``"ansi"``."""
        return tuple(self._transcripts) if self.render_mode == "ansi" else None

    def close_extras(self, **_: Any) -> None:  # noqa: ANN401 - Gymnasium's signature
        """Closes the episodes and the connection."""
        client, self._client = self._client, None
        if client is not None:
            try:
                self._places.close()
            finally:
                client.close()

    def _make_form(self, client: Client) -> Form:
        """The spaces of one environment."""
        raise NotImplementedError

    def _start(
        self,
        places: Iterable[Any],
        infos: dict[str, Any],
        options: Mapping[str, Any] | None = None,
        seeds: Sequence[int | None] | None = None,
    ) -> None:
        self._connected()
        chosen = {"task": self._task, "split": self._split, "group": self._group}
        episode_options = dict(self._options)
        for key, value in (options or {}).items():
            (chosen if key in chosen else episode_options)[key] = value
        chosen_places = [int(place) for place in places]
        with self._all_or_none():
            for place in chosen_places:
                seed = seeds[place] if seeds is not None else None
                if seed is None:
                    seed = int(self._generators[place].integers(2**31))
                self._places.reset(
                    place,
                    seed=seed,
                    environment=self._form.environment,
                    options=episode_options,
                    **chosen,
                )
            answers = self._answers(len(chosen_places))
        for place, start in answers:
            self._over[place] = False
            self._observations[place] = self._form.observe(start.observation)
            self._transcripts[place] = text_of(start.observation)
            info = {**start.info, "observation": start.observation}
            infos.update(self._add_info(infos, info, place))

    @contextlib.contextmanager
    def _all_or_none(self) -> Iterator[None]:
        """Cancels all requests if one cannot be sent, or after Ctrl-C; turns stay open."""
        try:
            yield
        except BaseException:
            self._places.give_up()
            raise

    def _answers(self, count: int) -> list[tuple[int, Any]]:
        """In the order of the places, whatever order they came in."""
        answers = sorted(self._places.answers(count), key=lambda one: one[0])
        for place, answer in answers:
            if isinstance(answer, HoneError):
                self._over[place] = self._places.episodes[place] is None
                raise answer
        return answers

    def _mask(self, given: Any) -> Flags:  # noqa: ANN401 - of a user's
        if given is None:
            return np.ones(self.num_envs, dtype=np.bool_)
        mask = np.asarray(given)
        if mask.dtype != np.bool_ or mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(
                f"reset_mask: found {mask.dtype} of shape {mask.shape}, expected bool of shape "
                f"({self.num_envs},) with one True at least"
            )
        return mask

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        seeds: list[int | None] = []
        seeds += range(seed, seed + self.num_envs) if isinstance(seed, int) else seed
        if len(seeds) != self.num_envs:
            raise ValueError(f"found {len(seeds)} seeds, expected {self.num_envs}")
        for place, one in enumerate(seeds):
            if one is not None:
                self._generators[place] = seeding.np_random(one)[0]
        return seeds

    def _batched(self, observations: list[dict[str, Any]]) -> Any:  # noqa: ANN401
        space = self.single_observation_space
        empty: Any = create_empty_array(space, self.num_envs)
        return concatenate(space, observations, empty)

    def _connected(self) -> Client:
        if self._client is None:
            raise ClosedEnvironmentError("the environment is closed")
        return self._client


class KernelRefineVectorEnv(HoneVectorEnv):
    """Models refine kernels; actions are a sequence of str."""

    def __init__(
        self,
        num_envs: int = 1,
        endpoint: str | Sequence[str] = DEFAULT_ENDPOINT,
        task: str | None = None,
        *,
        action: Literal["response", "code"] = "response",
        split: str | None = None,
        group: str | None = None,
        max_turns: int | None = None,
        options: Mapping[str, Any] | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        timeout: float = 600.0,
        connect_timeout: float = 10.0,
        reconnect_timeout: float = 30.0,
        render_mode: str | None = None,
        key: PathLike | None = None,
        server_key: PathLike | None = None,
    ) -> None:
        """Connects; ``action`` is what a str is: ``response`` or ``code``."""
        self._action_form = KernelRefineForm(action)
        super().__init__(
            num_envs,
            endpoint,
            task,
            split=split,
            group=group,
            max_turns=max_turns,
            options=options,
            autoreset_mode=autoreset_mode,
            timeout=timeout,
            connect_timeout=connect_timeout,
            reconnect_timeout=reconnect_timeout,
            render_mode=render_mode,
            key=key,
            server_key=server_key,
        )

    def _make_form(self, client: Client) -> Form:
        return self._action_form


class AutotuneVectorEnv(HoneVectorEnv):
    """A policy chooses how a product is blocked; actions are an array of int64."""

    def _make_form(self, client: Client) -> Form:
        return AutotuneForm(client)


__all__ = [
    "AutotuneVectorEnv",
    "HoneVectorEnv",
    "KernelRefineVectorEnv",
]
