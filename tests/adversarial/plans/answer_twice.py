"""Tries: sends an answer, and another one after it.

Stopped by: the host reads one answer, then ends the process.
"""

import os
import struct

PLAN = bytes.fromhex("@PLAN@")


def answer():
    text = b'{"problem": ""}\n' + PLAN
    message = struct.pack("<QII", len(text), 0, 0x656E6F68) + text
    while message:
        message = message[os.write(3, message) :]
    return b'{"problem": "this answer came second"}\n'
