"""The application in this process, on a port of its own: what `citewell serve` answers, without a process, its imports and its preparations.

All applications of a test process share one event loop in a thread, one template process that their files' parsers are forked of, and
the models. A test that fails if they do needs a `RunningServer`.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import socket
import threading
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import uvicorn

from citewell.app import build
from citewell.extract.sandbox import ParserLimits
from citewell.features.connections import bounded_protocol
from citewell.ingest.parser_template import TemplateClient
from citewell.settings import load_settings
from citewell.system.folder import DataFolder
from tests.server.running import Server

_PATIENCE_SECONDS = 120.0


class InProcessServer(Server):
    """The application on a data folder, configured as the variables of the environment say. May be started again after `stop`."""

    def __init__(self, data: Path, **environment: str) -> None:
        super().__init__(data)
        self._environment = environment
        self._server: uvicorn.Server | None = None
        self._ended: Future[None] | None = None

    def start(self) -> None:
        started: Future[str] = Future()
        with _only(self._environment):
            self._ended = _run(self._serve(started))
            self._ended.add_done_callback(lambda ended: _hand_on(ended, started))
            self._connect(started.result(_PATIENCE_SECONDS))

    def stop(self) -> None:
        self.client.close()
        if self._server is not None and self._ended is not None:
            self._server.should_exit = True
            self._ended.result(_PATIENCE_SECONDS)
            self._server = self._ended = None

    async def _serve(self, started: Future[str]) -> None:
        settings = load_settings(data=self.data)
        app = build(settings)
        async with app.router.lifespan_context(app):
            protocol = bounded_protocol(settings.server.header_seconds)
            config = uvicorn.Config(
                app,
                port=0,
                http=protocol,
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                timeout_graceful_shutdown=10,
            )

            def listening(port: int) -> None:
                url = settings.server.address(port)
                DataFolder(self.data).announce(url)
                started.set_result(url)

            self._server = _Listener(config, listening)
            await self._server.serve()


class _Listener(uvicorn.Server):
    """Says once at which port it listens."""

    def __init__(self, config: uvicorn.Config, listening: Callable[[int], None]) -> None:
        super().__init__(config)
        self._listening = listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listening(self.servers[0].sockets[0].getsockname()[1])


def _hand_on(ended: Future[None], started: Future[str]) -> None:
    """An application that does not open fails the test that waits for it."""
    if not started.done():
        started.set_exception(ended.exception() or AssertionError("the application ended"))


@contextmanager
def _only(environment: dict[str, str]) -> Generator[None]:
    """Of Citewell's variables, only these."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("CITEWELL_")]:
            patch.delenv(name)
        for name, value in environment.items():
            patch.setenv(name, value)
        yield


# ---- what they share ----

_Limits: TypeAlias = tuple[str, ParserLimits]
_start_template, _close_template = TemplateClient.start, TemplateClient.close
_templates: dict[_Limits, TemplateClient] = {}


def _run(work: Coroutine[Any, Any, None]) -> Future[None]:
    return asyncio.run_coroutine_threadsafe(work, _loop())


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The applications' event loop, in a thread."""
    loop = asyncio.new_event_loop()
    one_at_a_time = asyncio.Lock()

    async def start(entry: str, limits: ParserLimits) -> TemplateClient:
        """Starting a template takes a second of a processor, a parser forked of one a hundredth."""
        if asyncio.get_running_loop() is not loop:
            return await _start_template(entry, limits)
        async with one_at_a_time:
            known = _templates.get((entry, limits))
            if known is None or not known.alive:
                known = _templates[entry, limits] = await _start_template(entry, limits)
            return known

    async def close(self: TemplateClient) -> None:
        if self not in _templates.values():
            await _close_template(self)

    TemplateClient.start, TemplateClient.close = staticmethod(start), close
    threading.Thread(target=loop.run_forever, name="applications", daemon=True).start()
    atexit.register(lambda: _run(_close_templates()).result(_PATIENCE_SECONDS))
    return loop


async def _close_templates() -> None:
    await asyncio.gather(*(_close_template(template) for template in _templates.values()))
