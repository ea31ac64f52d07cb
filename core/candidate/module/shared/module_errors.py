"""One line about an exception of a module, for a verdict or a log."""

from __future__ import annotations

import traceback

from module_phrases import place_and_reason
from module_toolkits import Hindered

LINE_MAX = 240  # characters; a longer line keeps its beginning and its end
SOURCES = ("submission.py", "baseline.py", "reference.py")


def cause_of(error: BaseException) -> BaseException:
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def place_of(error: BaseException) -> str:
    """ " (submission.py:31)": the innermost line of the module that raised it; empty if there is none."""
    places = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in SOURCES]
    return f" ({places[-1].filename}:{places[-1].lineno})" if places else ""


def words_of(error: BaseException, extension_kind: str) -> str:
    """The exception's type and message, and the innermost line of the module that raised it.

    `extension_kind`: "host" or "device", as Extensions.kind() returns it; a Hindered error is shown with it.
    """
    error = cause_of(error)
    try:
        text = " ".join(str(error).split()) or "no message"
        if type(error).__name__ == "CompilationError":
            text = place_and_reason(error)
    except Exception:
        text = "no message that can be read"
    name = type(error).__name__
    if isinstance(error, Hindered):
        name = f"{name} ({extension_kind})"
    place = place_of(error)
    room = LINE_MAX - len(place)
    said = f"{name}: {text}"
    if len(said) > room:
        said = said[: room * 2 // 3] + " ... " + said[5 - room + room * 2 // 3 :]
    return said + place
