"""Tries: sends its answer byte by byte, to hold a builder longer than the recording's limit.

Stopped by: the limit for the whole answer.
"""

import os
import struct
import time

os.write(3, struct.pack("<QII", 1 << 20, 0, 0x656E6F68))
while True:
    os.write(3, b"x")
    time.sleep(0.2)
