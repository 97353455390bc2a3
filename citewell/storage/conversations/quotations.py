"""Copies of file contents in citations, stored answers and webhook deliveries.

They are emptied when the file is deleted, and hidden while the owner has no access to it. An answer's text belongs to
its reader and stays, as do the file name and location of each citation; only an erasure removes those, too.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from citewell.storage.accounts.tables import may_read
from citewell.storage.channels.webhook_tables import trigger_calls, webhook_deliveries
from citewell.storage.tables import citations, messages, resources, threads
from citewell.types import Citation, EventType

_BATCH = 250
_SAID = ("record_id", "identifier", "metadata", "image")
"""Fields of `Citation.to_json`, besides the quotation, that copy data from the file."""
_IDS = ("resource_id", "chunk_id", "message_id", "thread_id", "version")
"""Fields of a delivery's data that remain after it is emptied."""
_OF_FILES = (EventType.RESOURCE_INDEXED, EventType.RESOURCE_FAILED, EventType.CHUNK_STORED)


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """Counts of what an erasure removed from other owners' conversations: citations, and the answers they were in."""

    citations: int
    answers: int


def empty(connection: sa.Connection, resource_ids: Sequence[str]) -> int:
    """Empties every owner's copies of these files' contents, in the transaction that deletes them.

    Returns the number of citations emptied.
    """
    emptied = 0
    for start in range(0, len(resource_ids), _BATCH):
        emptied += _empty(connection, resource_ids[start : start + _BATCH])
    return emptied


def gone(connection: sa.Connection, resource_ids: Sequence[str]) -> list[str]:
    """Returns which of these files no longer exist.

    On Postgres, locks the others until the caller's transaction ends.
    """
    there = sa.select(resources.c.id).where(resources.c.id.in_(resource_ids))
    found = set(connection.execute(there.with_for_update(read=True, key_share=True)).scalars())
    return sorted(set(resource_ids) - found)


def forget_messages(connection: sa.Connection, which: sa.ColumnElement[bool]) -> None:
    """Empties the deliveries, and deletes the stored answers, of messages about to be deleted."""
    ids = sa.select(messages.c.id).where(which)
    connection.execute(_shortened(connection).where(webhook_deliveries.c.about.in_(ids)))
    connection.execute(sa.delete(trigger_calls).where(trigger_calls.c.message_id.in_(ids)))


def withdraw(connection: sa.Connection, owner_id: str) -> Withdrawn:
    """Before an erasure, removes citations of an owner's files, with their names, from others' conversations."""
    files = sa.select(resources.c.id).where(resources.c.owner_id == owner_id)
    empty(connection, list(connection.execute(files).scalars()))
    others = sa.select(messages.c.id).join(threads, threads.c.id == messages.c.thread_id)
    others = others.where(threads.c.owner_id != owner_id)
    theirs = sa.and_(citations.c.resource_id.in_(files), citations.c.message_id.in_(others))
    answers = connection.scalar(sa.select(sa.func.count(citations.c.message_id.distinct())).where(theirs)) or 0
    cited = sa.select(citations.c.message_id).where(theirs)
    connection.execute(sa.delete(trigger_calls).where(trigger_calls.c.message_id.in_(cited)))
    removed = connection.execute(sa.delete(citations).where(theirs)).rowcount
    near = sa.update(messages).where(messages.c.id.in_(others), _is_near(connection, files))
    connection.execute(near.values(details=_without_keys(connection, messages.c.details, "nearest")))
    return Withdrawn(removed, answers)


def is_hidden(table: sa.Table, owner_id: sa.ColumnElement[str]) -> sa.ColumnElement[bool] | None:
    """Whether an owner's row quotes a file that the owner cannot read; None for tables without quotations."""
    if table is citations:
        return sa.not_(may_read(owner_id, citations.c.resource_id))
    if table is messages:
        return cites_unreadable(owner_id, messages.c.id)
    if table is trigger_calls:
        return cites_unreadable(owner_id, trigger_calls.c.message_id)
    if table is webhook_deliveries:
        about, kind = webhook_deliveries.c.about, webhook_deliveries.c.type
        deleted = sa.not_(sa.exists().where(messages.c.id == about))
        return sa.or_(
            sa.and_(kind.in_(_OF_FILES), sa.not_(may_read(owner_id, about))),
            sa.and_(kind == EventType.ANSWER_COMPLETED, sa.or_(deleted, cites_unreadable(owner_id, about))),
        )
    return None


def without_words(table: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a hidden row with its quotations removed."""
    column, change = _CHANGES[table]
    return {**row, column: row[column] and change(row[column])}


def shortened(body: str) -> str:
    """Reduces a delivery's body to its ids."""
    event = json.loads(body)
    kept = {name: event["data"][name] for name in _IDS if name in event["data"]}
    return json.dumps({**event, "data": {**kept, "truncated": True}}, ensure_ascii=False, separators=(",", ":"))


def without_quotations(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a trigger's stored answer with its citations emptied."""
    return {**answer, "citations": [_emptied(one) for one in answer.get("citations", ())]}


def _emptied(citation: Mapping[str, Any]) -> dict[str, Any]:
    return Citation.from_json(citation).emptied().to_json()


def _without_picture(details: Mapping[str, Any]) -> dict[str, Any]:
    """Removes the chart, which contains values of the cited rows."""
    return {name: value for name, value in details.items() if name != "picture"}


_CHANGES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "citations": ("data", _emptied),
    "messages": ("details", _without_picture),
    "trigger_calls": ("answer", without_quotations),
    "webhook_deliveries": ("body", shortened),
}


def cites_unreadable(owner_id: sa.ColumnElement[str], message_id: sa.ColumnElement[str]) -> sa.ColumnElement[bool]:
    """Whether an answer cites a file that is deleted or that the owner may not read."""
    cited = citations.alias()
    unreadable = sa.not_(may_read(owner_id, cited.c.resource_id))
    return sa.exists().where(cited.c.message_id == message_id, unreadable).correlate_except(cited)


def _empty(connection: sa.Connection, ids: Sequence[str]) -> int:
    cited = sa.select(citations.c.message_id).where(citations.c.resource_id.in_(ids))
    deliveries, calls = webhook_deliveries.c, trigger_calls.c
    of_file = sa.and_(deliveries.about.in_(ids), deliveries.type.in_(_OF_FILES))
    connection.execute(_shortened(connection).where(sa.or_(of_file, deliveries.about.in_(cited))))
    kept = sa.update(trigger_calls).where(calls.message_id.in_(cited), calls.answer.is_not(None))
    connection.execute(kept.values(answer=_answer_without(connection, ids)))
    pictured = sa.update(messages).where(messages.c.id.in_(cited))
    connection.execute(pictured.values(details=_without_keys(connection, messages.c.details, "picture")))
    said = sa.update(citations).where(citations.c.resource_id.in_(ids))
    return connection.execute(said.values(data=_without_said(connection, citations.c.data))).rowcount


def _is_sqlite(connection: sa.Connection) -> bool:
    return connection.dialect.name == "sqlite"


def _without_keys(connection: sa.Connection, value: sa.ColumnElement[Any], *keys: str) -> sa.ColumnElement[Any]:
    """Removes keys from a JSON value, in SQL."""
    if _is_sqlite(connection):
        return sa.func.json_remove(value, *(f"$.{key}" for key in keys))
    for key in keys:
        value = value.op("-")(sa.literal(key, sa.Text))
    return value


def _without_said(connection: sa.Connection, citation: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
    """`Citation.emptied`, in SQL."""
    if _is_sqlite(connection):
        return _without_keys(connection, sa.func.json_set(citation, "$.quote", ""), *_SAID)
    return _without_keys(connection, citation.op("||")(sa.func.jsonb_build_object("quote", "")), *_SAID)


def _answer_without(connection: sa.Connection, ids: Sequence[str]) -> sa.ColumnElement[Any]:
    """Empties the citations of these files in a trigger's stored answer, in SQL."""
    answer = trigger_calls.c.answer
    if _is_sqlite(connection):
        each = sa.func.json_each(answer, "$.citations").table_valued("value", "key", name="each")
        of_file = sa.func.json_extract(each.c.value, "$.resource_id").in_(ids)
        one = sa.func.json(sa.case((of_file, _without_said(connection, each.c.value)), else_=each.c.value))
        return sa.func.json_set(
            answer, "$.citations", sa.func.json(sa.select(sa.func.json_group_array(one)).scalar_subquery())
        )
    found = sa.func.jsonb_path_query(answer, sa.literal_column("'$.citations[*]'"))
    each = found.table_valued("value", with_ordinality="n", name="each").render_derived()
    value = sa.type_coerce(each.c.value, answer.type)
    of_file = sa.func.jsonb_extract_path_text(value, "resource_id").in_(ids)
    one = sa.case((of_file, _without_said(connection, value)), else_=value)
    every = sa.select(sa.func.coalesce(sa.func.jsonb_agg(one.op("ORDER BY")(each.c.n)), sa.text("'[]'::jsonb")))
    return sa.func.jsonb_set(answer, sa.text("'{citations}'"), every.scalar_subquery())


def _shortened(connection: sa.Connection) -> sa.Update:
    """`shortened`, in SQL."""
    body = webhook_deliveries.c.body
    if _is_sqlite(connection):
        kept = [part for name in _IDS for part in (name, sa.func.json_extract(body, f"$.data.{name}"))]
        data = sa.func.json_patch("{}", sa.func.json_object(*kept, "truncated", sa.func.json("true")))
        time = sa.func.json_extract(body, "$.timestamp")
        short = sa.func.json_object("type", webhook_deliveries.c.type, "timestamp", time, "data", sa.func.json(data))
    else:
        parsed = sa.cast(body, trigger_calls.c.answer.type)
        kept = [part for name in _IDS for part in (name, sa.func.jsonb_extract_path(parsed, "data", name))]
        data = sa.func.jsonb_strip_nulls(sa.func.jsonb_build_object(*kept, "truncated", sa.true()))
        time = sa.func.jsonb_extract_path(parsed, "timestamp")
        short = sa.func.jsonb_build_object("type", webhook_deliveries.c.type, "timestamp", time, "data", data)
        short = sa.cast(short, sa.Text)
    return sa.update(webhook_deliveries).values(body=short)


def _is_near(connection: sa.Connection, files: sa.Select[str]) -> sa.ColumnElement[bool]:
    """Whether a "not found" answer lists one of these files among its nearest passages."""
    details = messages.c.details
    if _is_sqlite(connection):
        each = sa.func.json_each(details, "$.nearest").table_valued("value", name="each")
        named = sa.func.json_extract(each.c.value, "$.resource_id")
    else:
        found = sa.func.jsonb_path_query(details, sa.literal_column("'$.nearest[*]'"))
        each = found.table_valued("value", name="each").render_derived()
        named = sa.func.jsonb_extract_path_text(sa.type_coerce(each.c.value, details.type), "resource_id")
    return sa.exists(sa.select(sa.literal(1)).select_from(each).where(named.in_(files)))
