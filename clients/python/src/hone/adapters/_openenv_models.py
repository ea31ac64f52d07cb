"""The actions and observations of OpenEnv's environment.

``python -m hone openenv --write`` copies this file into an environment, whose users may not have
hone. So it imports only OpenEnv and pydantic.
"""

from __future__ import annotations

from typing import Annotated, Any

from openenv.core.env_server import Action, Observation
from pydantic import BeforeValidator, Field


def _mended(text: object) -> object:
    """Replaces lone surrogates. A model's answer may have them, and Pydantic refuses them."""
    if not isinstance(text, str):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


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

    messages: list[dict[str, Any]] = Field(
        default_factory=list, description="new ones, as in a chat"
    )
    tools: list[dict[str, Any]] = Field(
        default_factory=list, description="after reset: the tools as OpenAI's function tools"
    )
    tools_left: dict[str, int] = Field(default_factory=dict, description="uses of each tool")
    turns_left: int = Field(default=0, description="0 at the end")
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
