"""Columns that say yes or no of each row: apartments that allow pets, furnished ones, those without a balcony."""

from __future__ import annotations

from citewell.agent.tables.language.links import ColumnMention
from citewell.agent.tables.language.negations import BEING_THERE, read_denial, read_exclusion
from citewell.agent.tables.language.question_reading import Reading
from citewell.agent.tables.language.wording import Operation
from citewell.agent.tables.query.typed import ColumnRef, Comparator, RowCondition
from citewell.types import TableColumn

YES, NO = frozenset({"yes", "true", "y"}), frozenset({"no", "false", "n"})


def read_flags(reading: Reading) -> None:
    """`Which apartments in Ghent allow pets`, `how many furnished apartments`: the rows whose cell of that column is yes."""
    counts = {o.operation for o in reading.operations} == {Operation.COUNT}
    selects = counts or (not reading.operations and reading.opening in ("which", "who", "list", "show"))
    values, rows = reading.words.values, reading.words.table.rows
    if any(len(values.get(v.column.name, ())) == rows for v in reading.values):
        return
    for mention in list(reading.columns):
        name = mention.column.name
        if not says_yes_or_no(reading, mention.column) or name in {v.column.name for v in reading.values}:
            continue
        verbs = [i for i in (mention.first - 1, mention.last) if _is_free_verb(reading, i)]
        if not (selects or verbs or _is_a_trait(reading, mention)):
            continue
        reading.used.update(verbs)
        wanted = NO if read_exclusion(reading, mention.first) or read_denial(reading, mention.first) else YES
        words = {text.casefold(): text for text in values[name]}
        meant = next((text for word, text in words.items() if word in wanted), None)
        reading.columns = [m for m in reading.columns if m.column != mention.column]
        if meant is not None and name not in {c.ref.column for c in reading.conditions}:
            reading.conditions.append(RowCondition(ColumnRef(name), Comparator.EQ, meant))
            reading.asks_rows = True
        if reading.entity == mention.column:
            reading.entity = None


def says_yes_or_no(reading: Reading, column: TableColumn) -> bool:
    """Whether a column of texts has cells that say yes or no, and no others."""
    said = {text.casefold() for text in reading.words.values.get(column.name, ())}
    return bool(said) and said <= YES | NO


def _is_a_trait(reading: Reading, mention: ColumnMention) -> bool:
    """`With balcony`, `without a balcony`."""
    before = [word.text.casefold() for word in reading.question[max(0, mention.first - 2) : mention.first]]
    return before[-1:] in (["with"], ["without"]) or before in (["with", "a"], ["without", "a"], ["with", "an"])


def _is_free_verb(reading: Reading, index: int) -> bool:
    """Whether a word says only that something is there: the `allow` of `allow pets`, the `included` of `heating included`."""
    if not 0 <= index < len(reading.question) or not reading.is_free(index, index + 1):
        return False
    return reading.question[index].norm in BEING_THERE
