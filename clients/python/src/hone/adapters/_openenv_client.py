"""OpenEnv's client. ``python -m hone openenv --write`` copies this file, too."""

from __future__ import annotations

from typing import Any

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient
from openenv.core.env_server import State

from ._openenv_models import HoneAction, HoneObservation


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
