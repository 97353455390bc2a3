"""Chunks: pieces of elements, small enough for the embedder, each with its location."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, cast
from urllib.parse import quote

from citewell.types.json import JsonObject, JsonValue
from citewell.types.locators import Locator
from citewell.types.metadata import Provenance

_CELL_EDGE = re.compile(r"(?<!\\)\|")
_RULE_MARKS = frozenset("|-: ")
_YEAR = re.compile(r"(?:19|20)\d\d")
_FIGURE = re.compile(r"[\s(\[+$€£¥–—−-]*+(?:\d[\d.,\s’']*+)?+%?+[)\]*†‡]*+")


class ChunkType(StrEnum):
    """The kinds of chunk, as `types` filters name them."""

    TEXT = "text"
    TABLE = "table"
    IMAGE = "image"
    ROW = "row"
    SUMMARY = "summary"


SUMMARY_OF = "summary_of"
"""Metadata key of a summary's chunk: `file`, or `section` for a part of the file."""

QUOTES = "quotes"
"""Metadata key of a verbatim summary: each sentence's source, as [ordinal, start, end] of a chunk."""


@dataclass(frozen=True, slots=True)
class Piece:
    """The part of an element that a chunk holds: `element.text[start:end]`."""

    element_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkDraft:
    """A chunk without an id, as a chunker returns it.

    text:         the text that is shown and cited
    context:      title and heading path, prepended to the text for embedding and keyword search; may be empty
    token_count:  tokens of `embedded_text` as the embedder counts them, special tokens included
    """

    type: ChunkType
    text: str
    locator: Locator
    pieces: tuple[Piece, ...] = ()
    context: str = ""
    token_count: int = 0
    metadata: JsonObject = field(default_factory=dict[str, JsonValue])

    @property
    def embedded_text(self) -> str:
        """The text the embedder sees. For a table, only the words, because figures mean nothing to it; the lexical leg indexes everything."""
        text = table_words(self.text) if self.type is ChunkType.TABLE else self.text
        return f"{self.context}\n{text}" if self.context else text

    @property
    def repeats_a_passage(self) -> bool:
        """Whether this is a summary whose sentences all come from one chunk, which already has a vector."""
        quotes = cast(list[list[int]], self.metadata.get(QUOTES) or [])
        return len({ordinal for ordinal, _, _ in quotes}) == 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk(ChunkDraft):
    """A chunk of one version of a resource. `id` is UUIDv5 of (resource, version, chunker fingerprint, ordinal)."""

    id: str
    owner_id: str
    resource_id: str
    version: int
    ordinal: int


@dataclass(frozen=True, slots=True)
class OriginalPicture:
    """The picture that a passage describes: a blob extracted from its file, by name, or (None) the file itself."""

    resource_id: str
    blob: str | None = None

    def to_json(self) -> dict[str, JsonValue]:
        """As JSON; `path` is the picture's path on this server."""
        name = "file" if self.blob is None else f"blobs/{quote(self.blob)}"
        return {"resource_id": self.resource_id, "blob": self.blob, "path": f"/resources/{self.resource_id}/{name}"}


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk with its file's details and, for an image chunk, the picture."""

    chunk: Chunk
    filename: str
    provenance: Provenance = Provenance()
    picture: OriginalPicture | None = None


class ChunkPlace(NamedTuple):
    """The position of a chunk among the chunks of one version of a resource."""

    resource_id: str
    version: int
    ordinal: int


def table_words(markdown: str) -> str:
    """A Markdown table without bars and without cells that contain only a figure (except years); unchanged if nothing would be left."""
    return "\n".join(filter(None, map(cell_words, markdown.splitlines()))) or markdown


def cell_words(line: str) -> str:
    """The words and years in the cells of a line of a Markdown table; nothing of a rule or of figures."""
    if "---" in line and _RULE_MARKS.issuperset(line):
        return ""
    cells = (cell.strip() for cell in _CELL_EDGE.split(line))
    return " ".join(cell for cell in cells if cell and (_YEAR.fullmatch(cell) or not _FIGURE.fullmatch(cell)))
