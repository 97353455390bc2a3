"""The picture that a chunk describes, for embedders that take pictures."""

from __future__ import annotations

from dataclasses import dataclass

from citewell.ports import BlobStore, ImageInput
from citewell.storage.files.content import ContentRepository
from citewell.types import PREVIEW, Chunk, ChunkType


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureSource:
    """Finds the stored previews of pictures, which files uploaded with `multimodal` have."""

    content: ContentRepository
    blobs: BlobStore

    async def of(self, chunk: Chunk) -> ImageInput | None:
        """The picture of an image chunk; None for other chunks or without a preview.

        A chunk without pieces describes a file that is itself a picture.
        """
        if chunk.type is not ChunkType.IMAGE:
            return None
        previews = await self.content.blobs(chunk.resource_id, chunk.version, PREVIEW)
        if previews and chunk.pieces:
            ids = [piece.element_id for piece in chunk.pieces]
            elements = await self.content.elements_by_id(chunk.resource_id, chunk.version, ids)
            shown = {element.blob for element in elements.values()}
            previews = [one for one in previews if one.metadata.get("of") in shown]
        if not previews:
            return None
        data = b"".join([piece async for piece in self.blobs.get(previews[0].key)])
        return ImageInput(data, previews[0].mime_type)
