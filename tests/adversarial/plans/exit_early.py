"""Tries: ends the recording with exit code 0 and no answer.

Stopped by: without an answer there is no plan.
"""

import os

os._exit(0)
