"""Tries: announces an answer of 2^62 bytes.

Stopped by: the limit of an answer.
"""

import os
import struct
import time

os.write(3, struct.pack("<QII", 1 << 62, 0, 0x656E6F68) + bytes(4096))
time.sleep(1)
