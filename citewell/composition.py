"""Puts the parts together: the only place that knows ports and adapters both."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy.exc import DBAPIError

from citewell.adapters import registry
from citewell.adapters.embedder.wrappers import CachingEmbedder, RetryingEmbedder
from citewell.agent.graph import Assistant
from citewell.agent.model.assistant import Budget
from citewell.chunk.config import ChunkConfig
from citewell.disk import LEAST_FREE, DiskReserve
from citewell.errors import CitewellError, ConfigurationError, MissingDependency, Unavailable
from citewell.extract.sandbox import ParserLimits
from citewell.features.auth.service import AuthService, JwtRules
from citewell.features.chat.service import ChatService
from citewell.features.health.service import HealthService
from citewell.features.indexes.service import IndexService
from citewell.features.resources.service import ResourceService
from citewell.features.search.service import SearchService
from citewell.features.usage.service import Ledger
from citewell.folder import DataFolder, folder_errors
from citewell.indexes.index_set import IndexSet, OpenIndex, Rebuilding
from citewell.indexes.migration import IndexMigration, Opener
from citewell.indexes.restoring import IndexCondition, condition_of, restore
from citewell.ingest.adoption import Adoption
from citewell.ingest.capture import Capture, clear_folder
from citewell.ingest.chunking import server_chunking
from citewell.ingest.extraction import ExtractionStage
from citewell.ingest.indexing import IndexingStage
from citewell.ingest.parsers import ParserPool
from citewell.ingest.read_ahead import ReadAhead
from citewell.ingest.records import RecordIngest
from citewell.ingest.vision import ImageDescriber
from citewell.ingest.workers import WorkerLimits, Workers
from citewell.metering import MeteredChat, MeteredEmbedder, MeteredReranker, MeteredVision
from citewell.ports import BlobStore, ChatModel, Embedder, Reranker, VectorIndex, VisionModel
from citewell.retrieve.options import FusionMethod, RetrievalOptions
from citewell.settings import NoChat, Settings, change
from citewell.storage.content import ContentRepository
from citewell.storage.database import Database, DatabaseUnusable
from citewell.storage.embeddings import EmbeddingCacheRepository
from citewell.storage.events import EventRepository
from citewell.storage.indexes import IndexRepository, IndexState
from citewell.storage.jobs import JobRepository
from citewell.storage.library import SqlLibrary
from citewell.storage.owners import OwnerRepository
from citewell.storage.passages import SqlChunks
from citewell.storage.projects import ProjectRepository
from citewell.storage.records import RecordRepository
from citewell.storage.resources import ResourceRepository
from citewell.storage.table_copies import SqlTables
from citewell.storage.threads import ThreadRepository
from citewell.storage.usage import UsageRepository
from citewell.types import ExtractOptions, SelfQuery

log = logging.getLogger(__name__)
LOCAL_OWNER = "local"


@dataclass(frozen=True, slots=True)
class Services:
    """Everything an entry point may call, and the local owner's id."""

    settings: Settings
    local_owner: str
    auth: AuthService
    resources: ResourceService
    search: SearchService
    chat: ChatService
    threads: ThreadRepository
    projects: ProjectRepository
    usage: UsageRepository
    ledger: Ledger
    indexes: IndexService
    health: HealthService
    workers: Workers
    folder: DataFolder
    parsers: ParserPool


@dataclass(frozen=True, slots=True)
class _Stores:
    """The repositories, over one database."""

    database: Database
    owners: OwnerRepository
    projects: ProjectRepository
    resources: ResourceRepository
    content: ContentRepository
    jobs: JobRepository


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncGenerator[Services]:
    """Open the data folder, start the workers, and give out the services; closes everything in the reverse order.

    Raises `DataFolderBusy` when another process holds the folder, `ConfigurationError` for a folder or settings that do not
    work, `DiskFull` when there is no room to start, and `Unavailable` when a server that the settings name cannot be reached.
    """
    _check(settings)
    async with contextlib.AsyncExitStack() as stack:
        with _opening(settings):
            services = await _open(settings, stack)
        yield services


@contextlib.contextmanager
def _opening(settings: Settings) -> Generator[None]:
    """Errors of the system and of the database driver, as ours."""
    try:
        with folder_errors(settings.data):
            yield
    except OSError as error:
        raise Unavailable(f"A server that the settings name cannot be reached: {error}") from error
    except DBAPIError as error:
        raise ConfigurationError(f"The database cannot be opened: {error.orig}") from error


async def _open(settings: Settings, stack: contextlib.AsyncExitStack) -> Services:
    folder = DataFolder(settings.data)
    folder.hold()
    stack.callback(folder.release)
    DiskReserve(settings.data, LEAST_FREE).require()
    stores = await _open_stores(settings, stack)
    blobs = registry.build_blob_store(settings.blobs)
    await _sweep(settings, stores, blobs)
    indexes = await _open_indexes(settings, stores, stack)
    space = DiskReserve(settings.data, max(settings.uploads.reserved_disk_bytes, LEAST_FREE))
    parsers = ParserPool(settings.parser.processes + 1, _parser_limits(settings), space=space)  # see `WorkerLimits`
    stack.push_async_callback(parsers.close)
    migration = IndexMigration(
        indexes,
        IndexRepository(stores.database),
        stores.content,
        _opener(settings, stores, indexes),
        settings.chunking.max_dense_rows,
    )
    stack.push_async_callback(migration.close)
    await _open_beside(settings, stores, indexes, migration)
    services = await _assemble(settings, folder, stores, blobs, indexes, parsers, migration, space)
    await services.resources.finish_deletions()
    if indexes.rebuilding is not None:
        task = asyncio.create_task(restore(indexes, indexes.active, stores.content, settings.chunking.max_dense_rows))
        stack.push_async_callback(_cancel, task)
    if settings.stages.workers:
        services.workers.start()
        stack.push_async_callback(services.workers.stop)
    return services


def _check(settings: Settings) -> None:
    """Raise `ConfigurationError` for a missing adapter, package, model or key before anything is opened or written."""
    registry.check(settings)
    _chat_model(settings)
    _vision_model(settings)


async def _open_stores(settings: Settings, stack: contextlib.AsyncExitStack) -> _Stores:
    database = await _open_database(settings, stack)
    return _Stores(
        database,
        OwnerRepository(database),
        ProjectRepository(database),
        ResourceRepository(database),
        ContentRepository(database),
        JobRepository(database, settings.stages.lease_seconds),
    )


async def _open_database(settings: Settings, stack: contextlib.AsyncExitStack) -> Database:
    """The database with its schema up to date; `ConfigurationError` when it cannot be opened or reached."""
    name = settings.name_of("database_url")
    try:
        database = Database(settings.sql_url)
    except ModuleNotFoundError as error:
        raise MissingDependency(
            f"{name} is set, and Postgres needs the package {error.name!r}. Install it with: pip install 'citewell[postgres]'"
        ) from error
    stack.push_async_callback(database.close)
    try:
        await database.migrate(settings.data / "backups")
    except DatabaseUnusable as error:
        advice = f"Check {settings.data / 'citewell.db'}" if settings.database_url is None else f"Check {name}"
        raise ConfigurationError(f"The database cannot be opened: {error}. {advice}.") from error
    return database


async def _sweep(settings: Settings, stores: _Stores, blobs: BlobStore) -> None:
    """Undo what a process that died has left: temporary files, leases of its own, and local blobs that no row knows."""
    await asyncio.to_thread(clear_folder, settings.data / "uploads")
    await asyncio.to_thread(shutil.rmtree, settings.data / "scratch", ignore_errors=True)
    if stores.database.is_sqlite:
        await stores.jobs.release_all()
    if blobs.backend == "local":
        known = await stores.resources.known_blob_keys()
        for key in set(await blobs.list("")) - known:
            await blobs.delete(key)


async def _open_indexes(settings: Settings, stores: _Stores, stack: contextlib.AsyncExitStack) -> IndexSet:
    """The index that answers: the one that was active, else the configured model's. It is noted as being rebuilt unless it is whole."""
    repository = IndexRepository(stores.database)
    before = await repository.active()
    if before is not None and before.store == settings.store.provider:
        settings = _with_model(settings, before.settings)
    embedder = _embedder(settings, stores.database)
    record = await repository.ensure_active(str(embedder.fingerprint), settings.store.provider, _model(settings))
    if record.state is not IndexState.ACTIVE:  # the same model, in another revision than the one that was active
        await repository.activate(record.id)
    store, is_whole = await _open_store(settings, embedder, stores.content)
    indexes = IndexSet(OpenIndex(record, embedder, store))
    stack.push_async_callback(indexes.close)
    if not is_whole:
        total = await stores.content.count_chunks()
        indexes.note_rebuilding(record.id, Rebuilding(min(await store.count(), total), total))
    return indexes


async def _open_store(settings: Settings, embedder: Embedder, content: ContentRepository) -> tuple[VectorIndex, bool]:
    """The vector store of a model, and whether it holds what it should. An embedded one that does not work is set aside for an empty one."""
    if not settings.store.is_embedded:
        return await registry.open_index(settings.store, embedder.fingerprint), True
    try:
        store = await registry.open_index(settings.store, embedder.fingerprint)
        condition = await condition_of(store, content)
        if condition is not IndexCondition.DAMAGED:
            return store, condition is IndexCondition.WHOLE
        await store.close()
        log.error("an index lacks what its points should hold")
    except Unavailable:
        log.warning("an index does not open", exc_info=True)
    broken = settings.store.index_folder(str(embedder.fingerprint))
    log.error("the index in %s is damaged; it is set aside and rebuilt from SQL", broken)
    await asyncio.to_thread(_set_aside, broken)
    return await registry.open_index(settings.store, embedder.fingerprint), await content.count_chunks() == 0


async def _open_beside(settings: Settings, stores: _Stores, indexes: IndexSet, migration: IndexMigration) -> None:
    """Open every other index, so that it stays up to date, and go on building; begin the configured model's when it is new."""
    for record in await migration.records.all():
        if record.id == indexes.active.record.id or record.store != settings.store.provider:
            continue
        try:
            index = await migration.open_index(record.settings)
        except CitewellError as error:
            log.warning("index %s stays closed: %s", record.fingerprint, error.message)
            continue
        indexes.add(index)
        if record.state is not IndexState.BUILDING and settings.store.is_embedded:
            if await condition_of(index.store, stores.content) is IndexCondition.WHOLE:
                continue
            log.warning("index %s has lost points; it is built again", record.fingerprint)
            await migration.records.set_progress(record.id, 0, 0, IndexState.BUILDING)
        migration.resume(index)
    configured = _embedder(settings, stores.database).fingerprint
    if all(str(configured) != index.record.fingerprint for index in indexes.all):
        log.warning("building an index for %s beside the active one; see `citewell index`", configured)
        await migration.begin(_model(settings))


def _opener(settings: Settings, stores: _Stores, indexes: IndexSet) -> Opener:
    repository = IndexRepository(stores.database)

    async def open_index(model: dict[str, Any]) -> OpenIndex:
        chosen = _with_model(settings, model)
        embedder = _embedder(chosen, stores.database)
        record = await repository.create(str(embedder.fingerprint), chosen.store.provider, model)
        known = indexes.find(record.id)
        if known is not None:
            return known
        store, _ = await _open_store(chosen, embedder, stores.content)
        return OpenIndex(record, embedder, store)

    return open_index


def _model(settings: Settings) -> dict[str, Any]:
    """The settings that say which embedding model it is."""
    return {
        "provider": settings.embedding.provider,
        "model": settings.embedding.model,
        "dimensions": settings.embedding.dimensions,
    }


def _with_model(settings: Settings, model: dict[str, Any]) -> Settings:
    names = {"provider": "embedding_provider", "model": "embedding_model", "dimensions": "embedding_dimensions"}
    return change(settings, **{names[key]: value for key, value in model.items() if key in names})


def _set_aside(folder: os.PathLike[str]) -> None:
    aside = f"{os.fspath(folder)}.damaged"
    shutil.rmtree(aside, ignore_errors=True)
    shutil.move(folder, aside)


async def _assemble(
    settings: Settings,
    folder: DataFolder,
    stores: _Stores,
    blobs: BlobStore,
    indexes: IndexSet,
    parsers: ParserPool,
    migration: IndexMigration,
    space: DiskReserve,
) -> Services:
    chunking = server_chunking(settings.chunking)
    usage = UsageRepository(stores.database)
    ledger = Ledger(usage, settings.usage.prices)
    capture = Capture(stores.resources, blobs, settings.data / "uploads", settings.uploads.max_bytes, space)
    workers = _workers(settings, stores, blobs, indexes, parsers, capture, chunking, ledger, space)
    resources = ResourceService(
        stores.resources,
        stores.content,
        EventRepository(stores.database),
        stores.projects,
        stores.jobs,
        blobs,
        capture,
        RecordIngest(RecordRepository(stores.database), indexes, chunking, ledger.record_paid),
        indexes,
        workers.wake,
        DiskReserve(settings.data, LEAST_FREE),
    )
    chat = _chat_model(settings)
    passages = SqlChunks(stores.content, stores.projects)
    reranker = _reranker(settings)
    search = SearchService(indexes, passages, _retrieval(settings), reranker, chat, settings.retrieval.top_k)
    library = SqlLibrary(stores.resources, stores.projects, stores.content)
    tables = SqlTables(stores.resources, stores.projects, stores.content, blobs, settings.data / "cache")
    assistant = _assistant(settings, search, indexes.embedder, library, tables, chat)
    threads = ThreadRepository(stores.database)
    local_owner = await stores.owners.ensure(LOCAL_OWNER)
    await stores.owners.adopt_token(local_owner, "this machine", folder.token())
    return Services(
        settings=settings,
        local_owner=local_owner,
        auth=AuthService(stores.owners, _jwt_rules(settings), settings.auth.requests_per_minute),
        resources=resources,
        search=search,
        chat=ChatService(
            *(
                assistant,
                threads,
                stores.projects,
                stores.resources,
                ledger,
                settings.retrieval.top_k,
                settings.usage.compare_model,
            ),
            can_rerank=reranker is not None,
        ),
        threads=threads,
        projects=stores.projects,
        usage=usage,
        ledger=ledger,
        indexes=IndexService(migration, search, local_owner),
        health=HealthService(indexes, stores.content, stores.jobs),
        workers=workers,
        folder=folder,
        parsers=parsers,
    )


def _workers(
    settings: Settings,
    stores: _Stores,
    blobs: BlobStore,
    indexes: IndexSet,
    parsers: ParserPool,
    capture: Capture,
    chunking: ChunkConfig,
    ledger: Ledger,
    space: DiskReserve,
) -> Workers:
    limits = ExtractOptions(
        ocr=settings.parser.ocr, max_pages=settings.parser.max_pages, max_pixels=settings.parser.max_pixels
    )
    read_ahead = ReadAhead(stores.projects, indexes, chunking)
    scratch = settings.data / "scratch"
    adoption = Adoption(stores.resources, stores.jobs, blobs, capture)
    extraction = ExtractionStage(
        stores.resources, stores.content, stores.jobs, blobs, parsers, adoption, scratch, limits, read_ahead
    )
    describer = ImageDescriber(
        _vision_model(settings), stores.content, stores.jobs, blobs, settings.stages.max_attempts
    )
    indexing = IndexingStage(
        stores.resources,
        stores.content,
        stores.jobs,
        stores.projects,
        indexes,
        describer,
        chunking,
        settings.chunking.max_dense_rows,
        ledger.record_paid,
    )
    worker_limits = WorkerLimits(
        extracting=settings.parser.processes,
        max_attempts=settings.stages.max_attempts,
        lease_seconds=settings.stages.lease_seconds,
    )
    name = f"{socket.gethostname()}:{os.getpid()}"
    return Workers(name, stores.jobs, extraction, indexing, worker_limits, space)


def _embedder(settings: Settings, database: Database) -> Embedder:
    embedder: Embedder = MeteredEmbedder(registry.build_embedder(settings.embedding))
    if not settings.embedding.is_local:
        embedder = RetryingEmbedder(embedder)
    return CachingEmbedder(embedder, EmbeddingCacheRepository(database))


def _assistant(
    settings: Settings,
    search: SearchService,
    embedder: Embedder,
    library: SqlLibrary,
    tables: SqlTables,
    chat: ChatModel | None,
) -> Assistant:
    configured = settings.chat
    return Assistant(
        search,
        embedder,
        library=library,
        elements=library,
        tables=tables,
        chat_model=chat,
        budget=Budget(
            context_tokens=settings.answers.context_tokens,
            seconds=settings.answers.seconds,
            answer_tokens=None if isinstance(configured, NoChat) else configured.max_tokens,
            temperature=0.0 if isinstance(configured, NoChat) else configured.temperature or 0.0,
        ),
    )


def _chat_model(settings: Settings) -> ChatModel | None:
    model = registry.build_chat_model(settings.chat)
    return MeteredChat(model, settings.chat.provider) if model is not None else None


def _vision_model(settings: Settings) -> VisionModel | None:
    model = registry.build_vision_model(settings.vision)
    return MeteredVision(model, settings.vision.provider) if model is not None else None


def _reranker(settings: Settings) -> Reranker | None:
    reranker = registry.build_reranker(settings.rerank)
    return MeteredReranker(reranker, settings.rerank.provider) if reranker is not None else None


def _parser_limits(settings: Settings) -> ParserLimits:
    return ParserLimits(
        memory_bytes=settings.parser.memory_bytes,
        total_seconds=settings.parser.seconds,
        stall_seconds=settings.parser.silence_seconds,
    )


def _retrieval(settings: Settings) -> RetrievalOptions:
    retrieval, rerank = settings.retrieval, settings.rerank
    return RetrievalOptions(
        candidates=retrieval.candidates,
        rerank_candidates=rerank.candidates,
        rerank_top_n=rerank.top_n,
        rerank_threshold=rerank.threshold or None,
        rerank=rerank.enabled,
        variations=retrieval.query_variations,
        self_query=SelfQuery(retrieval.self_query),
        fusion=FusionMethod(retrieval.fusion),
        dense_weight=retrieval.dense_weight,
        vector_threshold=max(retrieval.score_threshold, retrieval.vector_threshold),
        near_duplicate=retrieval.near_duplicate or None,
        diversity=retrieval.diversity,
    )


def _jwt_rules(settings: Settings) -> JwtRules | None:
    if settings.auth.secret is None:
        return None
    return JwtRules(
        secret=settings.auth.secret.get_secret_value(),
        algorithm=settings.auth.algorithm,
        issuer=settings.auth.issuer,
        audience=settings.auth.audience,
    )


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
