"""Known files that arrive again from callers who are kept to some projects: they add a file to their project, and change only what is theirs."""

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
    "This file, or one inside it, is in other projects too, so only its owner may change it. "
    "To add it as it is, send it without metadata, identifier, thread and options."
)


def may_change(project_ids: Collection[str], within: Collection[str] | None) -> bool:
    """Whether who is kept to the projects `within` (None for who is not) may change a file or record that is in `project_ids`.

    What is in no project at all is its owner's alone.
    """
    return within is None or (bool(project_ids) and set(project_ids) <= set(within))


async def require_as_it_is(
    file: Resource, said: Said, options: AskedOptions, limits: MetadataLimits, reprocessing: ReprocessingRepository
) -> None:
    """Raise `Forbidden` where an upload would change what is said of a known file, or how it is read and cut."""
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
    """Without the ways of reading that every file has unless told otherwise: forms send these along, and nobody asked for them."""
    default = UploadOptions()
    unasked = {name: None for name in _READING if getattr(options, name) == getattr(default, name)}
    return replace(options, **unasked)
