"""Draws pages of files as pictures with places marked, on request, in a parser process."""

from __future__ import annotations

import asyncio
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from citewell.errors import CorruptFile
from citewell.ingest.parsers import ParserPool
from citewell.ports import BlobStore
from citewell.storage.files.resources import ResourceRepository
from citewell.system.disk import disk_errors
from citewell.types import Box, ExtractOptions

_MAX_BYTES = 10 * 1024 * 1024
"""Most bytes of one picture; a JPEG with sides of 1,600 pixels has about 500 KB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageViews:
    """Draws pages; only a sandboxed process opens the untrusted file."""

    resources: ResourceRepository
    blobs: BlobStore
    parsers: ParserPool
    scratch: Path
    limits: ExtractOptions

    async def draw(self, owner_id: str, resource_id: str, version: int, page: int, boxes: Sequence[Box]) -> bytes:
        """A page as JPEG with its boxes marked.

        Raises `NotFound` if the owner has no such file or version, and an `ExtractionError` or `InvalidInput` if nothing can be drawn.
        """
        original = await self.resources.original(owner_id, resource_id, version)
        marked = tuple((box.x0, box.y0, box.x1, box.y1) for box in boxes if box.page == page)
        options = replace(self.limits, view_page=page, view_boxes=marked)
        folder = self.scratch / f"view-{uuid.uuid4().hex}"
        try:
            with disk_errors():
                folder.mkdir(parents=True, exist_ok=True)
            async with self.blobs.local_copy(original.key) as source:
                summary = await self.parsers.parse(source, original.filename, options, folder, is_awaited=True)
            if not summary.blobs:
                raise CorruptFile
            return await asyncio.to_thread(_read, folder / summary.blobs[0].path)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MAX_BYTES)
