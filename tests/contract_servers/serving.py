"""Runs a contract server on a free port of this machine, in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp


@contextmanager
def serving(app: ASGIApp, certificate: Path | None = None) -> Generator[str]:
    """The server's base address, while the block runs; with a file of a key and a certificate it speaks TLS."""
    config = uvicorn.Config(
        app, port=0, log_level="error", lifespan="off", timeout_graceful_shutdown=1, ssl_certfile=certificate
    )
    server = uvicorn.Server(config)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_until_complete, args=(server.serve(),), daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"{'https' if certificate else 'http'}://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)
        loop.close()
