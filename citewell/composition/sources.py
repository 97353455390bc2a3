"""The service of synchronised sources, over the one of files: an item is a file with an identity of its own."""

from __future__ import annotations

from collections.abc import Callable

from citewell.features.resources.said import Said
from citewell.features.resources.service import ResourceService
from citewell.features.sources.service import FileOfItem, SourceService
from citewell.ingest.capture import Spooled, item_identity
from citewell.ports import ChatModel
from citewell.ports.metering import OnSpent
from citewell.storage.channels.sources import SourceRepository
from citewell.storage.database import Database
from citewell.storage.files.projects import ProjectRepository
from citewell.types import UploadOptions, UploadOutcome

_SOURCE = "sync"


def source_service(
    database: Database, resources: ResourceService, chat: Callable[[], ChatModel | None], on_spent: OnSpent
) -> SourceService:
    """The service whose items are files of `resources`; `chat` is the model of the moment."""

    async def keep(
        owner_id: str, file: Spooled, filename: str, said: FileOfItem, resource_id: str | None
    ) -> tuple[str, UploadOutcome]:
        about = Said(metadata=said.metadata, identifier=said.identifier)
        if resource_id is None:
            resource, outcome = await resources.upload(
                owner_id,
                file,
                filename,
                project=said.project_id,
                said=about,
                options=said.options,
                source=_SOURCE,
                item=said.identity,
            )
            return resource.id, outcome
        known = await resources.repository.get(owner_id, resource_id)
        if known.content_hash != item_identity(said.identity, file.content_hash):
            options = said.options.over(UploadOptions())
            await resources.replace(owner_id, resource_id, file, filename, options, said.metadata, item=said.identity)
            return resource_id, UploadOutcome.REREAD
        file.path.unlink(missing_ok=True)
        described = await resources.describe(owner_id, resource_id, about)
        _, outcome = await resources.reprocess(owner_id, resource_id, said.options)
        is_changed = described.metadata != known.metadata or described.identifier != known.identifier
        return resource_id, UploadOutcome.REINDEXED if is_changed and outcome is UploadOutcome.UNCHANGED else outcome

    return SourceService(
        repository=SourceRepository(database),
        projects=ProjectRepository(database),
        spools=resources.receiving,
        size_limit=resources.max_bytes,
        keep_file=keep,
        delete_file=resources.delete,
        limits=resources.limits,
        chat=chat,
        on_spent=on_spent,
    )
