"""Uploads of existing files by callers limited to projects: they add the file to their project, and change only files they may change."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from citewell.errors import Forbidden
from citewell.features.resources.said import Said
from citewell.storage.work.reprocessing import ReprocessingRepository
from citewell.types import AskedOptions, Resource, UploadOptions
from citewell.types.metadata_values import MetadataLimits, checked_identifier, merged

_READING = ("multimodal", "extract_tables", "extract_images")
_REFUSED = (
    "This file, or a file inside it, is also in other projects, so only its owner may change it. "
    "To add it unchanged, send it without metadata, identifier, thread and options."
)


def may_change(project_ids: Collection[str], within: Collection[str] | None) -> bool:
    """Whether a caller restricted to the projects `within` (None: unrestricted) may change a file or record in `project_ids`.

    Only its owner may change a file that is in no project.
    """
    return within is None or (bool(project_ids) and set(project_ids) <= set(within))


async def require_as_it_is(
    file: Resource, said: Said, options: AskedOptions, limits: MetadataLimits, reprocessing: ReprocessingRepository
) -> None:
    """Raise `Forbidden` if an upload would change an existing file's annotations or options."""
    asked = _beyond_defaults(options)
    if _says_otherwise(file, said, limits) or await reprocessing.asks_more(file.owner_id, file.id, asked):
        raise Forbidden(_REFUSED)


def _says_otherwise(file: Resource, said: Said, limits: MetadataLimits) -> bool:
    identifier = checked_identifier(said.identifier) if said.identifier else None
    return (
        (bool(said.metadata) and merged(file.metadata, said.metadata or {}, limits) != file.metadata)
        or (said.identifier is not None and identifier != file.identifier)
        or (said.thread is not None and (said.thread.strip() or None) != file.thread)
    )


def _beyond_defaults(options: AskedOptions) -> AskedOptions:
    """Options without the defaults: forms always send these, so nobody requested them."""
    default = UploadOptions()
    unasked = {name: None for name in _READING if getattr(options, name) == getattr(default, name)}
    return replace(options, **unasked)
