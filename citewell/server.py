"""`citewell serve`: listen, say where, and stop cleanly."""

from __future__ import annotations

import gc
import logging
import socket
from pathlib import Path

import uvicorn

from citewell.app import build, check_exposure
from citewell.connections import bounded_protocol
from citewell.console import out
from citewell.errors import ConfigurationError
from citewell.folder import DataFolder
from citewell.settings import Settings

_COLLECT_AFTER = 50_000
_SAMPLES = Path(__file__).parent.parent / "samples"


def serve(settings: Settings) -> None:
    """Run the server until it is told to stop. Raises `ConfigurationError` when it may not or cannot listen there."""
    check_exposure(settings)
    logging.basicConfig(level=settings.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    listener = _listen(settings)
    app = build(settings)
    config = uvicorn.Config(
        app,
        http=bounded_protocol(settings.header_seconds),
        log_level=settings.log_level,
        access_log=False,
        timeout_graceful_shutdown=10,
    )
    server = _Server(config, settings, listener)
    server.run(sockets=[listener])
    if not server.was_ready:
        raise SystemExit(1)


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as error:
        listener.close()
        message = f"Cannot listen on {settings.host}:{settings.port}: {error.strerror}. Choose another with --port."
        raise ConfigurationError(message) from error
    listener.set_inheritable(True)
    return listener


class _Server(uvicorn.Server):
    """Announces the address in the data folder, and prints the link, once requests are answered."""

    def __init__(self, config: uvicorn.Config, settings: Settings, listener: socket.socket) -> None:
        super().__init__(config)
        self._settings = settings
        self._listener = listener
        self.was_ready = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then say where we are."""
        await super().startup(sockets)
        if not self.started:
            return
        self.was_ready = True
        folder: DataFolder = self.config.app.state.services.folder  # pyright: ignore[reportFunctionMemberAccess, reportAttributeAccessIssue]
        host = f"[{self._settings.host}]" if ":" in self._settings.host else self._settings.host
        url = f"http://{host}:{self._listener.getsockname()[1]}"
        folder.announce(url)
        _welcome(url, folder)
        _spare_the_collector()


def _spare_the_collector() -> None:
    """What was loaded by now stays: looking through it again and again took a sixth of a search's time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER, 20, 50)


def _welcome(url: str, folder: DataFolder) -> None:
    samples = f"{_SAMPLES}/" if _SAMPLES.is_dir() else "FILE…"
    out.print(f"\nCitewell is ready.  Data: {folder.path}")
    out.print(f"\n  Open       {url}/?token={folder.token()}")
    out.print(f"  API docs   {url}/docs\n")
    out.print("Try next, in another terminal:")
    for command in (
        f"citewell add {samples}",
        'citewell ask "What is the maximum loan size for first-time borrowers?"',
        'citewell search "onboarding steps"',
    ):
        out.print(f"  {command}", markup=False)
    out.file.flush()
