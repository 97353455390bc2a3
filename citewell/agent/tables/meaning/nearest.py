"""Which tables a question is most likely about: by the words that they share, and by meaning, which also works across languages."""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from citewell.agent.tables.thresholds import THRESHOLDS, TableThresholds
from citewell.ports import Embedder, FloatMatrix
from citewell.text.analysis import analyze

T = TypeVar("T")
_SHOWN_VALUES = 3  # of each column, in a description
_REMEMBERED = 1_000  # descriptions whose vectors are kept


@dataclass(frozen=True, slots=True)
class Described:
    """A table as questions are compared with it: its words as search compares them, and its title, columns and some values as one text."""

    terms: frozenset[str]
    text: str


def description(title: str, columns: Iterable[tuple[str, Sequence[str]]]) -> str:
    """columns: the name and the texts of each."""
    named = (f"{name}: {', '.join(texts[:_SHOWN_VALUES])}" if texts else name for name, texts in columns)
    return f"{title}. {'; '.join(named)}"


class NearestTables:
    """Chooses the tables that a question is read beside."""

    def __init__(self, embedder: Embedder, limits: TableThresholds = THRESHOLDS) -> None:
        """embedder: the built-in one, with which `limits.shared_word` was measured."""
        self._embedder = embedder
        self._limits = limits
        self._vectors: OrderedDict[str, FloatMatrix] = OrderedDict()

    async def of(self, question: str, tables: Sequence[T], described: Callable[[T], Described]) -> list[T]:
        """At most `limits.read_tables` of the tables, nearest first. described: how one is compared; it is called in a thread."""
        if len(tables) <= self._limits.read_tables:
            return list(tables)
        found = await asyncio.to_thread(lambda: [described(table) for table in tables])
        (asked,) = await self._embedder.embed([question], "query")
        vectors = await self._vectors_of([one.text for one in found])
        shared = _shared_words(question, found)
        scores = [
            float(asked @ vector) + self._limits.shared_word * words
            for vector, words in zip(vectors, shared, strict=True)
        ]
        order = sorted(range(len(tables)), key=lambda place: -scores[place])
        return [tables[place] for place in order[: self._limits.read_tables]]

    async def _vectors_of(self, texts: Sequence[str]) -> list[FloatMatrix]:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, await self._embedder.embed(new), strict=True))
        found = [self._vectors[text] for text in texts]
        while len(self._vectors) > _REMEMBERED:
            self._vectors.popitem(last=False)
        return found


def _shared_words(question: str, tables: Sequence[Described]) -> list[float]:
    """Of each table, how many of the question's words it has, those that few of the tables have counting more."""
    words = frozenset(analyze(question, "en", query=True))
    held = [words & table.terms for table in tables]
    rarity = {word: math.log(1 + len(tables) / (0.5 + sum(word in one for one in held))) for word in words}
    return [sum(rarity[word] for word in one) for one in held]
