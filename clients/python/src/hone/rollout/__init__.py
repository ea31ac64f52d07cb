"""Rollouts: a model behind an OpenAI-compatible endpoint plays a server's tasks, turn by turn.

``python -m hone.rollout`` (or ``hone rollout``) is the program, ``docs/rollout.md`` its page. Needs
``pip install 'hone-rl[rollout]'``, which brings httpx.
"""

try:
    from ._run import RunFailed, run
except ModuleNotFoundError as error:
    if error.name != "httpx":
        raise
    message = "hone.rollout needs httpx, which is not installed: pip install 'hone-rl[rollout]'"
    raise ModuleNotFoundError(message, name="httpx") from None
from ._settings import Settings, UsageError

__all__ = ["RunFailed", "Settings", "UsageError", "run"]
