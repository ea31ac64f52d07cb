"""Tries: an answer whose first line is JSON that is nested a million times.

Stopped by: the limits of the JSON reader.
"""


def answer():
    return b'{"problem": ' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}\n"
