"""The ledger of a vector store that cannot count, search keywords or evaluate every filter: its acknowledged points.

Keywords are an inverted index over the terms of `citewell.text.sparse`, weighted as in every other store: BM25 with
document frequencies from the search's corpus only. SQLite's FTS5 and Postgres full-text search use the frequencies of
all owners together, or none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from citewell.filters.predicates import admits, admits_nothing
from citewell.ports.points import OWNER, RESOURCE, TYPE, in_parts
from citewell.storage.database import Database
from citewell.storage.tables import point_terms, stored_points
from citewell.text.sparse import inverse_frequency, stable_number
from citewell.types import Filter, JsonObject, Point, ScoredId, SparseVector

_BATCH = 500
# Size of the first page of scored points to filter; if too few pass, all are read.
_FIRST_PAGE = 400
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """The ledger's entry for one point. `has_vector`: the store has a record of it, or soon will."""

    id: str
    owner_id: str
    resource_id: str
    payload: JsonObject
    has_vector: bool
    written: bool


class PointLedger:
    """The ledger of one index. Points are entered before they are sent to the store, and confirmed afterwards."""

    def __init__(self, database: Database, index: str) -> None:
        """index: the names of the store and its index, which identify this ledger within the database."""
        self._database = database
        self._index = index
        self._key = stable_number(index)

    async def note(self, points: Sequence[Point], cut: Iterable[str] = ()) -> None:
        """Enters points with distinct ids as unconfirmed, replacing entries with the same ids.

        cut: ids of points whose payload does not fit into the store's record
        """
        cut_ids = set(cut)
        async with self._database.write() as connection:
            for batch in in_parts(points, _BATCH):
                numbers = await self._enter(connection, batch, cut_ids)
                await connection.execute(sa.delete(point_terms).where(point_terms.c.n.in_(list(numbers.values()))))
                rows = [
                    {"term": term, "n": numbers[point.id], "weight": weight}
                    for point in batch
                    for term, weight in self._terms(point)
                ]
                if rows:
                    await connection.execute(sa.insert(point_terms), rows)

    async def confirm(self, ids: Sequence[str]) -> None:
        """Confirms that the store has these points."""
        async with self._database.write() as connection:
            for batch in in_parts(ids, _BATCH):
                await connection.execute(sa.update(stored_points).where(self._are(batch)).values(written=sa.true()))

    async def forget(self, ids: Sequence[str]) -> None:
        """Removes points that the store no longer has."""
        async with self._database.write() as connection:
            for batch in in_parts(ids, _BATCH):
                await connection.execute(sa.delete(stored_points).where(self._are(batch)))

    async def clear(self) -> None:
        """Removes all entries: the store is empty."""
        async with self._database.write() as connection:
            await connection.execute(sa.delete(stored_points).where(stored_points.c.index_key == self._key))

    async def entries(self, ids: Sequence[str]) -> list[LedgerEntry]:
        """Returns the entries of these points, of any owner; unknown ids are omitted."""
        found: list[LedgerEntry] = []
        for batch in in_parts(ids, _BATCH):
            found += [_entry(row) for row in await self._database.rows(_ENTRIES.where(self._are(batch)))]
        return found

    async def admitted(self, filter: Filter) -> list[LedgerEntry]:
        """Returns every point that matches the filter, confirmed or not."""
        rows = await self._database.rows(_ENTRIES.where(*self._within(filter)))
        return [entry for entry in map(_entry, rows) if admits(filter, entry.payload)]

    async def count(self, filter: Filter | None = None) -> int:
        """Counts the confirmed points that match the filter, or all owners' points without one."""
        if filter is not None and filter.conditions:
            return sum(entry.written for entry in await self.admitted(filter))
        within = self._within(filter) if filter is not None else [stored_points.c.index_key == self._key]
        if filter is not None and filter.resource_ids is not None and len(filter.resource_ids) > _BATCH:
            return sum(entry.written for entry in await self.admitted(filter))
        query = sa.select(sa.func.count().label("points")).select_from(stored_points)
        rows = await self._database.rows(query.where(stored_points.c.written, *within))
        return int(rows[0]["points"])

    async def has_cut(self, owner_id: str) -> bool:
        """Whether any record of the owner lacks part of its payload."""
        query = sa.select(stored_points.c.n).where(
            stored_points.c.index_key == self._key, stored_points.c.owner_id == owner_id, stored_points.c.is_cut
        )
        return bool(await self._database.rows(query.limit(1)))

    async def set_payloads(self, payloads: Sequence[tuple[str, JsonObject]], cut: Iterable[str] = ()) -> None:
        """Replaces the payloads of these ids; `cut` as in `note`."""
        cut_ids = set(cut)
        statement = (
            sa.update(stored_points)
            .where(stored_points.c.index_key == self._key, stored_points.c.id == sa.bindparam("of"))
            .values(payload=sa.bindparam("said"), is_cut=sa.bindparam("cut"))
        )
        rows = [{"of": key, "said": dict(payload), "cut": key in cut_ids} for key, payload in payloads]
        if rows:
            async with self._database.write() as connection:
                await connection.execute(statement, rows)

    async def search(self, words: SparseVector, filter: Filter, limit: int) -> list[ScoredId]:
        """Returns the confirmed points with these terms, best first: BM25 with the corpus's document frequencies."""
        weights = await self._weights(words, filter)
        if not weights or admits_nothing(filter):
            return []
        terms, points = point_terms.c, stored_points.c
        score = sa.func.sum(terms.weight * sa.case(weights, value=terms.term)).label("score")
        scores = sa.select(terms.n, score).where(terms.term.in_(list(weights))).group_by(terms.n).subquery()
        found = (
            sa.select(points.id, points.payload, scores.c.score)
            .join(scores, scores.c.n == points.n)
            .where(points.written, *self._within(filter))
            .order_by(scores.c.score.desc(), points.id)
        )
        if not filter.conditions and (filter.resource_ids is None or len(filter.resource_ids) <= _BATCH):
            rows = await self._database.rows(found.limit(limit))
            return [ScoredId(row["id"], float(row["score"])) for row in rows]
        best: list[ScoredId] = []
        for page in (found.limit(_FIRST_PAGE), found):
            rows = await self._database.rows(page)
            best = [ScoredId(row["id"], float(row["score"])) for row in rows if admits(filter, row["payload"])]
            if len(best) >= limit or len(rows) < _FIRST_PAGE:
                break
        return best[:limit]

    async def _weights(self, words: SparseVector, filter: Filter) -> dict[int, float]:
        """Returns each term's query weight times its inverse document frequency; terms without points are omitted."""
        owner_id = filter.owner_id
        said = {self._term(owner_id, index): value for index, value in zip(words.indices, words.values, strict=True)}
        everything = self._term(owner_id)
        query = (
            sa.select(point_terms.c.term, sa.func.count().label("points"))
            .where(point_terms.c.term.in_([everything, *said]))
            .group_by(point_terms.c.term)
        )
        queries = [query]
        if filter.corpus is not None:
            of_files = query.join(stored_points, stored_points.c.n == point_terms.c.n)
            queries = [
                of_files.where(stored_points.c.resource_id.in_(some)) for some in in_parts(filter.corpus, _BATCH)
            ]
        held: Counter[int] = Counter()
        for counting in queries:
            held.update({row["term"]: int(row["points"]) for row in await self._database.rows(counting)})
        total = held.pop(everything, 0)
        return {term: said[term] * inverse_frequency(number, total) for term, number in held.items()}

    async def _enter(self, connection: AsyncConnection, batch: Sequence[Point], cut: set[str]) -> dict[str, int]:
        """Inserts or updates the points' rows and returns their numbers."""
        rows = [
            {
                "index_key": self._key,
                "id": point.id,
                "owner_id": str(point.payload[OWNER]),
                "resource_id": str(point.payload[RESOURCE]),
                "type": str(point.payload[TYPE]),
                "payload": dict(point.payload),
                "has_vector": point.dense is not None or point.text is not None,
                "is_cut": point.id in cut,
                "written": False,
            }
            for point in batch
        ]
        new = (sqlite.insert if self._database.is_sqlite else postgresql.insert)(stored_points).values(rows)
        again = {name: new.excluded[name] for name in rows[0] if name not in ("index_key", "id")}
        entered = new.on_conflict_do_update(index_elements=["index_key", "id"], set_=again)
        result = await connection.execute(entered.returning(stored_points.c.id, stored_points.c.n))
        return {row.id: row.n for row in result}

    def _are(self, ids: Sequence[str]) -> sa.ColumnElement[bool]:
        return sa.and_(stored_points.c.index_key == self._key, stored_points.c.id.in_(list(ids)))

    def _within(self, filter: Filter) -> list[sa.ColumnElement[bool]]:
        """Returns the conditions of a filter that SQL evaluates; `admits` evaluates the rest."""
        column = stored_points.c
        parts = [column.index_key == self._key, column.owner_id == filter.owner_id]
        if filter.resource_ids is not None and len(filter.resource_ids) <= _BATCH:
            parts.append(column.resource_id.in_(list(filter.resource_ids)))
        if filter.types is not None:
            parts.append(column.type.in_([kind.value for kind in filter.types]))
        return parts

    def _terms(self, point: Point) -> list[tuple[int, float]]:
        """Returns the point's weighted terms, plus a zero-weight term shared by all the owner's points with words."""
        if point.sparse is None or not point.sparse.indices:
            return []
        owner = str(point.payload[OWNER])
        weights = zip(point.sparse.indices, point.sparse.values, strict=True)
        return [(self._term(owner), 0.0), *((self._term(owner, index), value) for index, value in weights)]

    def _term(self, owner_id: str, index: int | None = None) -> int:
        return stable_number(f"{self._index}\0{owner_id}\0{'' if index is None else index}")


_ENTRIES = sa.select(
    stored_points.c.id,
    stored_points.c.owner_id,
    stored_points.c.resource_id,
    stored_points.c.payload,
    stored_points.c.has_vector,
    stored_points.c.written,
)


def _entry(row: sa.RowMapping) -> LedgerEntry:
    return LedgerEntry(**dict[str, Any](row))
