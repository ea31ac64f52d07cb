"""Logs when requests wait for a lost server. Used for connections to a single server."""

from __future__ import annotations

import logging
import math
import threading
import time
import weakref

from . import _core

#: Wait of a request for a lost server after which a warning is logged (s).
WARN_S = 5.0
#: Polling interval of the connection (s).
WATCH_S = 1.0

_log = logging.getLogger("hone.client")


def watch(connection: _core.Connection) -> None:
    """Starts a thread that ends when the connection is closed or dropped."""
    threading.Thread(
        target=_watch, args=(weakref.ref(connection),), name="hone-server-watch", daemon=True
    ).start()


def _watch(of: weakref.ref[_core.Connection]) -> None:
    warned = False
    while True:
        time.sleep(WATCH_S)
        connection = of()
        if connection is None or connection.closed:
            return
        wait = connection.server_wait
        if warned and connection.served:
            _log.info("server %s answers now", connection.endpoint)
            warned = False
        elif not warned and wait is not None and wait[0] >= WARN_S:
            waited, left = wait
            _log.warning(
                "no server at %s for %.0f s; requests wait for it %s",
                connection.endpoint,
                waited,
                _end_of(left),
            )
            warned = True
        del connection


def _end_of(left: float) -> str:
    if math.isinf(left):
        return "until their timeouts"
    end = time.localtime(time.time() + left)
    return f"until {time.strftime('%Y-%m-%d %H:%M:%S', end)} (reconnect_timeout)"
