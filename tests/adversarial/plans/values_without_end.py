"""Tries: a plan of millions of empty lists, each of which takes one byte in the file and more in the host's memory.

Stopped by: the limit on the values of a plan (kValuesMax).
"""


def answer():
    return b'{"problem": ""}\nhone-recorded-plan-1\n' + b"\xdd" + (8_000_000).to_bytes(4, "big") + b"\x90" * 8_000_000
