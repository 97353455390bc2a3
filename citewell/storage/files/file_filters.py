"""The filter language in SQL, for file lists: the same expressions that searches pass to a vector store."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from citewell.errors import InvalidFilter
from citewell.filters.language import FIELDS, METADATA_PREFIX, PASSAGE_FIELDS, lowered, metadata_key
from citewell.ports.points import FILE_FIELDS, STATED_DATES, STATED_TAGS, FieldKind, field_kind, keyword, metadata_path
from citewell.storage.lookups import unindexed
from citewell.storage.tables import projects, resource_projects, resources
from citewell.types import (
    FULLY_PROCESSED,
    AllOf,
    AnyOf,
    Category,
    Condition,
    Expression,
    MetadataKind,
    Negation,
    Operator,
    ResourceFilter,
    conditions_in,
)

Column = sa.ColumnElement[Any]
_NUMBERS = ("integer", "real", "number")
# The prefix of every date (SQLite: True, Postgres: False), to avoid parsing the many texts that are not dates.
_LIKE_A_DAY = {True: "'[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'", False: r"'^\d{4}-\d\d-\d\d'"}
_ORDERS: dict[Operator, Callable[[Column, Any], sa.ColumnElement[bool]]] = {
    Operator.GT: lambda column, value: column > value,
    Operator.GTE: lambda column, value: column >= value,
    Operator.LT: lambda column, value: column < value,
    Operator.LTE: lambda column, value: column <= value,
}


@dataclass(frozen=True, slots=True)
class MetadataRows:
    """The values of a file's metadata as rows, one for each item of a list.

    shape: the database's name for the JSON type; dated: seconds since 1970 for a text that is a date
    """

    keys: sa.FromClause
    items: sa.FromClause
    key: Column
    shape: Column
    text: Column
    dated: Column


def file_condition(expression: Expression, is_sqlite: bool) -> sa.ColumnElement[bool]:
    """Builds the condition for rows of `resources`; never NULL. Raises `InvalidFilter` for a passage field."""
    paths: dict[str, tuple[str, MetadataKind]] = {}
    for condition in conditions_in((expression,)):
        key = metadata_key(condition.field)
        if condition.field in PASSAGE_FIELDS:
            raise InvalidFilter(
                f"{condition.field!r} is a passage field. File lists cannot be filtered by it.",
                allowed=[*sorted(FIELDS.keys() - PASSAGE_FIELDS), f"{METADATA_PREFIX}<key>"],
            )
        if key is not None:
            paths |= {metadata_path(key, kind): (key, kind) for kind in MetadataKind}
    return _sql(lowered(expression), paths, is_sqlite)


def metadata_rows(is_sqlite: bool) -> MetadataRows:
    """Unnests the metadata of the current row of `resources`."""
    if is_sqlite:
        said = sa.func.json_each(resources.c.metadata).table_valued("key", "value", "type", name="said")
        held = sa.case((said.c.type == "array", said.c.value), else_=sa.func.json_array(said.c.value))
        item = sa.func.json_each(held).table_valued("value", name="item")
        shape, text = said.c.type, sa.cast(item.c.value, sa.Text)
        text = sa.case((shape.in_(["true", "false"]), shape), else_=text)
    else:
        said = sa.func.jsonb_each(resources.c.metadata).table_valued("key", "value", name="said")
        shape = sa.func.jsonb_typeof(said.c.value)
        held = sa.case((shape == "array", said.c.value), else_=sa.func.jsonb_build_array(said.c.value))
        item = sa.func.jsonb_array_elements_text(held).table_valued("value", name="item")
        text = item.c.value
    is_date = text.op("GLOB" if is_sqlite else "~")(sa.literal_column(_LIKE_A_DAY[is_sqlite]))
    dated = sa.case((is_date, sa.func.citewell_seconds(text, type_=sa.Double)), else_=sa.null())
    return MetadataRows(said, item, said.c.key, shape, text, dated)


def kind_of_row(shape: Column, dated: Column) -> Column:
    """Returns the `MetadataKind` of a metadata row; texts in a list are never dates."""
    return sa.case(
        (shape.in_(["true", "false", "boolean"]), MetadataKind.BOOLEAN.value),
        (shape.in_(_NUMBERS), MetadataKind.NUMBER.value),
        (sa.or_(shape == "array", dated.is_(None)), MetadataKind.TEXT.value),
        else_=MetadataKind.DATE.value,
    )


def number_of_row(shape: Column, text: Column, dated: Column) -> Column:
    """Returns the sort key of a metadata row: a number, or a date in seconds since 1970."""
    return sa.case(
        (shape.in_(_NUMBERS), sa.cast(text, sa.Double)), (shape.in_(["text", "string"]), dated), else_=sa.null()
    )


def tag_rows(is_sqlite: bool) -> sa.TableValuedAlias:
    """Unnests the tags of the current row of `resources` into a column `value`."""
    stated = [resources.c.extraction_metadata[name] for name in STATED_TAGS]
    found = sa.func.citewell_tags(resources.c.metadata, *stated)
    each = sa.func.json_each if is_sqlite else sa.func.jsonb_array_elements_text
    return each(found).table_valued("value", name="tag")


def date_column() -> Column:
    """Returns a file's date in seconds since 1970; NULL if unknown."""
    stated = [resources.c.extraction_metadata[name] for name in STATED_DATES]
    return sa.func.citewell_date(resources.c.metadata, *stated, type_=sa.Double)


def text_column(field: str) -> Column:
    """Returns a single-valued file field, folded for comparison."""
    name = "type" if field == "file_type" else field
    if field == "extension":
        return sa.func.citewell_extension(resources.c.filename, type_=sa.Text)
    return sa.func.citewell_fold(resources.c[name], type_=sa.Text)


def _sql(
    expression: Expression, paths: Mapping[str, tuple[str, MetadataKind]], is_sqlite: bool
) -> sa.ColumnElement[bool]:
    match expression:
        case Condition():
            return _condition(expression, paths, is_sqlite)
        case AllOf(parts):
            return sa.and_(sa.true(), *(_sql(part, paths, is_sqlite) for part in parts))
        case AnyOf(parts):
            return sa.or_(sa.false(), *(_sql(part, paths, is_sqlite) for part in parts))
        case Negation(part):
            return sa.not_(_sql(part, paths, is_sqlite))


def _condition(
    condition: Condition, paths: Mapping[str, tuple[str, MetadataKind]], is_sqlite: bool
) -> sa.ColumnElement[bool]:
    field = condition.field
    if field in paths:
        return _of_metadata(condition, *paths[field], is_sqlite)
    assert field in FILE_FIELDS, f"{field} is not a file field"
    match field:
        case "date":
            return _fits(condition, date_column())
        case "uploaded_at":
            return _fits(condition, resources.c.created_at)
        case "category":
            own = _fits(condition, resources.c.detected_category)
            document = sa.and_(resources.c.detected_category == Category.RAG.value, _fits(condition, _text("document")))
            pdf = sa.and_(resources.c.type == "pdf", _fits(condition, _text("pdf")))
            return sa.or_(own, document, pdf)
        case "project":
            named = sa.or_(
                _fits(condition, projects.c.id), _fits(condition, sa.func.citewell_fold(projects.c.name, type_=sa.Text))
            )
            inside = sa.select(resource_projects.c.resource_id).join(
                projects, projects.c.id == resource_projects.c.project_id
            )
            return resources.c.id.in_(inside.where(named))
        case "tag":
            tag = tag_rows(is_sqlite)
            return sa.select(sa.literal(1)).select_from(tag).where(_fits(condition, tag.c.value)).exists()
        case _:
            return _fits(condition, text_column(field))


def _of_metadata(condition: Condition, key: str, kind: MetadataKind, is_sqlite: bool) -> sa.ColumnElement[bool]:
    rows = metadata_rows(is_sqlite)
    if field_kind(condition.field) is FieldKind.KEYWORD:
        value: Column = sa.func.citewell_fold(rows.text, type_=sa.Text)
    else:
        value = number_of_row(rows.shape, rows.text, rows.dated)
    query = sa.select(sa.literal(1)).select_from(rows.keys.join(rows.items, sa.true()))
    return query.where(
        rows.key == key, kind_of_row(rows.shape, rows.dated) == kind.value, _fits(condition, value)
    ).exists()


def _fits(condition: Condition, column: Column) -> sa.ColumnElement[bool]:
    """Builds a comparison in the form that `lowered` produces; false where the column is NULL."""
    there, operator = column.is_not(None), condition.operator
    if operator is Operator.EXISTS:
        return there
    if operator in _ORDERS:
        return sa.and_(there, _ORDERS[operator](column, condition.value))
    given = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    wanted = [keyword(str(value)) for value in given]
    if operator is Operator.CONTAINS:
        return sa.and_(there, column.contains(wanted[0], autoescape=True))
    if operator is Operator.PREFIX:
        return sa.and_(there, column.startswith(wanted[0], autoescape=True))
    return sa.and_(there, column.in_(wanted))


def _text(value: str) -> Column:
    return sa.literal(value, sa.Text)


def owner_column(filter: ResourceFilter) -> sa.ColumnElement[str]:
    """Returns the owner column to use with `resource_conditions`; unindexed if ids are given, to look those up."""
    return resources.c.owner_id if filter.ids is None else unindexed(resources.c.owner_id)


def resource_conditions(filter: ResourceFilter, is_sqlite: bool) -> list[sa.ColumnElement[bool]]:
    """Builds a filter's conditions on `resources`, except the owner, which the caller adds. Raises `InvalidFilter`."""
    conditions = [file_condition(expression, is_sqlite) for expression in filter.conditions]
    if filter.status == "ready":
        conditions.append(resources.c.status.in_(sorted(FULLY_PROCESSED)))
    elif filter.status:
        conditions.append(resources.c.status == filter.status)
    if filter.type:
        conditions.append(resources.c.type == filter.type)
    if filter.category:
        conditions.append(resources.c.detected_category == filter.category)
    if filter.parent_id:
        conditions.append(resources.c.parent_id == filter.parent_id)
    if filter.query:
        conditions.append(resources.c.filename.icontains(filter.query, autoescape=True))
    if filter.ids is not None:
        conditions.append(resources.c.id.in_(filter.ids))
    if filter.project_ids is not None:
        linked = resource_projects.c.project_id.in_(filter.project_ids)
        inside = sa.select(resource_projects.c.resource_id).where(linked)
        conditions.append(resources.c.id.in_(inside))
    return conditions
