"""Lexical search in the pgvector store: an inverted index whose postings are packed into blocks, and BM25 over them.

Each posting is an entry of 12 bytes: the point's number and the word's weight. A word's entries are in blocks of a few
hundred; the latest are in the row that counts the word. A search thus reads a few hundred rows and adds up in memory,
instead of visiting one row per posting. Points get a new number at every write; entries of deleted numbers are skipped,
and removed by packing once they outnumber the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from citewell.adapters.index.pgvector_rows import term_of
from citewell.adapters.index.pgvector_schema import Connection, PointTables, lock
from citewell.ports.points import OWNER
from citewell.text.sparse import inverse_frequency
from citewell.types import Point, SparseVector

ENTRY = np.dtype([("number", "<i8"), ("weight", "<f4")])
Entries = npt.NDArray[np.void]
Numbers = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]
# The dimension of the `sparsevec` that used to hold a point's words: 32-bit term numbers modulo this.
_PLACES = 1_000_000_000
# Two blocks fill a page of 8 kB.
_BLOCK = 330
# Entries that a word's row holds before they become a block; as many new ones in one write become a block at once.
_TAIL = 64
# Words are packed if most of their entries belong to deleted points, unless the waste is negligible.
_WASTE = 2
_LITTLE_WASTE = 64
# Numbers that span more than this are summed by sorting instead of in an array over the whole span.
_SPARSE_SPAN = 4_000_000


class WordIndex:
    """The inverted index of one vector index. Writers of an owner's points must hold that owner's lock."""

    def __init__(self, tables: PointTables) -> None:
        self._tables = tables

    async def add(
        self, connection: Connection, points: Sequence[Point], names: Sequence[Sequence[int]], changes: Counter[int]
    ) -> None:
        """Add points, each with the names of its terms, and update the document frequencies."""
        rows = await connection.fetch(
            f"INSERT INTO {self._tables.numbers} (id) SELECT * FROM unnest($1::uuid[]) RETURNING id, number",
            [point.id for point, terms in zip(points, names, strict=True) if terms],
        )
        numbers: dict[str, int] = {str(row["id"]): row["number"] for row in rows}
        changes.update(term for terms in names for term in terms)
        await self.change(connection, changes, _grouped(points, numbers))

    async def change(
        self, connection: Connection, changes: Counter[int], entries: Mapping[int, Entries] | None = None
    ) -> None:
        """Update the document frequencies of terms, and add their new entries."""
        added = entries or {}
        terms = sorted({term for term, number in changes.items() if number} | added.keys())
        if not terms:
            return
        sealed = await self._write_blocks(connection, added)
        tails = {term: one for term, one in added.items() if len(one) < _TAIL}
        await connection.execute(
            f"INSERT INTO {self._tables.terms} AS known (term, points, held, tail) "
            "SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[]) "
            "ON CONFLICT (term) DO UPDATE SET points = known.points + excluded.points, held = known.held + excluded.held, "
            "tail = CASE WHEN known.term = ANY($5::bigint[]) THEN excluded.tail ELSE known.tail || excluded.tail END",
            terms,
            [changes[term] for term in terms],
            [len(added.get(term, ())) for term in terms],
            [tails[term].tobytes() if term in tails else b"" for term in terms],
            sealed,
        )
        await self._forget_and_pack(connection, terms)

    async def _write_blocks(self, connection: Connection, added: Mapping[int, Entries]) -> list[int]:
        """Write blocks of entries that no longer fit the words' rows; returns the words whose rows are now empty."""
        few = {term: len(one) for term, one in added.items() if len(one) < _TAIL}
        held = await connection.fetch(
            f"SELECT term, octet_length(tail) / {ENTRY.itemsize} AS entries FROM {self._tables.terms} WHERE term = ANY($1::bigint[])",
            list(few),
        )
        sealed = [row["term"] for row in held if row["entries"] + few[row["term"]] > _TAIL]
        if sealed:
            await connection.execute(
                f"INSERT INTO {self._tables.postings} SELECT term, tail FROM {self._tables.terms} WHERE term = ANY($1::bigint[])",
                sealed,
            )
        await self._insert(connection, {term: one for term, one in added.items() if len(one) >= _TAIL})
        return sealed

    async def _insert(self, connection: Connection, entries: Mapping[int, Entries]) -> None:
        blocks = [
            (term, one[start : start + _BLOCK].tobytes())
            for term, one in entries.items()
            for start in range(0, len(one), _BLOCK)
        ]
        if blocks:
            await connection.execute(
                f"INSERT INTO {self._tables.postings} SELECT * FROM unnest($1::bigint[], $2::bytea[])",
                *([block[0] for block in blocks], [block[1] for block in blocks]),
            )

    async def _forget_and_pack(self, connection: Connection, terms: Sequence[int]) -> None:
        gone = await connection.fetch(
            f"DELETE FROM {self._tables.terms} WHERE term = ANY($1::bigint[]) AND points <= 0 RETURNING term", terms
        )
        if gone:
            await connection.execute(
                f"DELETE FROM {self._tables.postings} WHERE term = ANY($1::bigint[])", [row["term"] for row in gone]
            )
        wasteful = await connection.fetch(
            f"SELECT term FROM {self._tables.terms} WHERE term = ANY($1::bigint[]) AND held > {_WASTE} * points + {_LITTLE_WASTE}",
            terms,
        )
        if wasteful:
            await self._pack(connection, [row["term"] for row in wasteful])

    async def _pack(self, connection: Connection, terms: Sequence[int]) -> None:
        """Remove the entries of deleted points."""
        held = {term: entries for term, (_, entries) in (await self._read(connection, terms)).items()}
        numbers = np.unique(np.concatenate([entries["number"] for entries in held.values()]))
        rows = await connection.fetch(
            f"SELECT number FROM {self._tables.numbers} WHERE number = ANY($1::bigint[])", numbers.tolist()
        )
        there = np.fromiter((row["number"] for row in rows), dtype=np.int64)
        kept = {term: entries[np.isin(entries["number"], there)] for term, entries in held.items()}
        await connection.execute(f"DELETE FROM {self._tables.postings} WHERE term = ANY($1::bigint[])", list(kept))
        await self._insert(connection, kept)
        await connection.execute(
            f"UPDATE {self._tables.terms} AS known SET held = packed.held, tail = '' "
            "FROM unnest($1::bigint[], $2::bigint[]) AS packed (term, held) WHERE known.term = packed.term",
            *(list(kept), [len(entries) for entries in kept.values()]),
        )

    async def _read(self, connection: Connection, terms: Sequence[int]) -> dict[int, tuple[int, Entries]]:
        """The document frequency and the entries of each existing term."""
        rows = await connection.fetch(
            f"SELECT term, points, tail AS entries FROM {self._tables.terms} WHERE term = ANY($1::bigint[]) "
            f"UNION ALL SELECT term, NULL, entries FROM {self._tables.postings} WHERE term = ANY($1::bigint[])",
            terms,
        )
        counts: dict[int, int] = {row["term"]: row["points"] for row in rows if row["points"] is not None}
        blocks: dict[int, list[bytes]] = {term: [] for term in counts}
        for row in rows:
            blocks[row["term"]].append(row["entries"])
        return {term: (number, np.frombuffer(b"".join(blocks[term]), ENTRY)) for term, number in counts.items()}

    async def scores(
        self, connection: Connection, owner: str, words: SparseVector, counted: Numbers | None
    ) -> tuple[Numbers, Scores]:
        """The numbers of points with any of the words, and their BM25 scores; some points may be deleted.

        counted: the numbers of the points over which document frequencies are counted; None for all of the owner's
        """
        names = {term_of(owner, index): value for index, value in zip(words.indices, words.values, strict=True)}
        held = await self._read(connection, [term_of(owner), *names])
        total, _ = held.pop(term_of(owner), (0, None))
        parts: list[tuple[Entries, float]] = []
        for term, (number, entries) in held.items():
            if counted is not None:
                total, number = len(counted), int(np.isin(entries["number"], counted).sum())
            parts.append((entries, names[term] * inverse_frequency(number, total)))
        return _added_up(parts)


def best_first(numbers: Numbers, scores: Scores, size: int) -> Iterator[tuple[Numbers, Scores]]:
    """Numbers and scores in parts, best first: `size` in the first, more in each later one; ties stay in one part."""
    while len(scores):
        if size >= len(scores):
            yield numbers, scores
            return
        chosen = scores >= np.partition(scores, len(scores) - size)[len(scores) - size]
        yield numbers[chosen], scores[chosen]
        numbers, scores, size = numbers[~chosen], scores[~chosen], 4 * size


async def move_words(connection: Connection, tables: PointTables) -> None:
    """Migrate words from the points table's former `words` column, if it exists, to the inverted index."""
    async with connection.transaction():
        await lock(connection)
        had_words = await connection.fetchval(
            "SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = $1::text::regclass AND attname = 'words' AND NOT attisdropped)",
            tables.points,
        )
        if had_words:
            await _move(connection, tables)
            await connection.execute(f"ALTER TABLE {tables.points} DROP COLUMN words")


async def _move(connection: Connection, tables: PointTables) -> None:
    index, last = WordIndex(tables), "00000000-0000-0000-0000-000000000000"
    while rows := await connection.fetch(
        f"SELECT id, owner_id, terms, words::text FROM {tables.points} WHERE words IS NOT NULL AND id > $1::uuid ORDER BY id LIMIT 2000",
        last,
    ):
        last = str(rows[-1]["id"])
        points = [
            Point(
                id=str(row["id"]),
                dense=None,
                sparse=_read_words(row["owner_id"], row["terms"], row["words"]),
                payload={OWNER: row["owner_id"]},
            )
            for row in rows
        ]
        numbered = await connection.fetch(
            f"INSERT INTO {tables.numbers} (id) SELECT * FROM unnest($1::uuid[]) RETURNING id, number",
            [point.id for point in points],
        )
        await index.change(connection, Counter(), _grouped(points, {str(row["id"]): row["number"] for row in numbered}))


def _read_words(owner: str, terms: Sequence[int], words: str) -> SparseVector:
    """Parse a `sparsevec` whose dimensions are terms modulo `_PLACES`, using the terms' names."""
    names, weights = set(terms), dict[int, float]()
    for pair in words[1 : words.index("}")].split(","):
        place, _, value = pair.partition(":")
        for index in range(int(place) - 1, 1 << 32, _PLACES):
            if term_of(owner, index) in names:
                weights[index] = float(value)
                break
    return SparseVector(tuple(weights), tuple(weights.values()))


def _grouped(points: Sequence[Point], numbers: Mapping[str, int]) -> dict[int, Entries]:
    """The entries of these points, by term name."""
    terms, entries = list[int](), list[tuple[int, float]]()
    for point in points:
        if point.sparse is not None and point.id in numbers:
            owner, number = str(point.payload[OWNER]), numbers[point.id]
            terms += [term_of(owner, index) for index in point.sparse.indices]
            entries += [(number, weight) for weight in point.sparse.values]
    if not terms:
        return {}
    names, packed = np.asarray(terms, dtype=np.int64), np.asarray(entries, dtype=ENTRY)
    order = np.argsort(names, kind="stable")
    different, starts = np.unique(names[order], return_index=True)
    return dict(zip(different.tolist(), np.split(packed[order], starts[1:]), strict=True))


def _added_up(parts: Iterable[tuple[Entries, float]]) -> tuple[Numbers, Scores]:
    """The sum of weights per number in the entries, each multiplied by the weight of its part."""
    held = [
        (entries["number"].astype(np.int64), entries["weight"].astype(np.float64) * weight)
        for entries, weight in parts
        if len(entries)
    ]
    if not held:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64)
    numbers = np.concatenate([one for one, _ in held])
    weights = np.concatenate([one for _, one in held])
    least = int(numbers.min())
    if int(numbers.max()) - least > max(_SPARSE_SPAN, 8 * len(numbers)):
        different, places = np.unique(numbers, return_inverse=True)
        return different, np.bincount(places, weights).astype(np.float64, copy=False)
    sums = np.bincount(numbers - least, weights).astype(np.float64, copy=False)
    found = np.flatnonzero(sums)
    return found + least, sums[found]
