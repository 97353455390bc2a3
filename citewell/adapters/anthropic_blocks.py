"""Anthropic's blocks: a passage as a `search_result` and a picture as an `image`, and what the citations of an answer say of the former.

The chat adapter and the channel for Claude share it. Source: Anthropic's Messages API, types `SearchResultBlockParam` and
`CitationsSearchResultLocation`.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from citewell.ports import ImageInput, SourceBlock

LOCATION = "search_result_location"
"""The type of a citation that points at a `search_result` block."""


@dataclass(frozen=True, slots=True)
class NativeCitation:
    """One citation of a piece of an answer.

    index: of the block among all `search_result` blocks of the request; source: that block's; text: the words cited
    """

    index: int
    source: str
    text: str


def search_result(source: SourceBlock) -> dict[str, Any]:
    """A passage as a block that the model may cite."""
    return {
        "type": "search_result",
        "source": source.source,
        "title": source.title,
        "content": [{"type": "text", "text": source.text}],
        "citations": {"enabled": True},
    }


def image_block(image: ImageInput) -> dict[str, Any]:
    """A picture as a block of a message or of a tool's result."""
    data = base64.b64encode(image.data).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": image.mime_type, "data": data}}


def native_citations(citations: object) -> list[NativeCitation]:
    """The citations of search results among those of a text block, as JSON has them; what is none of these is left out."""
    if not isinstance(citations, Iterable):
        return []
    found: list[NativeCitation] = []
    for one in cast(Iterable[object], citations):
        if not isinstance(one, Mapping):
            continue
        fields = cast(Mapping[str, object], one)
        index = fields.get("search_result_index")
        if fields.get("type", LOCATION) == LOCATION and isinstance(index, int):
            found.append(NativeCitation(index, str(fields.get("source") or ""), str(fields.get("cited_text") or "")))
    return found
