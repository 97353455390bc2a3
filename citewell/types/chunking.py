"""The chunking strategies, their default sizes, and which sizes are valid."""

from __future__ import annotations

from enum import StrEnum

MIN_CHUNK_SIZE = 16


class Strategy(StrEnum):
    """How running text is cut. With every strategy, a table is one chunk if it fits, and is otherwise cut by row.

    `sections` is the default for documents and `rows` for data; `rows` also makes each table row a separate chunk.
    """

    SECTIONS = "sections"
    TOKENS = "tokens"
    CHARACTERS = "characters"
    RECURSIVE = "recursive"
    SEMANTIC = "semantic"
    ROWS = "rows"


_DEFAULT_SIZES: dict[Strategy, tuple[int, int]] = {
    Strategy.SECTIONS: (400, 0),
    Strategy.TOKENS: (1000, 100),
    Strategy.CHARACTERS: (512, 64),
    Strategy.RECURSIVE: (500, 50),
    Strategy.SEMANTIC: (400, 40),
    Strategy.ROWS: (400, 0),
}
_MEASURED_IN_CHARACTERS = frozenset({Strategy.CHARACTERS, Strategy.RECURSIVE})


def chunk_sizes(strategy: Strategy, size: int | None, overlap: int | None) -> tuple[int, int]:
    """Size and overlap, by default the strategy's; a default overlap is at most half the size. Does not validate."""
    usual_size, usual_overlap = _DEFAULT_SIZES[strategy]
    size = size if size is not None else usual_size
    return size, overlap if overlap is not None else min(usual_overlap, size // 2)


def measured_in_characters(strategy: Strategy) -> bool:
    """Whether the strategy's sizes count characters rather than tokens."""
    return strategy in _MEASURED_IN_CHARACTERS
