"""Puts the parts together: the only place that knows ports and adapters both."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy.exc import DBAPIError

from citewell.adapters import registry
from citewell.agent.tables.run.copies import CopyReader
from citewell.chunk.config import ChunkConfig
from citewell.composition.accounts import (
    account_service,
    auth_service,
    identity_service,
    own_machine,
    password_reset_service,
    service_account_service,
    shared_answer_service,
)
from citewell.composition.chat_models import AnswerWith, UsedModel, used_model
from citewell.composition.configured import (
    answer_reader,
    build_chat_model,
    build_reranker,
    capture,
    citation_service,
    comparison_embedder,
    message_reader,
    parser_limits,
    retrieval_options,
    speller,
    suggestion_service,
    table_reader,
    thread_service,
    turn_runner,
)
from citewell.composition.conversations import chat_service, conversation_search, memory_service
from citewell.composition.estimates import estimate_service
from citewell.composition.indexes import IndexOpener
from citewell.composition.languages import LanguageWatch, watched_languages
from citewell.composition.leftovers import sweep
from citewell.composition.local_models import local_model_service
from citewell.composition.owner_data import owner_data_service
from citewell.composition.pairing import pair
from citewell.composition.protocols import mcp_tools, openai_files, openai_responses
from citewell.composition.quotas import quota_service
from citewell.composition.resources import file_expiry, picture_search, resource_contents, resource_service
from citewell.composition.sources import source_service
from citewell.composition.stores import Stores, open_stores, reserved_bytes
from citewell.composition.telegram import telegram_service
from citewell.composition.webhooks import delivery_runner, trigger_service, webhook_service
from citewell.composition.working import WorkParts, build_workers
from citewell.errors import ConfigurationError, Unavailable
from citewell.features.accounts.resets import PasswordResetService
from citewell.features.accounts.service import AccountService
from citewell.features.audit.service import AuditLog
from citewell.features.auth.service import AuthService
from citewell.features.chat.service import ChatService
from citewell.features.citations.service import CitationService
from citewell.features.estimates.service import EstimateService
from citewell.features.health.findings import Finding
from citewell.features.health.service import Configuration, HealthService
from citewell.features.identities.service import IdentityService
from citewell.features.indexes.service import IndexService
from citewell.features.local_models.service import LocalModelService
from citewell.features.mcp.service import McpTools
from citewell.features.memory.service import MemoryService
from citewell.features.openai_compatible.service import CompletionService
from citewell.features.openai_files.service import OpenAIFiles
from citewell.features.openai_responses.service import ResponseService
from citewell.features.owner_data.service import OwnerDataService
from citewell.features.projects.service import ProjectService
from citewell.features.quotas.service import QuotaService
from citewell.features.reindexing.service import ReindexService
from citewell.features.resources.contents import ResourceContents
from citewell.features.resources.expiring import Expiring
from citewell.features.resources.service import ResourceService
from citewell.features.samples.service import SampleService
from citewell.features.search.pictures import PictureSearch
from citewell.features.search.service import ChatSlot, SearchService
from citewell.features.service_accounts.service import ServiceAccountService
from citewell.features.shared_answers.service import SharedAnswerService
from citewell.features.sources.service import SourceService
from citewell.features.suggestions.service import SuggestionService
from citewell.features.tables.service import TableService
from citewell.features.telegram.service import TelegramService
from citewell.features.threads.service import ThreadService
from citewell.features.triggers.service import TriggerService
from citewell.features.turns import Answering, LateAssistant
from citewell.features.usage.service import Ledger, UsageService
from citewell.features.webhooks.delivery import DeliveryRunner
from citewell.features.webhooks.service import WebhookService
from citewell.indexes.index_set import IndexSet
from citewell.indexes.migration import IndexMigration
from citewell.indexes.pictures import PictureSource
from citewell.indexes.restoring import restore
from citewell.ingest.capture import Capture
from citewell.ingest.chunking import server_chunking
from citewell.ingest.journal import BlobJournal
from citewell.ingest.parsers import ParserPool
from citewell.ingest.payloads import PayloadWriter
from citewell.ingest.workers import Workers
from citewell.ports import BlobStore
from citewell.retrieve.conversations import ConversationSearch
from citewell.settings import RemoteEmbedding, Settings
from citewell.storage.accounts.audit import AuditRepository
from citewell.storage.channels.claude_files import ClaudeFileRepository
from citewell.storage.conversations.threads import ThreadRepository
from citewell.storage.files.passages import SqlChunks
from citewell.storage.files.table_copies import SqlTables
from citewell.storage.spending.usage import UsageRepository
from citewell.storage.vectors.indexes import IndexState
from citewell.system.disk import MIN_FREE_BYTES, DiskReserve
from citewell.system.folder import DataFolder, folder_errors

if TYPE_CHECKING:
    from citewell.agent.graph import Assistant

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything an entry point may call, and the local owner's id."""

    local_owner: str
    auth: AuthService
    audit: AuditLog
    accounts: AccountService
    password_resets: PasswordResetService
    identities: IdentityService
    service_accounts: ServiceAccountService
    resources: ResourceService
    expiring: Expiring
    contents: ResourceContents
    estimates: EstimateService
    search: SearchService
    pictures: PictureSearch
    chat: ChatService
    citations: CitationService
    claude_files: ClaudeFileRepository
    completions: CompletionService
    mcp: McpTools
    openai_files: OpenAIFiles
    openai_responses: ResponseService
    threads: ThreadService
    shared_answers: SharedAnswerService
    projects: ProjectService
    quotas: QuotaService
    reindexing: ReindexService
    usage: UsageService
    webhooks: WebhookService
    triggers: TriggerService
    owner_data: OwnerDataService
    samples: SampleService
    sources: SourceService
    suggestions: SuggestionService
    tables: TableService
    local_models: LocalModelService
    memory: MemoryService
    telegram: TelegramService
    indexes: IndexService
    health: HealthService
    workers: Workers
    folder: DataFolder
    parsers: ParserPool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """What is open, and what the services are made of."""

    settings: Settings
    stack: contextlib.AsyncExitStack
    folder: DataFolder
    stores: Stores
    blobs: BlobStore
    journal: BlobJournal
    indexes: IndexSet
    opener: IndexOpener
    payloads: PayloadWriter
    deliveries: DeliveryRunner
    migration: IndexMigration
    parsers: ParserPool
    space: DiskReserve
    capture: Capture
    chunking: ChunkConfig
    ledger: Ledger
    configuration: Configuration
    languages: LanguageWatch


@asynccontextmanager
async def open_services(settings: Settings, configuration: Configuration | None = None) -> AsyncGenerator[Services]:
    """Open the data folder, start the workers, and give out the services; closes everything in the reverse order.

    configuration: looks at what is configured, for the health service.
    Raises `DataFolderBusy` when another process holds the folder, `ConfigurationError` for a folder or settings that do not
    work, `DiskFull` when there is no room to start, and `Unavailable` when a server that the settings name cannot be reached.
    """
    _check(settings)
    async with contextlib.AsyncExitStack() as stack:
        with _opening(settings):
            services = await _open(settings, configuration or _nothing, stack)
        yield services


async def _nothing() -> list[Finding]:
    return []


@contextlib.contextmanager
def _opening(settings: Settings) -> Generator[None]:
    """Errors of the system and of the database driver, as ours."""
    try:
        with folder_errors(settings.data):
            yield
    except OSError as error:
        raise Unavailable(f"A configured server cannot be reached: {error}") from error
    except DBAPIError as error:
        raise ConfigurationError(f"The database cannot be opened: {error.orig}") from error


async def _open(settings: Settings, configuration: Configuration, stack: contextlib.AsyncExitStack) -> Services:
    folder = DataFolder(settings.data)
    folder.hold()
    stack.callback(folder.release)
    DiskReserve(settings.data, MIN_FREE_BYTES).require()
    stores = await open_stores(settings, stack)
    await pair(settings, stores)
    blobs = registry.build_blob_store(settings.blobs)
    journal = BlobJournal(settings.data / "journal")
    stack.callback(journal.close)
    await sweep(settings, stores, blobs, journal)
    pictures = PictureSource(content=stores.content, blobs=blobs)
    opener = IndexOpener(settings=settings, database=stores.database, content=stores.content, pictures=pictures)
    indexes = await opener.open_active(stack)
    space = DiskReserve(settings.data, reserved_bytes(settings))
    parsers = ParserPool(
        settings.parser.processes + 1, limits=parser_limits(settings), space=space
    )  # see `WorkerLimits`
    stack.push_async_callback(parsers.close)
    migration = opener.migration(indexes, _process_name())
    stack.push_async_callback(migration.close)
    await opener.open_beside(indexes, migration)
    if not stores.database.is_sqlite:
        stack.push_async_callback(_cancel, asyncio.create_task(opener.watch(indexes, migration)))
    languages = await stack.enter_async_context(watched_languages(opener, stores.resources, indexes, migration))
    payloads = PayloadWriter(name=_process_name(), changes=stores.payloads, indexes=indexes)
    deliveries = await delivery_runner(settings, stores.database, _process_name())
    services = await _assemble(
        _Parts(
            settings=settings,
            stack=stack,
            folder=folder,
            stores=stores,
            blobs=blobs,
            indexes=indexes,
            opener=opener,
            payloads=payloads,
            deliveries=deliveries,
            migration=migration,
            parsers=parsers,
            space=space,
            journal=journal,
            capture=capture(settings, stores, blobs, journal, space),
            chunking=server_chunking(settings.chunking),
            ledger=Ledger(usage=UsageRepository(stores.database), prices=settings.usage.prices),
            configuration=configuration,
            languages=languages,
        )
    )
    await services.audit.start()
    stack.push_async_callback(services.audit.stop)
    stack.push_async_callback(services.search.close)
    stack.push_async_callback(services.chat.finish)
    await services.resources.finish_deletions()
    if indexes.rebuilding is not None and indexes.active.record.state is IndexState.ACTIVE:
        task = asyncio.create_task(restore(indexes, indexes.active, stores.content, settings.chunking.max_dense_rows))
        stack.push_async_callback(_cancel, task)
    if settings.stages.workers:
        _start(stack, services.workers, payloads, deliveries, services.expiring)
    return services


def _start(stack: contextlib.AsyncExitStack, *work: Workers | PayloadWriter | DeliveryRunner | Expiring) -> None:
    for one in work:
        one.start()
        stack.push_async_callback(one.stop)


def _check(settings: Settings) -> None:
    """Raise `ConfigurationError` for a missing adapter, package, model or embedder's key before anything is opened or written.

    Without the key of a chat or vision model Citewell starts: files are read and searched, and answers extracted.
    """
    registry.check(settings)
    for problem in (settings.chat.missing_key, settings.vision.missing_key):
        if problem is not None:
            log.warning("%s Citewell starts without this model.", problem)
    if settings.chat.missing_key is None:
        registry.build_chat_model(settings.chat)
    if settings.vision.missing_key is None:
        registry.build_vision_model(settings.vision)
    if isinstance(settings.embedding, RemoteEmbedding):
        registry.build_embedder(settings.embedding)


async def _assemble(parts: _Parts) -> Services:
    """The services over what is open."""
    settings, stores = parts.settings, parts.stores
    local_owner, workers = await own_machine(stores.owners, parts.folder), _workers(parts)
    resources, contents = _resource_service(parts, workers), resource_contents(stores, parts.blobs)
    search, tables = _search_service(parts), _table_service(parts)
    conversations = conversation_search(stores, parts.indexes)
    assistant_with = _assistants(parts, search, tables, conversations)
    extractive, used = assistant_with(None), used_model(settings, parts.folder, parts.stack, search.chat.model)
    answering = Answering(assistant_with(used) if used else extractive)
    answer_with = _exchange(answering, search, assistant_with)
    local_models = await local_model_service(settings, parts.folder, local_owner, used, answer_with, parts.stack)
    turns, threads = turn_runner(settings, stores, parts.ledger, answering), ThreadRepository(stores.database)
    auth = auth_service(settings, parts.folder, stores, local_owner)
    accounts = account_service(settings, stores.database, auth)
    chat = chat_service(settings, stores, parts.indexes, turns, threads, search, conversations)
    owner_data = owner_data_service(settings.data, stores, parts.blobs, parts.indexes, resources, local_owner, auth)
    return Services(
        local_owner=local_owner,
        auth=auth,
        audit=(audit := AuditLog(repository=AuditRepository(stores.database), days=settings.audit.days)),
        accounts=accounts,
        password_resets=password_reset_service(settings, stores.database, accounts, parts.stack),
        identities=identity_service(settings, parts.folder, accounts),
        service_accounts=service_account_service(stores, auth, owner_data.erase),
        resources=resources,
        expiring=file_expiry(resources, audit),
        contents=contents,
        estimates=estimate_service(settings, stores.database, parts.indexes),
        search=search,
        pictures=picture_search(settings, stores, search, parts.parsers, parts.capture),
        chat=chat,
        citations=citation_service(parts.indexes, stores, parts.ledger),
        claude_files=ClaudeFileRepository(stores.database),
        completions=CompletionService(turns=turns, projects=stores.projects),
        mcp=mcp_tools(settings, stores, parts.ledger, extractive),
        openai_files=openai_files(stores, resources, contents, search),
        openai_responses=openai_responses(stores, turns),
        threads=thread_service(stores, threads, chat.detached, auth),
        shared_answers=shared_answer_service(stores.database),
        projects=ProjectService(repository=stores.projects, chunking=parts.chunking, has_index=parts.indexes.has),
        quotas=quota_service(stores),
        reindexing=ReindexService(repository=stores.reprocessing, projects=stores.projects, wake=workers.wake),
        usage=UsageService(usage=parts.ledger.usage),
        webhooks=webhook_service(settings, stores.database, parts.deliveries),
        triggers=await trigger_service(stores.database, stores.projects, resources, chat, auth.admit),
        owner_data=owner_data,
        samples=SampleService(add_file=resources.add_file),
        sources=source_service(stores.database, resources, lambda: search.chat.model, parts.ledger.record_paid),
        suggestions=suggestion_service(settings, stores, extractive, parts.ledger.record_paid),
        tables=tables,
        local_models=local_models,
        memory=memory_service(stores, conversations, turns),
        telegram=telegram_service(settings, stores, parts.blobs, parts.parsers),
        indexes=parts.opener.service(parts.migration, search, local_owner),
        health=_health_service(parts, local_owner),
        workers=workers,
        folder=parts.folder,
        parsers=parts.parsers,
    )


def _health_service(parts: _Parts, local_owner: str) -> HealthService:
    return HealthService(
        indexes=parts.indexes,
        content=parts.stores.content,
        jobs=parts.stores.jobs,
        usage=parts.ledger.usage,
        local_owner=local_owner,
        configuration=parts.configuration,
        data=parts.folder.path,
        space=parts.space,
    )


def _resource_service(parts: _Parts, workers: Workers) -> ResourceService:
    return resource_service(
        parts.settings,
        parts.stores,
        blobs=parts.blobs,
        indexes=parts.indexes,
        capture=parts.capture,
        payloads=parts.payloads,
        chunking=parts.chunking,
        wake=workers.wake,
        on_spent=parts.ledger.record_paid,
    )


def _search_service(parts: _Parts) -> SearchService:
    return SearchService(
        indexes=parts.indexes,
        chunks=SqlChunks(parts.stores.content, parts.stores.projects, parts.stores.metadata),
        waiting=parts.stores.waiting,
        options=retrieval_options(parts.settings),
        on_spent=parts.ledger.record_paid,
        reranker=build_reranker(parts.settings, parts.stores.database),
        chat=ChatSlot(build_chat_model(parts.settings, parts.stores.database, parts.stack)),
        top_k=parts.settings.retrieval.top_k,
        is_logged=parts.settings.log_searches,
    )


def _process_name() -> str:
    """By what name leases know this process."""
    return f"{socket.gethostname()}:{os.getpid()}"


def _workers(parts: _Parts) -> Workers:
    return build_workers(
        _process_name(),
        WorkParts(
            settings=parts.settings,
            stack=parts.stack,
            stores=parts.stores,
            blobs=parts.blobs,
            journal=parts.journal,
            indexes=parts.indexes,
            parsers=parts.parsers,
            space=parts.space,
            capture=parts.capture,
            chunking=parts.chunking,
            on_spent=parts.ledger.record_paid,
            on_indexed=parts.languages.note,
        ),
    )


def _table_service(parts: _Parts) -> TableService:
    """Reads tables for their pages and, with the same reader, for answers."""
    stores, cache = parts.stores, parts.settings.data / "cache"
    tables = SqlTables(stores.resources, stores.projects, stores.content, parts.blobs, cache)
    return TableService(tables=tables, copies=CopyReader())


def _assistants(
    parts: _Parts, search: SearchService, tables: TableService, conversations: ConversationSearch
) -> Callable[[UsedModel | None], LateAssistant]:
    """Makes the assistant that answers with a chat model, or with none."""
    embedder = comparison_embedder(parts.indexes, parts.stores.database)
    reader, of_tables = answer_reader(), table_reader()
    of_messages, corrector = message_reader(), speller()

    def make(used: UsedModel | None) -> Assistant:
        from citewell.composition.assistants import build_assistant

        return build_assistant(
            parts.settings,
            parts.stores,
            embedder=embedder,
            across=comparison_embedder(parts.indexes, parts.stores.database, in_english=False),
            reader=reader,
            table_reader=of_tables,
            message_model=of_messages,
            speller=corrector,
            search=search,
            tables=tables.tables,
            copies=tables.copies,
            pictures=resource_contents(parts.stores, parts.blobs),
            conversations=conversations,
            used=used,
        )

    return lambda used: LateAssistant(partial(make, used))


def _exchange(
    answering: Answering, search: SearchService, assistant_with: Callable[[UsedModel | None], LateAssistant]
) -> AnswerWith:
    """Has a chat model, or none, take the turns and searches that begin from then on."""

    def answer_with(used: UsedModel | None) -> None:
        search.use_chat(None if used is None else used.model)
        answering.hand_over(assistant_with(used))

    return answer_with


async def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
