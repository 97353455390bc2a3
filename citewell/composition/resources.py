"""What changes resources, and what reads them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from citewell.chunk.config import ChunkConfig
from citewell.composition.configured import metadata_limits
from citewell.composition.stores import Stores
from citewell.features.audit.service import AuditLog
from citewell.features.resources.contents import ResourceContents
from citewell.features.resources.expiring import Expiring
from citewell.features.resources.service import ResourceService
from citewell.features.search.pictures import PictureSearch
from citewell.features.search.service import SearchService
from citewell.indexes.index_set import IndexSet
from citewell.ingest.capture import Capture
from citewell.ingest.examples import ExampleReader
from citewell.ingest.parsers import ParserPool
from citewell.ingest.payloads import PayloadWriter
from citewell.ingest.records import RecordIngest
from citewell.ports import BlobStore
from citewell.ports.metering import OnSpent
from citewell.settings import Settings
from citewell.storage.files.events import EventRepository
from citewell.storage.files.expiry import ExpiryRepository
from citewell.storage.files.facets import FacetRepository
from citewell.storage.files.likenesses import LikenessRepository
from citewell.storage.files.records import RecordRepository
from citewell.system.lost_found import LostAndFound
from citewell.types import ExtractOptions


def resource_service(
    settings: Settings,
    stores: Stores,
    *,
    blobs: BlobStore,
    indexes: IndexSet,
    capture: Capture,
    payloads: PayloadWriter,
    chunking: ChunkConfig,
    wake: Callable[..., None],
    on_spent: OnSpent,
) -> ResourceService:
    """Uploads, descriptions, lists and deletions. wake: has the workers look for work; on_spent: told what texts cost that are embedded at once."""
    return ResourceService(
        repository=stores.resources,
        events=EventRepository(stores.database),
        projects=stores.projects,
        jobs=stores.jobs,
        reprocessing=stores.reprocessing,
        blobs=blobs,
        capture=capture,
        records=RecordIngest(
            records=RecordRepository(stores.database, stores.quotas),
            payloads=stores.payloads,
            indexes=indexes,
            chunking=chunking,
            limits=metadata_limits(settings),
            on_spent=on_spent,
        ),
        indexes=indexes,
        metadata=stores.metadata,
        facets_of=FacetRepository(stores.database),
        payloads=payloads,
        limits=metadata_limits(settings),
        chunking=chunking,
        wake=wake,
        lost=LostAndFound(settings.data),
        expiry=ExpiryRepository(stores.database),
        hours_of=partial(_hours_of, settings),
    )


def _hours_of(settings: Settings, source: str) -> float:
    """The lifetime of files from a source."""
    own = {"telegram": settings.telegram.file_hours}.get(source)
    return settings.uploads.file_hours if own is None else own


def resource_contents(stores: Stores, blobs: BlobStore) -> ResourceContents:
    """Elements, passages, pictures and bytes."""
    return ResourceContents(resources=stores.resources, content=stores.content, blobs=blobs)


def file_expiry(resources: ResourceService, audit: AuditLog) -> Expiring:
    """What deletes files at the end of their lifetime."""
    note = partial(audit.write, is_noted=False)
    return Expiring(files=resources.expiry, expire=resources.expire, note=note, kept_days=audit.days)


def picture_search(
    settings: Settings, stores: Stores, search: SearchService, parsers: ParserPool, capture: Capture
) -> PictureSearch:
    """Search for pictures by words and by example."""
    limits = ExtractOptions(max_pixels=settings.parser.max_pixels, ocr=False)
    return PictureSearch(
        search=search,
        likenesses=LikenessRepository(stores.database),
        examples=ExampleReader(parsers=parsers, scratch=settings.data / "scratch", limits=limits),
        capture=capture,
    )
