"""An HTTP server for adapters that speak the protocol of another project."""

from __future__ import annotations

from typing import Any

import uvicorn


class AnnouncingServer(uvicorn.Server):  # type: ignore[misc]
    """Prints its address when it serves: port 0 is any free port.

    Args:
        config: As for ``uvicorn.Server``.
        announcement: The line to print; ``{url}`` in it is the address.
    """

    def __init__(self, config: uvicorn.Config, announcement: str) -> None:
        super().__init__(config)
        self._announcement = announcement

    async def startup(self, sockets: Any = None) -> None:  # noqa: ANN401
        """Starts to serve, and prints the address."""
        await super().startup(sockets=sockets)
        for server in self.servers:
            host, port = server.sockets[0].getsockname()[:2]
            url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
            print(self._announcement.format(url=url), flush=True)
