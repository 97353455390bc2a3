"""The web application, and the services that start and stop with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

from fastapi import FastAPI
from starlette.routing import Route

from citewell.composition import open_services
from citewell.doctor.examination import examine_configuration
from citewell.errors import ConfigurationError
from citewell.features.audit.recorder import AuditRecorder
from citewell.features.bodies import BodyGuard
from citewell.features.head_requests import HeadRequests
from citewell.features.heads import HeadGuard
from citewell.features.health.observer import Observer
from citewell.features.http import install_error_handlers
from citewell.features.mcp.endpoints import McpEndpoint
from citewell.features.routers import Application, RoutersOnDemand
from citewell.features.web.headers import SecurityHeaders
from citewell.ingest.parsers import ParserPool
from citewell.settings import Settings


def build(settings: Settings) -> Application:
    """The application. Raises `ConfigurationError` if it would be open to a network without accounts."""
    check_exposure(settings)
    mcp = McpEndpoint()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        async with open_services(settings, partial(examine_configuration, settings)) as services:
            app.state.services = services
            async with mcp.run(services.mcp, services.auth), _warming(services.parsers):
                yield

    app = Application(lifespan, Route("/mcp", mcp, methods=["GET", "POST", "DELETE"], include_in_schema=False))
    install_error_handlers(app)
    app.add_middleware(RoutersOnDemand, routing=app.routing)
    app.add_middleware(AuditRecorder)
    app.add_middleware(BodyGuard, max_bytes=settings.server.max_body_bytes, seconds=settings.server.body_seconds)
    app.add_middleware(HeadGuard)
    app.add_middleware(Observer)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(HeadRequests)
    return app


@asynccontextmanager
async def _warming(parsers: ParserPool) -> AsyncGenerator[None]:
    """Start the parsers' template process now rather than with the first file. If that fails, the first file's error says why."""
    task = asyncio.create_task(parsers.warm())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def check_exposure(settings: Settings) -> None:
    """Refuse to listen beyond this machine without accounts."""
    if settings.server.is_loopback or has_identities(settings):
        return
    raise ConfigurationError(
        f"Not listening on {settings.server.host}: anyone who can reach this address could connect, and no accounts are configured. "
        "Set CITEWELL_ACCOUNTS=on to give people accounts, or CITEWELL_AUTH_SECRET to the secret that your identity provider signs "
        "JWTs with (HS256), or listen on 127.0.0.1 (CITEWELL_HOST)."
    )


def has_identities(settings: Settings) -> bool:
    """Whether people sign in with accounts, or programs with JWTs. Otherwise a single token gives access to everything."""
    auth = settings.auth
    return settings.accounts.is_on or auth.secret is not None or auth.jwks_url is not None
