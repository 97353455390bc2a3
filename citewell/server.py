"""`citewell serve`: listen, say where, and stop cleanly."""

from __future__ import annotations

import asyncio
import gc
import logging
import socket
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import uvicorn

from citewell.app import build, check_exposure, has_identities
from citewell.composition import Services
from citewell.doctor.examination import faults_of_python
from citewell.errors import CitewellError, ConfigurationError
from citewell.features.connections import bounded_protocol
from citewell.features.routers import Application
from citewell.settings import Settings
from citewell.system.console import start_log
from citewell.system.folder import DataFolder
from citewell.system.tracing import start_tracing, stop_tracing

log = logging.getLogger(__name__)
_COLLECT_AFTER = 50_000
_FIRST_REQUESTS = 0.2
"""Seconds in which requests that waited for the port are answered before anything else is loaded, which would slow them down."""
_FIRST_ANSWERS = 2.0
"""Seconds in which the first questions are answered before the remaining routes are loaded."""
_SAMPLES = Path(__file__).parent.parent / "samples"


Companion: TypeAlias = Callable[[Services], AbstractAsyncContextManager[object]]
"""Something that runs beside the server on the same services, such as a bot."""


def serve(settings: Settings, companion: Companion | None = None) -> None:
    """Run the server until it is stopped. Raises `ConfigurationError` if it may not or cannot listen on the configured address."""
    check_exposure(settings)
    start_log(settings.log_level, settings.log_format)
    if settings.traces_url is not None:
        start_tracing(settings.traces_url, "citewell-server")
    listener = _listen(settings)
    app = build(settings)
    # `_Server` manages the app's lifespan: uvicorn would log a traceback for a bad configuration, and continue.
    server = _Server(_config(app, settings), settings, listener, app, companion)
    server.run(sockets=[listener])
    stop_tracing()
    if not server.was_ready:
        raise SystemExit(1)


@asynccontextmanager
async def serving(settings: Settings) -> AsyncGenerator[None]:
    """Serve from within this process, at the address that the data folder announces, until the block ends.

    Raises what opening the folder raises, such as `DataFolderBusy`.
    """
    app = build(settings)
    async with app.router.lifespan_context(app):
        listener = _listen(settings)
        server = _Inside(_config(app, settings, log_config=None))
        task = asyncio.create_task(server.serve([listener]))
        try:
            await asyncio.wait([task, asyncio.create_task(server.answers.wait())], return_when=asyncio.FIRST_COMPLETED)
            folder: DataFolder = app.state.services.folder
            folder.announce(settings.server.address(listener.getsockname()[1]))
            yield
        finally:
            server.should_exit = True
            await task


def _config(app: Application, settings: Settings, **more: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=bounded_protocol(settings.server.header_seconds),
        ws="none",  # nothing here uses WebSockets; the default would load a package for them
        lifespan="off",
        log_level=settings.log_level,
        access_log=False,
        timeout_graceful_shutdown=10,
        **more,
    )


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.server.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.server.host, settings.server.port))
    except (OSError, UnicodeError) as error:
        listener.close()
        reason = error.strerror if isinstance(error, OSError) else "this is not a host name"
        message = f"Cannot listen on {settings.server.host}:{settings.server.port}: {reason}. Choose another with --port or CITEWELL_PORT."
        raise ConfigurationError(message) from error
    return listener


class _Inside(uvicorn.Server):
    """A server beside something else in the process, which handles signals."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.answers = asyncio.Event()

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until `should_exit`."""
        await self._serve(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then say so."""
        await super().startup(sockets)
        self.answers.set()


class _Server(uvicorn.Server):
    """Announces the address in the data folder, and prints the link, once requests are answered."""

    def __init__(
        self,
        config: uvicorn.Config,
        settings: Settings,
        listener: socket.socket,
        app: Application,
        companion: Companion | None,
    ) -> None:
        super().__init__(config)
        self._companion = companion
        self._settings = settings
        self._listener = listener
        self._app = app
        self._preparing: asyncio.Task[None] | None = None
        self.was_ready = False

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve while the app is open. Raises what opening it raises, before anything is logged."""
        with self.capture_signals():
            life = AsyncExitStack()
            await life.enter_async_context(self._app.router.lifespan_context(self._app))
            try:
                if self._companion is not None:
                    await life.enter_async_context(self._companion(self._app.state.services))
                await self._serve(sockets)
            finally:
                if self._preparing is not None:
                    self._preparing.cancel()
                if not self.force_exit:
                    await life.aclose()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then announce the address."""
        try:
            await super().startup(sockets)
        except OSError as error:
            raise ConfigurationError(f"Cannot listen on {self._settings.server.host}: {error.strerror}.") from error
        if not self.started:
            return
        self.was_ready = True
        for note in (*self._settings.without_effect, *faults_of_python(sys.version_info[:3])):
            log.warning("%s", note)
        folder: DataFolder = self._app.state.services.folder
        url = self._settings.server.address(self._listener.getsockname()[1])
        folder.announce(url)
        with suppress(OSError):  # standard output may be a file on a full disk
            welcome(url, folder, self._settings)
        self._preparing = asyncio.create_task(self._prepare())

    async def _prepare(self) -> None:
        """Load what the first question would otherwise wait for, then what other requests need. If loading fails, those requests say why."""
        services: Services = self._app.state.services
        for pause, load in (
            (_FIRST_REQUESTS, partial(prepare_questions, services)),
            (_FIRST_ANSWERS, self._app.routing.prepare_all),
        ):
            await asyncio.sleep(pause)
            try:
                await load()
            finally:
                _spare_the_collector()


async def prepare_questions(services: Services) -> None:
    """Load what searches and questions need, if possible."""
    with suppress(CitewellError):
        await services.search.prepare()
        await services.chat.prepare()


def _spare_the_collector() -> None:
    """Exempt everything loaded so far from garbage collection: scanning it took a sixth of a search's time.

    There is no collection before: only a thousand of 225,000 objects are garbage, and finding them takes a tenth of the start.
    """
    gc.freeze()
    gc.enable()
    gc.set_threshold(_COLLECT_AFTER, 20, 50)


def welcome(url: str, folder: DataFolder, settings: Settings) -> None:
    """Print the server's address and what to try. The link contains the administrator's token only on a terminal, and only if people sign in
    with it: everything else, such as the journal or a container's log, keeps what is printed."""
    is_shown = sys.stdout.isatty() and not has_identities(settings)
    samples = f"{_SAMPLES}/" if _SAMPLES.is_dir() else "FILE…"
    commands = (
        f"citewell add {samples}",
        'citewell ask "What is the maximum loan size for first-time borrowers?"',
        'citewell search "onboarding steps"',
    )
    lines = (
        f"\nCitewell is ready.  Data: {folder.path}",
        f"\n  Open       {url}{f'/?token={folder.token()}' if is_shown else ''}",
        *(
            ()
            if is_shown or has_identities(settings)
            else ("  Sign in    with the token that `citewell token` prints",)
        ),
        f"  API docs   {url}/docs\n",
        "Try next, in another terminal:",
        *(f"  {command}" for command in commands),
    )
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()
