"""Anthropic's content blocks: passages as `search_result`, pictures as `image`, and the citations of search results.

Shared by the chat adapter and the Claude channel. Source: Anthropic's Messages API, types `SearchResultBlockParam` and
`CitationsSearchResultLocation`.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from citewell.ports import ImageInput, SourceBlock

LOCATION = "search_result_location"
"""The type of citations that refer to a `search_result` block."""


@dataclass(frozen=True, slots=True)
class NativeCitation:
    """One citation in an answer.

    index: position among the request's `search_result` blocks; source: that block's source; text: the cited text
    """

    index: int
    source: str
    text: str


def search_result(source: SourceBlock) -> dict[str, Any]:
    """A passage as a citable block."""
    return {
        "type": "search_result",
        "source": source.source,
        "title": source.title,
        "content": [{"type": "text", "text": source.text}],
        "citations": {"enabled": True},
    }


def image_block(image: ImageInput) -> dict[str, Any]:
    """A picture as a block of a message or tool result."""
    data = base64.b64encode(image.data).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": image.mime_type, "data": data}}


def native_citations(citations: object) -> list[NativeCitation]:
    """The search-result citations among a text block's JSON citations; all others are omitted."""
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
