"""The workers with their stages: what happens to a file after it was stored."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from citewell.chunk.config import ChunkConfig
from citewell.composition.configured import build_chat_model, build_vision_model, extract_options
from citewell.composition.stores import Stores
from citewell.indexes.index_set import IndexSet
from citewell.ingest.adoption import Adoption
from citewell.ingest.capture import Capture
from citewell.ingest.early_words import EarlyWords
from citewell.ingest.embedding import EmbeddingStage
from citewell.ingest.extraction import ExtractionStage
from citewell.ingest.finishing import Finishing
from citewell.ingest.indexing import IndexingStage
from citewell.ingest.journal import BlobJournal
from citewell.ingest.parsers import ParserPool
from citewell.ingest.short_files import ShortFiles
from citewell.ingest.summaries.step import Summariser
from citewell.ingest.vision import ImageDescriber
from citewell.ingest.workers import WorkerLimits, Workers
from citewell.ports import BlobStore
from citewell.ports.metering import OnSpent
from citewell.settings import Settings
from citewell.system.disk import DiskReserve


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkParts:
    """What workers are made of."""

    settings: Settings
    stack: contextlib.AsyncExitStack
    stores: Stores
    blobs: BlobStore
    journal: BlobJournal
    indexes: IndexSet
    parsers: ParserPool
    space: DiskReserve
    capture: Capture
    chunking: ChunkConfig
    on_spent: OnSpent
    on_indexed: Callable[[str | None], None]


def build_workers(name: str, parts: WorkParts) -> Workers:
    """Those of one process, which leases know by `name`."""
    settings, stores = parts.settings, parts.stores
    finishing = _finishing(parts)
    early = EarlyWords(
        content=stores.content,
        jobs=stores.jobs,
        projects=stores.projects,
        indexes=parts.indexes,
        finishing=finishing,
        chunking=parts.chunking,
    )
    extraction, indexing = _extraction(parts, early), _indexing(parts, finishing, early)
    return Workers(
        name=name,
        jobs=stores.jobs,
        extraction=extraction,
        indexing=indexing,
        short=ShortFiles(
            resources=stores.resources,
            content=stores.content,
            jobs=stores.jobs,
            payloads=stores.payloads,
            blobs=parts.blobs,
            parsers=parts.parsers,
            indexing=indexing,
            finishing=finishing,
            scratch=extraction.scratch,
            limits=extraction.limits,
            on_spent=parts.on_spent,
        ),
        embedding=EmbeddingStage(
            resources=stores.resources,
            content=stores.content,
            jobs=stores.jobs,
            waiting=stores.waiting,
            indexes=parts.indexes,
            finishing=finishing,
            on_spent=parts.on_spent,
        ),
        limits=WorkerLimits(
            extracting=settings.parser.processes,
            max_attempts=settings.stages.max_attempts,
            lease_seconds=settings.stages.lease_seconds,
        ),
        space=parts.space,
    )


def _extraction(parts: WorkParts, early: EarlyWords) -> ExtractionStage:
    stores = parts.stores
    return ExtractionStage(
        resources=stores.resources,
        content=stores.content,
        jobs=stores.jobs,
        blobs=parts.blobs,
        journal=parts.journal,
        parsers=parts.parsers,
        adoption=Adoption(
            resources=stores.resources,
            jobs=stores.jobs,
            blobs=parts.blobs,
            journal=parts.journal,
            capture=parts.capture,
            quotas=stores.quotas,
        ),
        scratch=parts.settings.data / "scratch",
        limits=extract_options(parts.settings, parts.indexes),
        early=early,
    )


def _finishing(parts: WorkParts) -> Finishing:
    settings, stores = parts.settings, parts.stores
    chat = build_chat_model(settings, stores.database, parts.stack)
    return Finishing(
        resources=stores.resources,
        content=stores.content,
        jobs=stores.jobs,
        payloads=stores.payloads,
        indexes=parts.indexes,
        summariser=Summariser(model=chat, tokens=settings.summaries.tokens),
        attempts=settings.stages.max_attempts,
    )


def _indexing(parts: WorkParts, finishing: Finishing, early: EarlyWords) -> IndexingStage:
    settings, stores = parts.settings, parts.stores
    return IndexingStage(
        resources=stores.resources,
        content=stores.content,
        jobs=stores.jobs,
        projects=stores.projects,
        indexes=parts.indexes,
        describer=ImageDescriber(
            model=build_vision_model(settings, stores.database, parts.stack),
            content=stores.content,
            jobs=stores.jobs,
            blobs=parts.blobs,
            attempts=settings.stages.max_attempts,
        ),
        finishing=finishing,
        early=early,
        chunking=parts.chunking,
        max_dense_rows=settings.chunking.max_dense_rows,
        on_spent=parts.on_spent,
        on_indexed=parts.on_indexed,
    )
