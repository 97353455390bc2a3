"""Facets of file lists: the values of each field with the number of files, counted in SQL."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa

from citewell.filters.language import METADATA_PREFIX
from citewell.storage.database import Database
from citewell.storage.files.file_filters import (
    date_column,
    kind_of_row,
    metadata_rows,
    number_of_row,
    resource_conditions,
    tag_rows,
    text_column,
)
from citewell.storage.tables import facet_counts, projects, resource_projects, resources
from citewell.types import Facet, Facets, FacetValue, MetadataKind, ResourceFilter
from citewell.types.metadata_values import iso

MAX_FACET_KEYS = 200
MAX_FACET_VALUES = 200
MAX_FACET_VALUE_LENGTH = 80
_MAX_KNOWN = 64
_MAX_APART = 2_000  # unmerged rows of single changes that readers tolerate before merging them
_SUM_UP = sa.text("""
WITH gone AS (DELETE FROM facet_counts WHERE owner_id = :owner AND project_id = :project RETURNING *)
INSERT INTO facet_counts (owner_id, project_id, field, kind, value, text, number, files, part)
SELECT owner_id, project_id, field, kind, value, text, min(number), sum(files), -nextval('facet_counts_part') FROM gone
GROUP BY owner_id, project_id, field, kind, value, text HAVING sum(files) <> 0
""")
_NAMED = resources.join(resource_projects, resource_projects.c.resource_id == resources.c.id).join(
    projects, projects.c.id == resource_projects.c.project_id
)
_WHOLE = sa.literal("", sa.Text)  # the value that represents a field as a whole
_TEXTS = ("type", "extension", "language")
_DATES = ("date", "uploaded_at")
_BUILT_IN = ("category", "type", "extension", "language", "tag", "project", "thread", "date", "uploaded_at")


class FacetRepository:
    """Facets of an owner's files. On SQLite, they are cached until the next write.

    Counting 100,000 files takes a second (`benchmarks/facets.py`).
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: OrderedDict[Hashable, tuple[int, Facets]] = OrderedDict()

    async def facets(
        self,
        owner_id: str,
        filter: ResourceFilter,
        values: int,
        *,
        by_year: bool = False,
        kept_to: Sequence[str] | None = None,
    ) -> Facets:
        """Returns the fields of the owner's files that match `filter`, each with its `values` most frequent values.

        Metadata facets are limited to the `MAX_FACET_KEYS` most frequent keys; a key with values of several types has
        one facet per type. Dates are counted by month or year. kept_to: ids of the projects to report; None for all.
        """
        told = None if kept_to is None else tuple(kept_to)
        asked = owner_id, repr(filter), values, by_year, told  # `repr` because `True == 1` in Python
        writes = self._database.writes
        if asked in self._known and self._known[asked][0] == writes:
            self._known.move_to_end(asked)
            return self._known[asked][1]
        counted = await self._count(owner_id, filter, values, by_year, told)
        if self._database.is_sqlite:
            self._known[asked] = writes, counted
            while len(self._known) > _MAX_KNOWN:
                self._known.popitem(last=False)
        return counted

    async def _count(
        self, owner_id: str, filter: ResourceFilter, values: int, by_year: bool, told: tuple[str, ...] | None
    ) -> Facets:
        where = sa.and_(resources.c.owner_id == owner_id, *resource_conditions(filter, self._database.is_sqlite))
        total = await self._database.rows(sa.select(sa.func.count().label("files")).where(where))
        project_id = _counted_of(filter)
        if project_id is None:
            mine = sa.select(resources.c.id).where(where).cte("mine")
            query = _counted(self._rows(resources.c.id.in_(sa.select(mine.c.id)), by_year, told), values)
        else:
            if not self._database.is_sqlite:
                await self._sum_up(owner_id, project_id)
            parts = self._kept(owner_id, project_id, by_year), *self._grouped(where, by_year, told)
            query = _counted_kept(sa.union_all(*parts).cte("grouped").prefix_with("MATERIALIZED"), values)
        facets = sorted(_facets(await self._database.rows(query)), key=_order)[: len(_BUILT_IN) + MAX_FACET_KEYS]
        return Facets(files=int(total[0]["files"]), fields=tuple(facets))

    def _kept(self, owner_id: str, project_id: str, by_year: bool) -> sa.Select[*tuple[Any, ...]]:
        """Selects metadata, tags and dates of all files of an owner or project from the maintained counts."""
        table = facet_counts.c
        kept = sa.select(table.field, table.kind, table.value, table.text, table.number, table.files)
        kept = kept.where(table.owner_id == owner_id, table.project_id == project_id)
        if not self._database.is_sqlite:  # values with no files left stay until the next merge; skip them
            exact = (table.field, table.kind, table.value, table.text, table.number)
            left = sa.func.sum(table.files)
            kept = kept.with_only_columns(*exact, left.label("files")).group_by(*exact).having(left != 0)
        one = kept.subquery("kept").c
        value = sa.case((one.kind == MetadataKind.DATE.value, self._period(one.number, by_year)), else_=one.value)
        value = sa.case((one.value == "", ""), else_=value)
        return sa.select(one.field, one.kind, value.label("value"), one.text, one.number, one.files)

    def _grouped(
        self, where: sa.ColumnElement[bool], by_year: bool, told: tuple[str, ...] | None
    ) -> list[sa.Select[*tuple[Any, ...]]]:
        """Selects the other fields in the same form.

        Files are grouped first, so that a shared value is folded only once.
        """
        at = resources.c.created_at
        stored = {
            "category": resources.c.detected_category,
            "extension": text_column("extension"),
            **{name: resources.c[name] for name in ("type", "language", "thread")},
            "uploaded_at": self._period(at, by_year),
        }
        numbers = sa.func.count().label("files"), sa.func.min(at).label("first"), sa.func.max(at).label("last")
        groups = sa.select(*(column.label(name) for name, column in stored.items()), *numbers)
        one = groups.where(where).group_by(*stored.values()).cte("alike").prefix_with("MATERIALIZED").c
        parts: list[sa.Select[*tuple[Any, ...]]] = []
        for name in ("category", *_TEXTS, "thread"):
            value = one[name] if name in ("category", "extension") else sa.func.citewell_fold(one[name], type_=sa.Text)
            rows = (
                _row(name, value, one.files, text=one.thread if name == "thread" else value),
                _row(name, _WHOLE, one.files),
            )
            parts += [row.where(value.is_not(None)) for row in rows]
        period, files = one.uploaded_at, sa.func.count(resources.c.id.distinct())
        named = [
            row.select_from(_NAMED).where(where, _shown(told))
            for row in (_row("project", projects.c.name, files, text=projects.c.name), _row("project", _WHOLE, files))
        ]
        return [
            *parts,
            _row("uploaded_at", period, one.files, number=one.first),
            _row("uploaded_at", _WHOLE, one.files, number=one.last),
            named[0].group_by(projects.c.name),
            named[1],
        ]

    async def _sum_up(self, owner_id: str, project_id: str) -> None:
        """Merges the rows added by many changes, in one statement; concurrent commits are left for the next merge."""
        table, scope = facet_counts.c, {"owner": owner_id, "project": project_id}
        changes = sa.select(sa.literal(1)).where(
            table.owner_id == owner_id, table.project_id == project_id, table.part > 0
        )
        found = await self._database.rows(changes.offset(_MAX_APART).limit(1))
        if found:
            async with self._database.write() as connection:
                await connection.execute(_SUM_UP, scope)

    def _rows(self, where: sa.ColumnElement[bool], by_year: bool, told: tuple[str, ...] | None) -> sa.CTE:
        """Selects every value of every field of every file: (id, field, kind, value, text, number).

        Equal values have the same `value`. told: the projects to report
        """
        file = self._files(where).c
        tag = tag_rows(self._database.is_sqlite)
        parts = [
            *(_part(file.id, name, file[name]) for name in ("category", *_TEXTS)),
            _part(file.id, "thread", file.thread, shown=file.thread_said),
            _part(resources.c.id, "project", projects.c.name).select_from(_NAMED).where(where, _shown(told)),
            *(_part(file.id, name, self._period(file[name], by_year), number=file[name]) for name in _DATES),
            _part(resources.c.id, "tag", tag.c.value).select_from(resources.join(tag, sa.true())).where(where),
            self._of_metadata(where, by_year),
        ]
        return sa.union_all(*parts).cte("value_rows").prefix_with("MATERIALIZED")

    def _files(self, where: sa.ColumnElement[bool]) -> sa.CTE:
        """Selects each file's single-valued fields, computed once."""
        columns = [text_column(name).label(name) for name in (*_TEXTS, "thread")]
        query = sa.select(
            resources.c.id,
            resources.c.detected_category.label("category"),
            *columns,
            resources.c.thread.label("thread_said"),
            date_column().label("date"),
            resources.c.created_at.label("uploaded_at"),
        )
        return query.where(where).cte("files").prefix_with("MATERIALIZED")

    def _of_metadata(self, where: sa.ColumnElement[bool], by_year: bool) -> sa.Select[*tuple[Any, ...]]:
        """Selects the metadata values in steps: a single expression would parse the same text as a date many times."""
        said = metadata_rows(self._database.is_sqlite)
        said_by = resources.join(said.keys, sa.true()).join(said.items, sa.true())
        texts = (
            sa.select(
                resources.c.id,
                said.key.label("key"),
                said.shape.label("shape"),
                said.text.label("text"),
                said.dated.label("dated"),
            )
            .select_from(said_by)
            .where(where)
            .cte("metadata_texts")
            .prefix_with("MATERIALIZED")
        ).c
        kind, number = kind_of_row(texts.shape, texts.dated), number_of_row(texts.shape, texts.text, texts.dated)
        value = sa.case(
            (kind == MetadataKind.DATE.value, self._period(number, by_year)),
            (kind == MetadataKind.NUMBER.value, sa.cast(number, sa.Text)),
            else_=sa.func.citewell_fold(texts.text, type_=sa.Text),
        )
        return sa.select(
            texts.id,
            (sa.literal(METADATA_PREFIX, sa.Text) + texts.key).label("field"),
            kind.label("kind"),
            value.label("value"),
            texts.text.label("text"),
            number.label("number"),
        )

    def _period(self, number: sa.ColumnElement[Any], by_year: bool) -> sa.ColumnElement[Any]:
        """Formats an instant as its UTC month (YYYY-MM) or year (YYYY)."""
        if self._database.is_sqlite:
            return sa.func.strftime("%Y" if by_year else "%Y-%m", number, "unixepoch", type_=sa.Text)
        at = sa.func.timezone("UTC", sa.func.to_timestamp(number))
        return sa.func.to_char(at, "YYYY" if by_year else "YYYY-MM", type_=sa.Text)


def _shown(told: tuple[str, ...] | None) -> sa.ColumnElement[bool]:
    return sa.true() if told is None else projects.c.id.in_(told)


def _row(
    field: str,
    value: sa.ColumnElement[Any],
    files: sa.ColumnElement[Any],
    *,
    text: sa.ColumnElement[Any] = _WHOLE,
    number: sa.ColumnElement[Any] | None = None,
) -> sa.Select[*tuple[Any, ...]]:
    """Selects a field's value and number of files, as `_counted_kept` expects them."""
    kind = MetadataKind.DATE if field in _DATES else MetadataKind.TEXT
    return sa.select(
        sa.literal(field, sa.Text).label("field"),
        sa.literal(kind.value, sa.Text).label("kind"),
        value.label("value"),
        text.label("text"),
        sa.cast(sa.null() if number is None else number, sa.Double).label("number"),
        files.label("files"),
    )


def _part(
    id: sa.ColumnElement[Any],
    field: str,
    value: sa.ColumnElement[Any],
    *,
    shown: sa.ColumnElement[Any] | None = None,
    number: sa.ColumnElement[Any] | None = None,
) -> sa.Select[*tuple[Any, ...]]:
    """Selects the rows of one field: texts, or dates if `number` is given."""
    kind = MetadataKind.TEXT if number is None else MetadataKind.DATE
    return sa.select(
        id.label("id"),
        sa.literal(field, sa.Text).label("field"),
        sa.literal(kind.value, sa.Text).label("kind"),
        value.label("value"),
        (value if shown is None else shown).label("text"),
        sa.cast(sa.null() if number is None else number, sa.Double).label("number"),
    ).where(value.is_not(None))


def _counted_of(filter: ResourceFilter) -> str | None:
    """Returns the project if it is the filter's only condition, '' for an empty filter, and otherwise None."""
    if replace(filter, project_ids=None) != ResourceFilter():
        return None
    if filter.project_ids is None:
        return ""
    return filter.project_ids[0] if len(filter.project_ids) == 1 else None


def _facets(rows: Sequence[Mapping[Any, Any]]) -> list[Facet]:
    found: dict[tuple[str, str], tuple[Mapping[Any, Any], list[FacetValue]]] = {}
    for row in rows:
        _, listed = found.setdefault((row["field"], row["kind"]), (row, []))
        if row["files"] is not None:
            listed.append(FacetValue(_value(row), int(row["files"])))
    return [_facet(row, listed) for row, listed in found.values()]


def _counted_kept(rows: sa.CTE, most: int) -> sa.Select[*tuple[Any, ...]]:
    """Selects each field and kind with its most frequent values first; for dates, the latest periods.

    rows: each represents `files` files; rows with the value '' are totals of the field
    """
    held = (
        sa.select(
            rows.c.field,
            rows.c.kind,
            rows.c.value,
            sa.func.min(rows.c.text).label("text"),
            sa.func.min(rows.c.number).label("number"),
            sa.func.max(rows.c.number).label("last"),
            sa.func.sum(rows.c.files).label("files"),
        )
        .group_by(rows.c.field, rows.c.kind, rows.c.value)
        .having(sa.func.sum(rows.c.files) > 0)
        .cte("held")
        .prefix_with("MATERIALIZED")
    )
    whole = held.c.value == ""
    holders = sa.func.sum(sa.case((whole, held.c.files), else_=0))
    fields = (
        sa.select(
            held.c.field,
            held.c.kind,
            holders.label("holders"),
            sa.func.sum(sa.case((whole, 0), else_=1)).label("distinct_values"),
            sa.func.min(held.c.number).label("least"),
            sa.func.max(held.c.last).label("greatest"),
        )
        .group_by(held.c.field, held.c.kind)
        .order_by(sa.case((held.c.field.in_(_BUILT_IN), 0), else_=1), holders.desc(), held.c.field, held.c.kind)
        .limit(len(_BUILT_IN) + MAX_FACET_KEYS)
    )
    counted = sa.select(held).where(~whole, sa.func.length(held.c.value) <= MAX_FACET_VALUE_LENGTH).subquery("counted")
    return _together(fields, _placed(counted), most)


def _counted(rows: sa.CTE, most: int) -> sa.Select[*tuple[Any, ...]]:
    """Like `_counted_kept`, for rows that represent one file each."""
    files, field = sa.func.count(rows.c.id.distinct()), (rows.c.field, rows.c.kind)
    text, least, greatest = sa.func.min(rows.c.text), sa.func.min(rows.c.number), sa.func.max(rows.c.number)
    values = sa.select(*field, rows.c.value, text.label("text"), least.label("number"), files.label("files"))
    values = values.where(rows.c.value.is_not(None)).group_by(*field, rows.c.value)
    whole = sa.select(*field, _WHOLE, _WHOLE, greatest, files).group_by(*field)
    return _counted_kept(sa.union_all(values, whole).cte("counted_rows").prefix_with("MATERIALIZED"), most)


def _together(
    found: sa.Select[*tuple[Any, ...]], values: sa.Select[*tuple[Any, ...]], most: int
) -> sa.Select[*tuple[Any, ...]]:
    fields, ranked = found.subquery("fields"), values.subquery("ranked")
    same = sa.and_(ranked.c.field == fields.c.field, ranked.c.kind == fields.c.kind, ranked.c.place <= most)
    return (
        sa.select(fields, ranked.c.value, ranked.c.text, ranked.c.number, ranked.c.files)
        .select_from(fields.outerjoin(ranked, same))
        .order_by(fields.c.field, fields.c.kind, ranked.c.place)
    )


def _placed(counted: sa.Subquery) -> sa.Select[*tuple[Any, ...]]:
    latest = sa.case((counted.c.kind == MetadataKind.DATE.value, counted.c.value), else_="")
    order = (latest.desc(), counted.c.files.desc(), counted.c.number, counted.c.value)
    place = sa.func.row_number().over(partition_by=(counted.c.field, counted.c.kind), order_by=order)
    return sa.select(counted, place.label("place"))


def _value(row: Mapping[Any, Any]) -> str | float | bool:
    match row["kind"]:
        case MetadataKind.NUMBER:
            return _plain(row["number"])
        case MetadataKind.BOOLEAN:
            return row["value"] == "true"
        case MetadataKind.DATE:
            return str(row["value"])
        case _:
            return str(row["text"])


def _plain(number: float) -> float:
    return int(number) if float(number).is_integer() else number


def _facet(row: Mapping[Any, Any], values: Sequence[FacetValue]) -> Facet:
    kind = MetadataKind(row["kind"])
    least, greatest = row["least"], row["greatest"]
    if kind is MetadataKind.DATE:
        least, greatest = iso(least), iso(greatest)
    elif kind is MetadataKind.NUMBER:
        least, greatest = _plain(least), _plain(greatest)
    return Facet(
        field=row["field"],
        kind=kind,
        files=int(row["holders"]),
        distinct=int(row["distinct_values"]),
        values=tuple(values),
        least=least,
        greatest=greatest,
    )


def _order(facet: Facet) -> tuple[int, int, str, str]:
    place = _BUILT_IN.index(facet.field) if facet.field in _BUILT_IN else len(_BUILT_IN)
    return place, -facet.files if place == len(_BUILT_IN) else 0, facet.field, facet.kind.value
