"""The web application: routers over the services, and their life with the server's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version

from fastapi import Depends, FastAPI
from fastapi.routing import APIRoute
from starlette.routing import Route

from citewell.composition import open_services
from citewell.errors import ConfigurationError
from citewell.examination import examine_configuration
from citewell.features.accounts.endpoints import router as accounts_router
from citewell.features.audit.endpoints import router as audit_router
from citewell.features.audit.recorder import AuditRecorder
from citewell.features.auth.endpoints import router as tokens_router
from citewell.features.auth.endpoints import session_router
from citewell.features.bodies import BodyGuard
from citewell.features.chat.endpoints import router as chat_router
from citewell.features.citations.endpoints import router as citations_router
from citewell.features.estimates.endpoints import router as estimates_router
from citewell.features.health.endpoints import router as health_router
from citewell.features.health.observer import Observer
from citewell.features.http import check_rows, install_error_handlers, known_parameters
from citewell.features.identities.endpoints import return_router
from citewell.features.identities.endpoints import router as identities_router
from citewell.features.indexes.endpoints import router as indexes_router
from citewell.features.local_models.endpoints import router as local_models_router
from citewell.features.mcp.endpoints import McpEndpoint
from citewell.features.openai_compatible.endpoints import router as openai_router
from citewell.features.owner_data.endpoints import router as owner_data_router
from citewell.features.projects.endpoints import router as projects_router
from citewell.features.quotas.endpoints import router as quotas_router
from citewell.features.reindexing.endpoints import router as reindexing_router
from citewell.features.resources.endpoints import router as resources_router
from citewell.features.samples.endpoints import router as samples_router
from citewell.features.search.endpoints import router as search_router
from citewell.features.service_accounts.endpoints import router as service_accounts_router
from citewell.features.shared_answers.endpoints import page_router as shared_page_router
from citewell.features.shared_answers.endpoints import router as shared_answers_router
from citewell.features.sources.endpoints import router as sources_router
from citewell.features.suggestions.endpoints import router as suggestions_router
from citewell.features.tables.endpoints import router as tables_router
from citewell.features.telegram.endpoints import router as telegram_router
from citewell.features.telegram.endpoints import webhook_router
from citewell.features.threads.endpoints import router as threads_router
from citewell.features.triggers.endpoints import router as triggers_router
from citewell.features.usage.endpoints import router as usage_router
from citewell.features.web.headers import SecurityHeaders
from citewell.features.web.pages import router as pages_router
from citewell.features.webhooks.endpoints import describe_events
from citewell.features.webhooks.endpoints import router as webhooks_router
from citewell.ingest.parsers import ParserPool
from citewell.settings import Settings

_ROUTERS = (
    health_router,
    resources_router,
    estimates_router,
    search_router,
    citations_router,
    chat_router,
    openai_router,
    threads_router,
    shared_answers_router,
    shared_page_router,
    projects_router,
    quotas_router,
    reindexing_router,
    sources_router,
    tokens_router,
    usage_router,
    owner_data_router,
    audit_router,
    indexes_router,
    session_router,
    accounts_router,
    identities_router,
    service_accounts_router,
    return_router,
    suggestions_router,
    samples_router,
    tables_router,
    local_models_router,
    telegram_router,
    webhook_router,
    triggers_router,
    webhooks_router,
    pages_router,
)
# Other people's clients add parameters of their own here: chat clients, probes, identity providers, and browsers that follow a link.
_LENIENT = (openai_router, health_router, pages_router, shared_page_router, return_router)
_DESCRIPTION = "Answers from your own files that point to the exact source."


def build(settings: Settings) -> FastAPI:
    """The application. Raises `ConfigurationError` when it would be open to a network without accounts."""
    check_exposure(settings)
    mcp = McpEndpoint()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        async with open_services(settings, partial(examine_configuration, settings)) as services:
            app.state.services = services
            async with mcp.run(services.mcp, services.auth), _warming(services.parsers):
                yield

    app = FastAPI(
        title="Citewell",
        version=version("citewell"),
        description=_DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=_operation_name,
    )
    install_error_handlers(app)
    app.add_middleware(AuditRecorder)
    app.add_middleware(BodyGuard, max_bytes=settings.server.max_body_bytes, seconds=settings.server.body_seconds)
    app.add_middleware(Observer)
    app.add_middleware(SecurityHeaders)
    app.router.routes.append(Route("/mcp", mcp, methods=["GET", "POST", "DELETE"], include_in_schema=False))
    describe_events(app.webhooks)
    for router in _ROUTERS:
        app.include_router(router, dependencies=[] if router in _LENIENT else [Depends(known_parameters)])
    check_rows(route for router in _ROUTERS for route in router.routes)
    return app


def _operation_name(route: APIRoute) -> str:
    """The function's name, which no other has: what generated clients and automation services call it."""
    return route.name


@asynccontextmanager
async def _warming(parsers: ParserPool) -> AsyncGenerator[None]:
    """Start the parsers' template process now rather than with the first file; when that fails, the first file says why."""
    task = asyncio.create_task(parsers.warm())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def check_exposure(settings: Settings) -> None:
    """Refuse to listen beyond this machine while there are no accounts."""
    auth = settings.auth
    if settings.server.is_loopback or settings.accounts.is_on or auth.secret is not None or auth.jwks_url is not None:
        return
    raise ConfigurationError(
        f"Not listening on {settings.server.host}: anyone who can reach this address could connect, and no accounts are configured. "
        "Set CITEWELL_ACCOUNTS=on to give people accounts, or CITEWELL_AUTH_SECRET to the secret that your identity provider signs "
        "JWTs with (HS256), or listen on 127.0.0.1 (CITEWELL_HOST)."
    )
