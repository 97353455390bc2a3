"""What rows lack: invoices that are unpaid, people without a manager, what somebody owes."""

from __future__ import annotations

from citewell.agent.tables.language import wording
from citewell.agent.tables.language.flags import NO, YES, says_yes_or_no
from citewell.agent.tables.language.links import name_norms
from citewell.agent.tables.language.negations import NEGATIONS
from citewell.agent.tables.language.question_reading import Reading
from citewell.agent.tables.language.wording import Operation, find_phrase
from citewell.agent.tables.query.typed import ColumnRef, Comparator, RowCondition
from citewell.types import TableColumn

_OWING, _PAYING = (
    frozenset(map(wording.norm, ("owe", "owes", "owed"))),
    frozenset(map(wording.norm, ("pay", "pays", "paid"))),
)
_OF_AMOUNTS = frozenset({Operation.MAX, Operation.MIN, Operation.SUM, Operation.AVG})
_MIN_UNDONE = 6  # letters: `unit` is not what is not it
_LACKING = frozenset({"no", "without", "lack", "lacks", "lacking"})


def read_missing(reading: Reading) -> None:
    """`Unpaid invoices`, `which are not paid yet`, `no manager`: the rows where the column is empty, or where it says no."""
    texts = [word.text.casefold() for word in reading.question]
    for index, text in enumerate(texts):
        if not text.startswith("un") or len(text) < _MIN_UNDONE or not reading.is_free(index, index + 1):
            continue
        done = wording.norm(text.removeprefix("un"))
        columns = [c for c in reading.words.table.columns if done in name_norms(c)]
        if len(columns) == 1 and _read_without(reading, columns[0]):
            reading.use(index, index + 1)
    for mention in list(reading.columns):
        before = range(max(0, mention.first - 2), mention.first)
        lacks = [i for i in before if texts[i] in _LACKING and reading.is_free(i, mention.first)]
        if lacks and not says_yes_or_no(reading, mention.column):
            reading.columns.remove(mention)
            reading.conditions.append(RowCondition(ColumnRef(mention.column.name), Comparator.EMPTY))
            reading.asks_rows = True
            reading.used.update(lacks)
            continue
        negations = [i for i in before if texts[i] in NEGATIONS]
        if mention.column.is_dated and negations and _read_without(reading, mention.column):
            reading.columns.remove(mention)
            reading.used.update(negations, (i for i, text in enumerate(texts) if text == "yet"))


def read_payments(reading: Reading) -> None:
    """`What does Schmidt owe`, `how much did Schmidt pay`: of rows with a date of payment, those without one, or with one."""
    paid = [c for c in reading.words.table.columns if c.is_dated and wording.norm("paid") in name_norms(c)]
    if len(paid) != 1 or paid[0].name in {c.ref.column for c in reading.conditions}:
        return
    amounts = any(o.operation in _OF_AMOUNTS for o in reading.operations)
    if amounts or any(True for _ in find_phrase(list(reading.question), "how much")):
        for mention in [
            m for m in reading.columns if m.column == paid[0] and not m.whole
        ]:  # as a verb it names no column
            reading.columns.remove(mention)
            reading.used.difference_update(range(mention.first, mention.last))
    verbs = {word.norm for i, word in enumerate(reading.question) if reading.is_free(i, i + 1)}
    if verbs & _OWING:
        reading.conditions.append(RowCondition(ColumnRef(paid[0].name), Comparator.EMPTY))
    elif verbs & _PAYING:
        reading.conditions.append(RowCondition(ColumnRef(paid[0].name), Comparator.NOT_EMPTY))


def _read_without(reading: Reading, column: TableColumn) -> bool:
    """Take the question to ask for rows without anything in this column, or with a no; False where its cells are other texts."""
    said = {text.casefold(): text for text in reading.words.values.get(column.name, ())}
    no = next((text for word, text in said.items() if word in NO), None)
    if column.kind == "text" and not (no is not None and said.keys() <= YES | NO):
        return False
    missing = RowCondition(ColumnRef(column.name), Comparator.EMPTY)
    reading.conditions.append(missing if no is None else RowCondition(ColumnRef(column.name), Comparator.EQ, no))
    reading.asks_rows = True
    return True
