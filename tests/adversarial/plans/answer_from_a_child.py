"""Tries: ends the recording process, and lets a child that remains send the answer.

Stopped by: the host watches the process that it started, and ends all processes of its sandbox.
"""

import os
import struct
import time

PLAN = bytes.fromhex("@PLAN@")

if os.fork() == 0:
    time.sleep(0.5)
    text = b'{"problem": ""}\n' + PLAN
    message = struct.pack("<QII", len(text), 0, 0x656E6F68) + text
    while message:
        message = message[os.write(3, message) :]
os._exit(0)
