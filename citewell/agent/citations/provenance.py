"""What a passage's provenance is in words: for a model that reads the passage, and for checking what it says of the file."""

from __future__ import annotations

from collections.abc import Iterator

from citewell.agent.citations.bracketed import space_markers
from citewell.agent.citations.merged_cells import markdown_of
from citewell.types import Hit, Provenance

MAX_PROVENANCE_CHARACTERS = 400
"""Characters of record id, identifier and metadata that a model is given with each passage; about 100 tokens."""


def passage_title(hit: Hit) -> str:
    """The place of a passage and what is said of its file, on one line and without anything that reads as one of Citewell's citations."""
    label, said = hit.chunk.locator.label(hit.filename), provenance_words(hit.provenance)
    return space_markers(f"{label} · {said}" if said else label)


def passage_text(hit: Hit) -> str:
    """What a model is given of a passage: of a table with merged cells Markdown in which each is repeated in all rows and columns that it covers."""
    html = hit.chunk.metadata.get("html")
    return markdown_of(html) if isinstance(html, str) else hit.chunk.text


def provenance_words(provenance: Provenance) -> str:
    """`record rec1; identifier frame-17; camera: Leica M6; iso: 400`. Where not all of it fits, `…` says so.

    One long value, such as a summary, leaves room for the short ones, such as the path of a frame: these are taken first.
    """
    parts = list(_parts(provenance))
    kept: set[int] = set()
    left = MAX_PROVENANCE_CHARACTERS
    for place in sorted(range(len(parts)), key=lambda at: len(parts[at])):
        if len(parts[place]) + 2 > left:
            break
        kept.add(place)
        left -= len(parts[place]) + 2
    shown = [part for place, part in enumerate(parts) if place in kept]
    return "; ".join(shown if len(kept) == len(parts) else [*shown, "…"])


def _parts(provenance: Provenance) -> Iterator[str]:
    if provenance.record_id is not None:
        yield f"record {_line(provenance.record_id)}"
    if provenance.identifier is not None:
        yield f"identifier {_line(provenance.identifier)}"
    for key, value in provenance.metadata.items():
        texts = value if isinstance(value, tuple) else (str(value).lower() if isinstance(value, bool) else str(value),)
        yield f"{_line(key)}: {_line(', '.join(texts))}"


def _line(text: str) -> str:
    return " ".join(text[: MAX_PROVENANCE_CHARACTERS + 1].split())
