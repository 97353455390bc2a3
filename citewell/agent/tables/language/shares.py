"""Questions for a share of the rows: `what percentage of the loans are overdue`."""

from __future__ import annotations

from citewell.agent.tables.language.links import ValueMention, is_numbering
from citewell.agent.tables.language.metrics import CannotPlan
from citewell.agent.tables.language.question_reading import Reading
from citewell.agent.tables.language.shape import Plan, Shape
from citewell.agent.tables.language.wording import Operation, norm
from citewell.agent.tables.query.typed import MAX_ROWS, Aggregate, ColumnRef, Comparator, Function, Order, TableQuery
from citewell.agent.tables.run.engine import table_key
from citewell.types import TableColumn

_SHARES = frozenset(map(norm, ("percentage", "percent", "share", "proportion", "fraction")))
_ARE = frozenset({"is", "are", "was", "were", "have", "has"})


def read_share(reading: Reading) -> None:
    """The one value after the verb is what the share is of; those before it say which rows it is a share of. Nothing else is guessed."""
    texts = [word.text.casefold() for word in reading.question]
    said = next((i for i, word in enumerate(reading.question[:-1]) if word.norm in _SHARES), None)
    if said is None or texts[said + 1] != "of" or not reading.is_free(said, said + 1):
        return
    verb = next((i for i in range(said + 2, len(texts)) if texts[i] in _ARE), None)
    counted = all(o.operation is Operation.COUNT and o.last == said for o in reading.operations)
    if verb is None or not counted:
        return
    parts = [value for value in reading.values if value.first > verb]
    alike = all(c.comparison is Comparator.EQ and isinstance(c.value, str) for c in reading.conditions)
    columns = [c.ref.column for c in reading.conditions]
    if len(parts) != 1 or not alike or len(columns) != len(reading.values) or columns.count(parts[0].column.name) != 1:
        return
    rows = [mention for mention in reading.columns if mention.column != parts[0].column]
    if reading.groups or len(rows) > 1 or not (rows or reading.asks_rows or reading.names_table):
        return
    reading.operations = []
    reading.use(said, said + 1)
    reading.share = parts[0]


def share_of_rows(reading: Reading, share: ValueMention, label: TableColumn | None) -> Plan:
    """How many rows have each value of the column, of those that the other conditions admit. label: the column that names the rows."""
    subject, table = share.column, reading.words.table
    others = {mention.column for mention in reading.columns} - {subject, label}
    if any(not is_numbering(column.name) for column in others):
        raise CannotPlan("a share is known of rows alone")
    count = Aggregate(Function.COUNT)
    query = TableQuery(
        source=table_key(table),
        conditions=tuple(c for c in reading.conditions if c.ref.column != subject.name),
        groups=(ColumnRef(subject.name),),
        aggregates=(count,),
        order=(Order(count.name, True),),
        limit=MAX_ROWS,
    )
    return Plan(
        shape=Shape.SHARE,
        table=table,
        query=query,
        subject=subject,
        function=Function.COUNT,
        part=share.value,
        unique=tuple(sorted(column.name for column in others)),
    )
