"""Tries: answers the host itself, with a plan made elsewhere and fields that claim a verdict.

Stopped by: hone judges the plan. No other field of the answer is read.
"""

import json
import os
import struct

PLAN = bytes.fromhex("@PLAN@")
CLAIM = json.dumps({"problem": "", "outcome": "correct", "reward": 1e9, "speedup": {"value": 1e9}, "work": {}})


def send(text):
    os.write(3, struct.pack("<QII", len(text), 0, 0x656E6F68))
    while text:
        text = text[os.write(3, text) :]


send(CLAIM.encode() + b"\n" + PLAN)
os._exit(0)
