"""Tries: leaves processes that keep all cores busy after the answer.

Stopped by: the host ends all processes of the recording's sandbox before it goes on.
"""

import ctypes
import os
import signal

PLAN = bytes.fromhex("@PLAN@")


def answer():
    for _ in range(4):
        if os.fork() == 0:
            os.setpgid(0, 0)
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            ctypes.CDLL(None).prctl(15, b"left-behind", 0, 0, 0)
            while True:
                pass
    return b'{"problem": ""}\n' + PLAN
