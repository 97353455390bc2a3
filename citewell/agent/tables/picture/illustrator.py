"""Adds to an answer the picture of what it was computed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from citewell.agent.tables.picture.choose import Wish, picture_of
from citewell.agent.tables.picture.picture import Picture
from citewell.agent.tables.picture.planner import histogram_query
from citewell.agent.tables.picture.vega import vega_lite
from citewell.agent.tables.query.typed import Function
from citewell.agent.tables.run.engine import ResultRow, TableEngine, TableResult
from citewell.types import Citation, JsonObject

_OF_MANY = frozenset({Function.AVG, Function.MEDIAN})


class Illustrator:
    """Draws results. An average or a median comes with the distribution behind it, which takes a query of its own."""

    def __init__(self, engine: TableEngine) -> None:
        self._engine = engine

    async def draw(
        self, owner_id: str, result: TableResult, citations: Sequence[Citation], wish: Wish | None = None
    ) -> JsonObject | None:
        """The Vega-Lite specification of the picture, None where there is none worth showing."""
        picture = picture_of(result, _cited_rows(result, citations), wish) or await self._behind(owner_id, result)
        return None if picture is None else vega_lite(picture)

    async def _behind(self, owner_id: str, result: TableResult) -> Picture | None:
        query = result.query
        if query.groups or len(query.aggregates) != 1 or query.aggregates[0].function not in _OF_MANY:
            return None
        column = next((c for c in result.table.columns if c.name == query.aggregates[0].column), None)
        if column is None:
            return None
        ranges = await histogram_query(self._engine, owner_id, result.table, column, query.conditions)
        found = await self._engine.run(owner_id, result.table, ranges) if ranges is not None else None
        picture = picture_of(found, {}) if found is not None else None
        return replace(picture, is_open=False) if picture is not None else None


def _cited_rows(result: TableResult, citations: Sequence[Citation]) -> Mapping[int, int]:
    """The `[n]` of each result row that the answer cites, by the row's index: a citation names its first row."""
    table = result.table
    own = [c for c in citations if c.resource_id == table.resource_id and c.locator.sheet == table.sheet]
    return {index: citation.n for index, row in enumerate(result.rows) for citation in own if _is_of(row, citation)}


def _is_of(row: ResultRow, citation: Citation) -> bool:
    place = citation.locator
    return place.row == row.rows.first and (place.row_end or place.row) == row.rows.last and bool(row.rows.count)
