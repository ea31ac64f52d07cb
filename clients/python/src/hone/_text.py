"""Makes text encodable as UTF-8, as the C++ client does, for code that does not use that client."""

from __future__ import annotations


def sendable(text: str) -> str:
    """The text with U+FFFD for each half of a surrogate pair that stands alone.

    JSON can escape such a half (a model's answer that was cut in the middle of an emoji has one),
    and UTF-8 cannot hold it. Two halves that stand side by side become their character.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def printable(text: object, length: int = 200) -> str:
    """The text for one line of a terminal or a log, without control characters.

    Args:
        text: A message that another program may have chosen.
        length: Most characters; the rest is replaced by "…".
    """
    shown = "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in str(text))
    return shown if len(shown) <= length else shown[: length - 1] + "…"
