"""`citewell worker`: runs the durable stages alongside servers, on this machine or another one."""

from __future__ import annotations

import asyncio
import logging
import signal

from citewell.composition import open_services
from citewell.errors import ConfigurationError
from citewell.settings import LocalBlobs, Settings, change
from citewell.system.console import out, start_log
from citewell.system.tracing import start_tracing, stop_tracing

log = logging.getLogger(__name__)


def work(settings: Settings) -> None:
    """Work until stopped. Raises `ConfigurationError` unless database, vector store and files can be shared."""
    alone = [
        why
        for why, is_alone in (
            (
                "a database it shares with the server: set CITEWELL_DATABASE_URL to a Postgres database",
                settings.database_url is None,
            ),
            (
                "a vector store it shares with the server: set CITEWELL_VECTOR_STORE to pgvector, qdrant, redis or pinecone",
                settings.store.is_embedded,
            ),
            (
                "files it can reach: set CITEWELL_BLOB_BACKEND to s3, gcs or azure",
                isinstance(settings.blobs, LocalBlobs),
            ),
        )
        if is_alone
    ]
    if alone:
        raise ConfigurationError(
            f"A worker needs {'; '.join(alone)}. Or run `citewell serve` alone: it does this work itself."
        )
    start_log(settings.log_level, settings.log_format)
    if settings.traces_url is not None:
        start_tracing(settings.traces_url, "citewell-worker")
    asyncio.run(_work(change(settings, workers=max(1, settings.stages.workers))))
    stop_tracing()


async def _work(settings: Settings) -> None:
    stop = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    async with open_services(settings) as services:
        for note in settings.without_effect:
            log.warning("%s", note)
        out.print(f"Working as {services.workers.name}. Stop with Ctrl+C.")
        await stop.wait()
