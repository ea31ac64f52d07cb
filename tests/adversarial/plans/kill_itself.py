"""Tries: ends the recording with SIGKILL, to look like a victim of the machine.

Stopped by: a recording without an answer is never a fault of the machine.
"""

import os
import signal

os.kill(os.getpid(), signal.SIGKILL)
