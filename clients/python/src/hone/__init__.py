"""Client of hone, an RL environment server whose episodes refine compute kernels.

    import hone

    with hone.connect("tcp://127.0.0.1:5917") as client:
        start = client.reset("add_relu")
        result = start.episode.step(source)

``hone.aio`` is for asyncio, ``hone.vector`` for many episodes at once, ``hone.gym`` for Gymnasium,
``hone.charts`` for charts of a training run; each is imported on its own.
"""

from ._core import __version__
from .client import Client, Episode, connect
from .errors import (
    Busy,
    Cancelled,
    DeadlineExceeded,
    FailedPrecondition,
    HoneError,
    Internal,
    InvalidArgument,
    NotFound,
    ResourceExhausted,
    Unavailable,
    Unimplemented,
)
from .types import (
    Closed,
    Configuration,
    EpisodeState,
    Message,
    Mismatch,
    Observation,
    Outcome,
    Reset,
    ResetInfo,
    Speedup,
    StepInfo,
    StepResult,
    Task,
    TaskFacts,
    ToolResult,
    TurnLine,
    Verdict,
)

__all__ = [
    "Busy",
    "Cancelled",
    "Client",
    "Closed",
    "Configuration",
    "DeadlineExceeded",
    "Episode",
    "EpisodeState",
    "FailedPrecondition",
    "HoneError",
    "Internal",
    "InvalidArgument",
    "Message",
    "Mismatch",
    "NotFound",
    "Observation",
    "Outcome",
    "Reset",
    "ResetInfo",
    "ResourceExhausted",
    "Speedup",
    "StepInfo",
    "StepResult",
    "Task",
    "TaskFacts",
    "ToolResult",
    "TurnLine",
    "Unavailable",
    "Unimplemented",
    "Verdict",
    "__version__",
    "connect",
]
