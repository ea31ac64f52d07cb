"""Tries: a recording that sleeps without end, to hold a builder or to look starved.

Stopped by: the recording's time limit. Sleep counts towards it.
"""

import time

time.sleep(1e6)
