"""Tries: takes all memory of the machine.

Stopped by: the recording's memory limit.
"""

held = []
while True:
    held.append(b"x" * (16 << 20))
