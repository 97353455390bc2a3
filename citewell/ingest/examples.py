"""Reads a picture that somebody searches for, in a parser process; nothing of it is kept."""

from __future__ import annotations

import asyncio
import shutil
import uuid
from dataclasses import dataclass, replace
from pathlib import Path

from citewell.errors import InvalidInput
from citewell.ingest.parsers import ParserPool
from citewell.ports import ImageInput
from citewell.system.disk import disk_errors
from citewell.types import LIKENESS, PREVIEW, ExtractionSummary, ExtractOptions


@dataclass(frozen=True, slots=True)
class Example:
    """A picture to search for: what finds its copies, and a small JPEG of it, if it is large enough for one."""

    likeness: bytes
    preview: ImageInput | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleReader:
    """Reads examples; only a sandboxed process opens the untrusted file."""

    parsers: ParserPool
    scratch: Path
    limits: ExtractOptions

    async def read(self, path: Path, filename: str) -> Example:
        """The picture in a file, or the first of several. Raises `InvalidInput` for any other file and a blank picture, and an `ExtractionError`."""
        options = replace(self.limits, likeness_only=True, multimodal=True)
        folder = self.scratch / f"example-{uuid.uuid4().hex}"
        try:
            with disk_errors():
                folder.mkdir(parents=True, exist_ok=True)
            summary = await self.parsers.parse(path, filename, options, folder, is_awaited=True)
            return await asyncio.to_thread(_example, summary, folder)
        finally:
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _example(summary: ExtractionSummary, folder: Path) -> Example:
    found = {blob.kind: (folder / blob.path).read_bytes() for blob in summary.blobs}
    if summary.detected.extractor != "image":
        raise InvalidInput(f"Only a picture can be searched for, not a file of the type {summary.detected.label}.")
    if LIKENESS not in found:
        raise InvalidInput("The picture is blank: there is nothing in it to search for.")
    return Example(found[LIKENESS], ImageInput(found[PREVIEW], "image/jpeg") if PREVIEW in found else None)
