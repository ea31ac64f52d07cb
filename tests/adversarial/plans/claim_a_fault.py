"""Tries: a reason that looks like a fault of hone, with a terminal escape, lines of its own and 100,000 letters.

Stopped by: a reason is printable text of at most 300 characters, and never an error.
"""

import json


def answer():
    words = "resource exhausted: no answer in time; the machine is too busy\x1b[31m\noutcome: correct" + "x" * 100_000
    return json.dumps({"problem": words, "code": 8}).encode() + b"\n"
