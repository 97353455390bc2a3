"""The line that stands before a chunk's text when it is embedded: the title and the heading path, as long as fits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from citewell.chunk.tokenizing import Tokenizer

SEPARATOR = " > "
_SHARE = 4


class ContextLine:
    """Builds context lines for one document.

    title is put before the heading path, unless the path begins with it; a line takes at most a quarter of `budget` tokens.
    """

    def __init__(self, title: str, tokenizer: Tokenizer, budget: int) -> None:
        self._title = " ".join(title.split())
        self._tokenizer = tokenizer
        self._limit = budget // _SHARE
        self._cached = lru_cache(maxsize=1024)(self._fitted)

    def of(self, headings: tuple[str, ...]) -> tuple[str, int]:
        """The line for a heading path, and its tokens."""
        return self._cached(headings)

    def shorten(self, line: str, limit: int) -> str:
        """The line cut to at most `limit` tokens: names from the middle, then a long first one, then the end of the last."""
        names = line.split(SEPARATOR) if line else []
        while len(names) > 2 and self._count([SEPARATOR.join(names)]) > limit:
            del names[-2]
        line = SEPARATOR.join(names)
        if len(names) == 2 and self._count([line]) > limit:
            first = names[0] + SEPARATOR
            line = line if self._count([first]) <= limit // 2 else names[1]
        return self._clipped(line, limit)

    def _fitted(self, headings: tuple[str, ...]) -> tuple[str, int]:
        names = [" ".join(name.split()) for name in headings]
        if self._title and not (names and names[0].casefold() == self._title.casefold()):
            names.insert(0, self._title)
        line = self.shorten(SEPARATOR.join(name for name in names if name), self._limit)
        return line, self._count([line])

    def _count(self, texts: Sequence[str]) -> int:
        return sum(self._tokenizer.count(texts))

    def _clipped(self, name: str, limit: int) -> str:
        """The first words of a name that have at most `limit` tokens."""
        tokens = self._tokenizer.offsets(name)
        if len(tokens) <= limit:
            return name
        clipped = name[: tokens[limit][0]] if limit > 0 else ""
        whole_words = clipped if clipped.endswith(" ") else clipped.rpartition(" ")[0]
        return (whole_words or clipped).rstrip(" >")
