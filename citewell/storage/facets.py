"""What the files of a list have in common: the values of each field with the number of files, counted in SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from citewell.filters import METADATA_PREFIX
from citewell.metadata import iso
from citewell.storage.database import Database
from citewell.storage.file_filters import date_column, metadata_rows, tag_rows, text_column
from citewell.storage.resources import resource_conditions
from citewell.storage.tables import projects, resource_projects, resources
from citewell.types import Facet, Facets, FacetValue, MetadataKind, ResourceFilter

MAX_FACET_KEYS = 200
MAX_FACET_VALUES = 200
MAX_FACET_VALUE_LENGTH = 80
_TEXTS = ("type", "extension", "language", "thread")
_BUILT_IN = ("category", "type", "extension", "language", "tag", "project", "thread", "date", "uploaded_at")


class FacetRepository:
    """Facets of the owner's files."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def facets(self, owner_id: str, filter: ResourceFilter, values: int, *, by_year: bool = False) -> Facets:
        """The fields that the owner's files within `filter` have, each with its up to `values` most frequent values.

        Of metadata there are the `MAX_FACET_KEYS` keys that most files have, and a key with values of several types has a facet for
        each. Dates are counted by month, or by year.
        """
        conditions = resource_conditions(filter, self._database.is_sqlite)
        mine = sa.select(resources.c.id).where(resources.c.owner_id == owner_id, *conditions).cte("mine")
        total = await self._database.rows(sa.select(sa.func.count().label("files")).select_from(mine))
        rows = self._rows(resources.c.id.in_(sa.select(mine.c.id)), by_year)
        fields = await self._database.rows(_fields(rows))
        frequent = await self._database.rows(_frequent(rows, [row["field"] for row in fields], values))
        by_field: dict[tuple[str, str], list[FacetValue]] = {}
        for row in frequent:
            by_field.setdefault((row["field"], row["kind"]), []).append(FacetValue(_value(row), row["files"]))
        facets = [_facet(row, by_field.get((row["field"], row["kind"]), [])) for row in fields]
        return Facets(files=int(total[0]["files"]), fields=tuple(sorted(facets, key=_order)))

    def _rows(self, where: sa.ColumnElement[bool], by_year: bool) -> sa.CTE:
        """Every value of every field of every file: (id, field, kind, value, text, number). Equal values have the same `value`."""
        is_sqlite = self._database.is_sqlite
        tag, said = tag_rows(is_sqlite), metadata_rows(is_sqlite)
        linked = resource_projects.c.resource_id == resources.c.id
        named = resources.join(resource_projects, linked).join(
            projects, projects.c.id == resource_projects.c.project_id
        )
        parts = [
            _part(resources, "category", resources.c.detected_category, where),
            *(_part(resources, name, text_column(name), where, _shown(name)) for name in _TEXTS),
            _part(resources.join(tag, sa.true()), "tag", tag.c.value, where),
            _part(named, "project", projects.c.name, where),
            self._dates("date", date_column(), where, by_year),
            self._dates("uploaded_at", resources.c.created_at, where, by_year),
        ]
        kind = said.kind
        value = sa.case(
            (kind == MetadataKind.DATE.value, self._period(said.number, by_year)),
            (kind == MetadataKind.NUMBER.value, sa.cast(said.number, sa.Text)),
            else_=sa.func.citewell_fold(said.text, type_=sa.Text),
        )
        own = sa.select(
            resources.c.id,
            (sa.literal(METADATA_PREFIX, sa.Text) + said.key).label("field"),
            kind.label("kind"),
            value.label("value"),
            said.text.label("text"),
            said.number.label("number"),
        ).select_from(resources.join(said.keys, sa.true()).join(said.items, sa.true()))
        return sa.union_all(*parts, own.where(where)).cte("value_rows")

    def _dates(
        self, name: str, number: sa.ColumnElement[Any], where: sa.ColumnElement[bool], by_year: bool
    ) -> sa.Select[*tuple[Any, ...]]:
        period = self._period(number, by_year)
        return _part(resources, name, period, where, kind=MetadataKind.DATE, number=number)

    def _period(self, number: sa.ColumnElement[Any], by_year: bool) -> sa.ColumnElement[Any]:
        """The month or year in UTC in which an instant is, as YYYY-MM or YYYY."""
        if self._database.is_sqlite:
            return sa.func.strftime("%Y" if by_year else "%Y-%m", number, "unixepoch", type_=sa.Text)
        at = sa.func.timezone("UTC", sa.func.to_timestamp(number))
        return sa.func.to_char(at, "YYYY" if by_year else "YYYY-MM", type_=sa.Text)


def _part(
    source: sa.FromClause,
    field: str,
    value: sa.ColumnElement[Any],
    where: sa.ColumnElement[bool],
    text: sa.ColumnElement[Any] | None = None,
    *,
    kind: MetadataKind = MetadataKind.TEXT,
    number: sa.ColumnElement[Any] | None = None,
) -> sa.Select[*tuple[Any, ...]]:
    return (
        sa.select(
            resources.c.id,
            sa.literal(field, sa.Text).label("field"),
            sa.literal(kind.value, sa.Text).label("kind"),
            value.label("value"),
            (value if text is None else text).label("text"),
            sa.cast(sa.null() if number is None else number, sa.Double).label("number"),
        )
        .select_from(source)
        .where(where, value.is_not(None))
    )


def _shown(field: str) -> sa.ColumnElement[Any] | None:
    """The text as it was given, where it is compared in another form."""
    return resources.c.thread if field == "thread" else None


def _fields(rows: sa.CTE) -> sa.Select[*tuple[Any, ...]]:
    """Each field and kind: how many files have it, how many values there are, the least and the greatest number."""
    files = sa.func.count(rows.c.id.distinct())
    return (
        sa.select(
            rows.c.field,
            rows.c.kind,
            files.label("files"),
            sa.func.count(rows.c.value.distinct()).label("values"),
            sa.func.min(rows.c.number).label("least"),
            sa.func.max(rows.c.number).label("greatest"),
        )
        .group_by(rows.c.field, rows.c.kind)
        .order_by(sa.case((rows.c.field.in_(_BUILT_IN), 0), else_=1), files.desc(), rows.c.field, rows.c.kind)
        .limit(len(_BUILT_IN) + MAX_FACET_KEYS)
    )


def _frequent(rows: sa.CTE, fields: Sequence[str], most: int) -> sa.Select[*tuple[Any, ...]]:
    """The most frequent values of each field and kind, most frequent first; of dates, the latest periods."""
    files = sa.func.count(rows.c.id.distinct())
    counted = (
        sa.select(
            rows.c.field,
            rows.c.kind,
            rows.c.value,
            sa.func.min(rows.c.text).label("text"),
            sa.func.min(rows.c.number).label("number"),
            files.label("files"),
        )
        .where(rows.c.field.in_(fields), sa.func.length(rows.c.value) <= MAX_FACET_VALUE_LENGTH)
        .group_by(rows.c.field, rows.c.kind, rows.c.value)
        .cte("counted")
    )
    latest = sa.case((counted.c.kind == MetadataKind.DATE.value, counted.c.value), else_="")
    order = (latest.desc(), counted.c.files.desc(), counted.c.number, counted.c.value)
    place = sa.func.row_number().over(partition_by=(counted.c.field, counted.c.kind), order_by=order)
    ranked = sa.select(counted, place.label("place")).subquery()
    return sa.select(ranked).where(ranked.c.place <= most).order_by(ranked.c.field, ranked.c.kind, ranked.c.place)


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
        files=row["files"],
        distinct=row["values"],
        values=tuple(values),
        least=least,
        greatest=greatest,
    )


def _order(facet: Facet) -> tuple[int, int, str, str]:
    place = _BUILT_IN.index(facet.field) if facet.field in _BUILT_IN else len(_BUILT_IN)
    return place, -facet.files if place == len(_BUILT_IN) else 0, facet.field, facet.kind.value
