"""From a reading to a plan: the one typed query that the question means, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from citewell.agent.tables.language.amounts import adds_up, amount_column, currencies_beside, is_money, is_price
from citewell.agent.tables.language.extremes import extreme, extreme_of_groups, names_anybody
from citewell.agent.tables.language.links import core_name
from citewell.agent.tables.language.metrics import CannotPlan, metrics, one_metric, require_one_currency
from citewell.agent.tables.language.question_reading import Reading
from citewell.agent.tables.language.shape import AGGREGATES, Plan, Shape, grouped
from citewell.agent.tables.language.shares import share_of_rows
from citewell.agent.tables.language.wording import DATE_EXTREMES, LISTING, Operation
from citewell.agent.tables.query.typed import (
    MAX_ROWS,
    Aggregate,
    ColumnRef,
    Comparator,
    Function,
    Order,
    RowCondition,
    TableQuery,
)
from citewell.agent.tables.run.engine import table_key
from citewell.agent.tables.thresholds import THRESHOLDS
from citewell.types import TableColumn


def plan(reading: Reading, label: TableColumn | None) -> Plan | None:
    """The plan, None when the question does not concern the table, `CannotPlan` when it does but has no one meaning.

    label: the column whose values name the table's rows, if there is one.
    """
    if not _concerns(reading, label):
        return None
    try:
        if reading.problem:
            raise CannotPlan(reading.problem)
        if reading.left_over:
            raise CannotPlan(f"it is not clear what {_named(reading.left_over)} means in this table")
        return _plan(reading, label)
    except CannotPlan as error:
        raise CannotPlan(str(error), computes=_computes(reading)) from None


def _computes(reading: Reading) -> bool:
    operations = {o.operation for o in reading.operations}
    summed = operations & {Operation.SUM, Operation.AVG, Operation.MEDIAN, Operation.COMPARE, Operation.COUNT_DISTINCT}
    return bool(
        summed or (Operation.COUNT in operations and reading.asks_rows) or any(o.count for o in reading.operations)
    )


def _plan(reading: Reading, label: TableColumn | None) -> Plan:
    if reading.share is not None:
        return share_of_rows(reading, reading.share, label)
    operations = {o.operation for o in reading.operations}
    match operations:
        case _ if not operations and reading.groups:
            return _by(reading, label)
        case _ if not operations and _asks_for_values(reading):
            return _listed(reading)
        case _ if not operations and label is not None and _asks_for_all(reading, label):
            return _of_all(reading, label)
        case _ if not operations and reading.how_much:
            return _how_much(reading, label)
        case _ if not operations or _asks_for_label(reading, operations):
            return _lookup(reading, label)
        case _ if operations == {Operation.COUNT}:
            return _count(reading) if len(reading.operations) == 1 else _counts(reading)
        case _ if operations == {Operation.COUNT_DISTINCT}:
            return _count_distinct(reading)
        case _ if Operation.COMPARE in operations:
            return _compare(reading, operations - {Operation.COMPARE})
        case _ if operations in ({Operation.MAX}, {Operation.MIN}):
            return extreme(reading, label)
        case _ if len(operations) == 1:
            return _figure(reading, reading.operations[0].operation)
        case _ if len(operations & {Operation.MAX, Operation.MIN}) == 1 and len(operations) == 2:
            return extreme_of_groups(reading)
        case _:
            raise CannotPlan("it asks for several things at once")


def _asks_for_label(reading: Reading, operations: set[Operation]) -> bool:
    """`How many active borrowers`, where a row is called so."""
    rows = reading.asks_rows or reading.names_table
    return operations == {Operation.COUNT} and not reading.columns and not rows and _is_label(reading)


def _concerns(reading: Reading, label: TableColumn | None) -> bool:
    """Whether enough of the question is about this table to say anything of it."""
    counts = any(o.operation in (Operation.COUNT, Operation.COUNT_DISTINCT) for o in reading.operations)
    named = reading.asks_rows or reading.names_table
    if reading.operations:
        dated = any(o.text in DATE_EXTREMES for o in reading.operations) and reading.names_table
        implied = dated or ((reading.names_table or reading.deals) and amount_column(reading.words.table) is not None)
        return bool(reading.columns or reading.values or (counts and named) or implied)
    if reading.how_much and (reading.conditions or reading.columns):
        return bool(metrics(reading)) or amount_column(reading.words.table) is not None
    if _asks_for_values(reading) or (reading.groups and metrics(reading)):
        return True
    if label is not None and _asks_for_all(reading, label):
        return True
    told = bool(reading.columns) or reading.deals or reading.opening == "when" or _compares(reading)
    known = named or reading.entity is not None or label in {m.column for m in reading.columns}
    return (
        bool((reading.values and told) or (reading.conditions and known))
        or _is_label(reading)
        or _asks_who(reading, label)
    )


def _asks_who(reading: Reading, label: TableColumn | None) -> bool:
    """`Who works less than 40 hours`: the names of the rows that meet a condition on something else."""
    if reading.opening != "who" or label is None or not names_anybody(reading, label) or metrics(reading):
        return False
    return bool(reading.conditions) and label.name not in {c.ref.column for c in reading.conditions}


def _compares(reading: Reading) -> bool:
    """`Chairs under 100 euros`: rows are told by a number besides."""
    return any(c.ref.column not in {v.column.name for v in reading.values} for c in reading.conditions)


def _is_label(reading: Reading) -> bool:
    return bool(reading.values) and all(v.last - v.first >= THRESHOLDS.label_words for v in reading.values)


def _count(reading: Reading) -> Plan:
    """Rows that meet the conditions; per group where one is named."""
    counted = _counted(reading)
    spare = [c for c in metrics(reading) if counted is None or c.name != counted.name]
    if (
        len(spare) == 1
        and spare[0].kind == "integer"
        and reading.conditions
        and counted is None
        and amount_column(reading.words.table) != spare[0]
    ):
        return _figure(reading, Operation.SUM)  # `how many lamps are in stock`, where the column counts them
    if spare:
        raise CannotPlan(f"it is not clear what {_named([c.name for c in spare])} has to do with the count")
    if counted is None and not (reading.asks_rows or reading.names_table):
        raise CannotPlan("it is not clear what to count")
    table = reading.words.table
    if reading.groups:
        return grouped(reading, Aggregate(Function.COUNT), None)
    if counted is not None and counted.is_numeric and adds_up(counted):
        return _figure(reading, Operation.SUM)  # `how many hours`
    if counted is not None and counted.is_numeric and _is_whole_name(reading, counted):
        # "How many crowns" asks for the figure, "how many loans" beside a column "Loan Number" for how many there are.
        raise CannotPlan(f"it is not clear whether to count or to read “{counted.name}”")
    if counted is not None and reading.operations[0].text == "how many" and _repeats(reading, counted):
        return _count_distinct(reading)  # `how many departments`
    query = TableQuery(
        source=table_key(table), conditions=tuple(reading.conditions), aggregates=(Aggregate(Function.COUNT),), limit=1
    )
    unique = (counted.name,) if counted is not None else ()
    return Plan(shape=Shape.COUNT, table=table, query=query, function=Function.COUNT, subject=counted, unique=unique)


def _repeats(reading: Reading, column: TableColumn) -> bool:
    """Whether several rows have the same name in a column, which `how many` counts once."""
    return column.kind == "text" and 0 < len(reading.words.values.get(column.name, ())) < reading.words.table.rows


def _counts(reading: Reading) -> Plan:
    """`How many are active and how many are in arrears`: of each of these values."""
    several = [c for c in reading.conditions if c.comparison is Comparator.IN and c.ref.part is None]
    if len(several) != 1 or reading.groups:
        raise CannotPlan("it asks for several things at once")
    group = next(c for c in reading.words.table.columns if c.name == several[0].ref.column)
    return grouped(replace(reading, groups=[group]), Aggregate(Function.COUNT), None)


def _asks_for_values(reading: Reading) -> bool:
    """`List all suppliers`, `who are the loan officers`: the different values of one column, named in the plural or beside `all`."""
    if len(reading.columns) != 1 or reading.values or reading.how_much or reading.deals:
        return False
    mention, texts = reading.columns[0], [word.text.casefold() for word in reading.question]
    if mention.column.kind != "text" or not mention.whole or LISTING.isdisjoint(texts[: mention.first]):
        return False
    return "all" in texts[: mention.first] or (texts[mention.last - 1].endswith("s") and mention.last == len(texts))


def _asks_for_all(reading: Reading, label: TableColumn) -> bool:
    """`The rent of all flats`, `list all flats with their rent and rooms`: a column that names the rows, or the table, and others."""
    texts = {word.text.casefold() for word in reading.question}
    named = label in {m.column for m in reading.columns} or reading.names_table
    asks = not texts.isdisjoint({"all", "every"}) and not (reading.conditions or reading.groups or reading.how_much)
    return asks and named and any(m.column != label for m in reading.columns)


def _of_all(reading: Reading, label: TableColumn) -> Plan:
    """The columns that are named, of each row."""
    asked = [c for c in dict.fromkeys(m.column for m in reading.columns) if c != label]
    columns = (label.name, *(c.name for c in asked))
    query = TableQuery(source=table_key(reading.words.table), columns=columns, limit=MAX_ROWS)
    return Plan(shape=Shape.LOOKUP, table=reading.words.table, query=query, subject=label, metric=asked[0])


def _listed(reading: Reading) -> Plan:
    """The different values of a column, in the order of the alphabet."""
    column = reading.columns[0].column
    query = TableQuery(
        source=table_key(reading.words.table),
        conditions=(*reading.conditions, RowCondition(ColumnRef(column.name), Comparator.NOT_EMPTY)),
        groups=(ColumnRef(column.name),),
        aggregates=(Aggregate(Function.COUNT),),
        order=(Order(column.name),),
        limit=MAX_ROWS,
    )
    return Plan(shape=Shape.VALUES, table=reading.words.table, query=query, subject=column)


def _by(reading: Reading, label: TableColumn | None) -> Plan:
    """`Loan amount by town`: the sum of what adds up; of what does not, the rows where each has one."""
    metric = one_metric(reading)
    if adds_up(metric):
        return grouped(reading, Aggregate(Function.SUM, metric.name), metric)
    if label is None or reading.groups != [label]:
        raise CannotPlan(
            f"it does not say whether the total or the average of {core_name(metric.name)} is meant", computes=True
        )
    query = TableQuery(
        source=table_key(reading.words.table),
        columns=(label.name, metric.name),
        conditions=tuple(reading.conditions),
        limit=MAX_ROWS,
    )
    return Plan(shape=Shape.LOOKUP, table=reading.words.table, query=query, subject=label, metric=metric)


def _how_much(reading: Reading, label: TableColumn | None) -> Plan:
    """`How much did we spend on travel`: the sum of the rows that are named, where their amounts add up; else each of these."""
    metric = one_metric(reading)
    in_all = adds_up(metric) or (reading.sums and is_money(metric) and not is_price(metric))
    if in_all and (reading.conditions or reading.deals):
        return _figure(reading, Operation.SUM)
    if not reading.conditions:
        raise CannotPlan("it names no rows")
    columns = tuple(dict.fromkeys(c.name for c in (label, metric) if c is not None))
    query = TableQuery(
        source=table_key(reading.words.table), columns=columns, conditions=tuple(reading.conditions), limit=MAX_ROWS
    )
    return Plan(shape=Shape.LOOKUP, table=reading.words.table, query=query, subject=label, metric=metric)


def _is_whole_name(reading: Reading, column: TableColumn) -> bool:
    return any(m.column == column and m.last - m.first >= len(column.name.split()) for m in reading.columns)


def _counted(reading: Reading) -> TableColumn | None:
    """The column named right after "how many", if any ("how many borrowers")."""
    last = next(o.last for o in reading.operations if o.operation is Operation.COUNT)
    mention = next((m for m in reading.columns if m.first == last), None)
    if mention is None or mention.column.name in {c.ref.column for c in reading.conditions}:
        return None
    return mention.column


def _count_distinct(reading: Reading) -> Plan:
    last = reading.operations[0].last
    mention = next((m for m in reading.columns if 0 <= m.first - last <= 1), None)
    if mention is None or [c for c in metrics(reading) if c.name != mention.column.name]:
        raise CannotPlan("it is not clear what to count")
    aggregate = Aggregate(Function.COUNT_DISTINCT, mention.column.name)
    if reading.groups:
        return grouped(reading, aggregate, mention.column)
    query = TableQuery(
        source=table_key(reading.words.table), conditions=tuple(reading.conditions), aggregates=(aggregate,), limit=1
    )
    return Plan(
        shape=Shape.FIGURE,
        table=reading.words.table,
        query=query,
        metric=mention.column,
        function=Function.COUNT_DISTINCT,
    )


def _figure(reading: Reading, operation: Operation) -> Plan:
    """Sum, average or median of one numeric column."""
    metric = one_metric(reading)
    require_one_currency(reading, metric)
    if operation is Operation.SUM and is_price(metric) and metric not in {m.column for m in reading.columns}:
        raise CannotPlan("it is not clear which column to add up")
    if reading.entity is not None and reading.entity.name != metric.name:
        raise CannotPlan("the question asks which one, but not for the highest or the lowest value")
    aggregate = Aggregate(AGGREGATES[operation], metric.name)
    if reading.groups:
        return grouped(reading, aggregate, metric)
    # Only rows with a value make up the figure, so only they are counted and cited with it.
    conditions = (*reading.conditions, RowCondition(ColumnRef(metric.name), Comparator.NOT_EMPTY))
    query = TableQuery(source=table_key(reading.words.table), conditions=conditions, aggregates=(aggregate,), limit=1)
    return Plan(shape=Shape.FIGURE, table=reading.words.table, query=query, metric=metric, function=aggregate.function)


def _compare(reading: Reading, others: set[Operation]) -> Plan:
    """Two or more values of one column, by one figure each."""
    compared = [c for c in reading.conditions if c.comparison is Comparator.IN and isinstance(c.value, tuple)]
    if len(compared) != 1 or reading.groups:
        raise CannotPlan("it is not clear which two values to compare")
    subject = next(c for c in reading.words.table.columns if c.name == compared[0].ref.column)
    values = compared[0].value
    assert isinstance(values, tuple)
    metric = one_metric(reading)
    table = reading.words.table
    if not others:
        query = TableQuery(
            source=table_key(table),
            columns=(subject.name, metric.name),
            conditions=tuple(reading.conditions),
            limit=MAX_ROWS,
        )
        return Plan(
            shape=Shape.COMPARE,
            table=table,
            query=query,
            metric=metric,
            subject=subject,
            unique=(subject.name,),
            expected=len(values),
            percent_of=reading.percent_of,
        )
    if len(others) != 1 or not others <= set(AGGREGATES):
        raise CannotPlan("it asks for several things at once")
    function = AGGREGATES[next(iter(others))]
    query = TableQuery(
        source=table_key(table),
        conditions=tuple(reading.conditions),
        groups=(ColumnRef(subject.name),),
        aggregates=(Aggregate(function, metric.name),),
        limit=MAX_ROWS,
    )
    return Plan(
        shape=Shape.COMPARE,
        table=table,
        query=query,
        metric=metric,
        subject=subject,
        function=function,
        expected=len(values),
        percent_of=reading.percent_of,
    )


def _lookup(reading: Reading, label: TableColumn | None) -> Plan:
    """The named columns of the rows that meet the conditions, or those rows whole."""
    if not reading.conditions or reading.groups:
        raise CannotPlan("it names no rows")
    table = reading.words.table
    asked = _wanted(reading)
    wanted = [c.name for c in asked]
    keyed = {c.ref.column for c in reading.conditions}
    if label is not None and not wanted and _asks_who(reading, label):
        asked, wanted = [label], [label.name]
    if wanted:
        total = label is None and len(asked) == 1 and _adds_up(reading, asked[0])
        day = [table.only_dated.name] if total and table.only_dated is not None else []
        named = [label.name] if label is not None else day
        columns = dict.fromkeys((*named, *wanted, *_implied(reading)))
        query = TableQuery(
            source=table_key(table), columns=tuple(columns), conditions=tuple(reading.conditions), limit=MAX_ROWS
        )
        return Plan(shape=Shape.LOOKUP, table=table, query=query, subject=label, metric=asked[0], adds_up=total)
    if reading.asks_rows or reading.names_table or (reading.values and _compares(reading)):
        query = TableQuery(source=table_key(table), conditions=tuple(reading.conditions), limit=MAX_ROWS)
        return Plan(shape=Shape.ROWS, table=table, query=query, subject=label)
    if len(keyed) != 1:
        raise CannotPlan("it is not clear what is asked about these rows")
    query = TableQuery(source=table_key(table), conditions=tuple(reading.conditions), limit=MAX_ROWS)
    return Plan(shape=Shape.ROWS, table=table, query=query, subject=label, expected=1)


def _adds_up(reading: Reading, metric: TableColumn) -> bool:
    """Whether the amounts of the rows that are named make a total: `hours of Raj Patel`."""
    named = all(c.comparison in (Comparator.EQ, Comparator.GTE, Comparator.LT) for c in reading.conditions)
    if not metric.is_numeric or not adds_up(metric) or not named:
        return False
    told = currencies_beside(reading.words.table, reading.words.values)
    return told is None or not is_money(metric)


def _implied(reading: Reading) -> list[str]:
    """Columns of numbers that rows are told by without being named: what `under 1000` is about is shown."""
    named = {m.column.name for m in reading.columns}
    numeric = {c.name for c in reading.words.table.columns if c.is_numeric}
    told = (c for c in reading.conditions if c.comparison is not Comparator.EQ)
    return [c.ref.column for c in told if c.ref.column in numeric - named]


def _wanted(reading: Reading) -> list[TableColumn]:
    """The columns that are asked for; unnamed, that of dates for `when`, and that of amounts for `what does … cost`."""
    named, table = metrics(reading), reading.words.table
    if reading.opening == "when" and not any(m.whole for m in reading.columns if m.column in named):
        return [table.only_dated] if table.only_dated is not None else named
    if named:
        return named
    amount = amount_column(table) if reading.costs else None
    return [amount] if amount is not None else []


def _named(names: Sequence[str]) -> str:
    return ", ".join(f"“{name}”" for name in names)
