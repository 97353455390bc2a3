"""Reads a question against one table: what every word of it stands for. A word that stands for nothing is left over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from citewell.agent.tables.language import wording
from citewell.agent.tables.language.amounts import DEALINGS, EARNED, amount_column, column_of_unit
from citewell.agent.tables.language.changes import read_alternatives, read_changes
from citewell.agent.tables.language.comparisons import only_fillers, read_comparisons
from citewell.agent.tables.language.dates import time_span
from citewell.agent.tables.language.flags import NO, read_flags
from citewell.agent.tables.language.links import (
    ColumnMention,
    TableWords,
    ValueMention,
    column_mentions,
    is_numbering,
    name_norms,
    names_of_table,
    superior_mentions,
    unit_words,
    value_mentions,
)
from citewell.agent.tables.language.missing import read_missing, read_payments
from citewell.agent.tables.language.negations import check_negations, read_exclusion
from citewell.agent.tables.language.question_reading import OperationMention, Reading
from citewell.agent.tables.language.shares import read_share
from citewell.agent.tables.language.wording import (
    FILLERS,
    SOFT_FILLERS,
    Operation,
    QuestionWord,
    find_phrase,
    small_count,
)
from citewell.agent.tables.query.typed import ColumnRef, Comparator, DatePart, RowCondition
from citewell.agent.tables.thresholds import THRESHOLDS

_BOUNDS = frozenset({"before", "after", "since", "until"})
_AUXILIARIES = frozenset(
    {"is", "are", "was", "were", "be", "been", "being", "get", "gets", "got", "has", "have", "had"}
)
_ALTOGETHER = frozenset({"in total", "altogether", "combined"})
_TIMES = frozenset(map(wording.norm, ("hours", "days", "weeks", "months", "minutes")))
_PARTS = {"month": DatePart.MONTH, "quarter": DatePart.QUARTER, "year": DatePart.YEAR}
_BEFORE_OBJECTS = frozenset({"in", "on", "at", "for", "of", "from", "with", "to", "by", "than", "the", "a", "an"})
_BEFORE_NOUNS = frozenset({"which", "what", "the", "a", "an", "this", "that", "whose"})
_OVER_ROWS = frozenset(
    {Operation.COUNT, Operation.COUNT_DISTINCT, Operation.SUM, Operation.AVG, Operation.MEDIAN, Operation.COMPARE}
)


def read(text: str, words: TableWords) -> Reading:
    """Columns first, then values, comparisons, dates, operations and grouping; each word is taken once.

    Of a text longer than any question for a table nothing is read.
    """
    asked = text if len(text) <= THRESHOLDS.question_characters else ""
    reading = Reading(words, tuple(wording.words(asked)))
    _read_columns_and_values(reading)
    read_comparisons(reading)
    _read_dates(reading)
    _read_operations(reading)
    read_changes(reading)
    read_alternatives(reading)
    _read_events(reading)
    read_missing(reading)
    read_payments(reading)
    _read_units(reading)
    _read_groups(reading)
    _read_amounts(reading)
    _read_rows_and_names(reading)
    _read_verb(reading)
    read_flags(reading)
    read_share(reading)
    _check_alternatives(reading)
    check_negations(reading)
    return reading


def _read_columns_and_values(reading: Reading) -> None:
    """A value beats a column name that it contains or equals in length; a longer column name beats a value."""
    asked = _operation_words(reading)
    columns = [
        c
        for c in column_mentions(reading.question, reading.words.table)
        if c.whole or not asked & {*range(c.first, c.last)}
    ]
    columns += superior_mentions(reading.question, reading.words.table)
    found = [v for v in value_mentions(reading.question, reading.words) if not _is_none_of(v, columns)]
    values = _settled(found, columns, reading)
    for value in sorted(values, key=lambda v: v.first - v.last):
        rival = next((c for c in columns if c.first < value.last and c.last > value.first), None)
        whole = rival is not None and rival.whole and rival.last - rival.first >= value.last - value.first
        if reading.is_free(value.first, value.last) and not whole:
            reading.values.append(value)
            reading.use(value.first, value.last)
    for column in columns:
        if reading.is_free(column.first, column.last):
            reading.columns.append(column)
            reading.use(column.first, column.last)
    _values_to_conditions(reading)


def _is_none_of(value: ValueMention, columns: Sequence[ColumnMention]) -> bool:
    """The `no` of `no manager`, where another column says no to something else."""
    after = next((c for c in columns if c.first == value.last), None)
    return value.value.casefold() in NO and after is not None and after.column.name != value.column.name


def _read_events(reading: Reading) -> None:
    """`How many loans were disbursed`, `the total amount disbursed`: the rows that have a date in the column "Disbursed"."""
    if not {o.operation for o in reading.operations} & _OVER_ROWS:
        return
    limited = {condition.ref.column for condition in reading.conditions}
    numeric_ends = {m.last for m in reading.columns if m.column.is_numeric}
    for mention in list(reading.columns):
        if not mention.column.is_dated or mention.column.name in limited or mention.first == 0:
            continue
        text = reading.question[mention.first].text.casefold()
        is_participle = text.endswith("ed") and mention.first in numeric_ends
        if is_participle or reading.question[mention.first - 1].text.casefold() in _AUXILIARIES:
            reading.columns.remove(mention)
            reading.conditions.append(RowCondition(ColumnRef(mention.column.name), Comparator.NOT_EMPTY))


def _operation_words(reading: Reading) -> set[int]:
    """Where operations of two and more words are ("number of"): they are not parts of column names."""
    found: set[int] = set()
    for _, phrases in wording.PHRASES:
        for phrase in phrases:
            length = len(phrase.split())
            if length > 1:
                for first in find_phrase(list(reading.question), phrase):
                    found.update(range(first, first + length))
    return found


def _settled(values: Sequence[ValueMention], columns: Sequence[ColumnMention], reading: Reading) -> list[ValueMention]:
    """Values that belong to one column; of those in several, the one whose column is named next to it."""
    out: list[ValueMention] = []
    for place in sorted({(v.first, v.last) for v in values}):
        here = [v for v in values if (v.first, v.last) == place]
        names = {v.column.name for v in here}
        if len(names) > 1:
            beside = {c.column.name for c in columns if _names_column_of(c, place)}
            here = [v for v in here if v.column.name in beside]
            names = {v.column.name for v in here}
        if len(names) == 1 and not _is_plain(reading.question[place[0] : place[1]], here[0], columns):
            out.append(here[0])
    return out


def _names_column_of(column: ColumnMention, place: tuple[int, int]) -> bool:
    """Whether a column is named close enough to a value at this place to be the column of that value."""
    before, after = place[0] - column.last, column.first - place[1]
    return 0 <= before <= THRESHOLDS.value_after_column or 0 <= after <= THRESHOLDS.value_before_column


def _is_plain(words: Sequence[QuestionWord], value: ValueMention, columns: Sequence[ColumnMention]) -> bool:
    """A value that is an everyday word ("no", "a", "in") or a bare number counts only next to its column's name."""
    if not all(w.norm in FILLERS or w.number is not None or len(w.text) == 1 for w in words):
        return False
    if all(len(w.text) > 1 and w.text.isalpha() and w.text.isupper() for w in words) and value.value.isupper():
        return False  # `the salary in IT`
    if (
        any(w.norm in SOFT_FILLERS for w in words)
        and " ".join(w.text for w in words).casefold() == value.value.casefold()
    ):
        return False
    return not any(
        c.column.name == value.column.name
        and (0 <= value.first - c.last <= THRESHOLDS.plain_value or 0 <= c.first - value.last <= THRESHOLDS.plain_value)
        for c in columns
    )


def _values_to_conditions(reading: Reading) -> None:
    by_column: dict[str, list[str]] = {}
    for value in sorted(reading.values, key=lambda v: v.first):
        spelled = [v for v in reading.words.values[value.column.name] if wording.norms(v) == wording.norms(value.value)]
        known = by_column.setdefault(value.column.name, [])
        known += [v for v in spelled if v not in known]
    for name, texts in by_column.items():
        negated = any(read_exclusion(reading, v.first) for v in reading.values if v.column.name == name)
        if len(texts) == 1:
            comparison = Comparator.NE if negated else Comparator.EQ
            reading.conditions.append(RowCondition(ColumnRef(name), comparison, texts[0]))
        else:
            comparison = Comparator.NOT_IN if negated else Comparator.IN
            reading.conditions.append(RowCondition(ColumnRef(name), comparison, tuple(texts)))


def _read_dates(reading: Reading) -> None:
    """`in 2024`, `in March`, `before 2024-06-01`, `in the first quarter`, on the only date column or the one named."""
    named = [m.column for m in reading.columns if m.column.is_dated]
    chosen = named[0] if len({c.name for c in named}) == 1 else reading.words.table.only_dated
    if chosen is None:
        return
    texts = [word.text.casefold() for word in reading.question]
    whole = 0
    for index in range(len(texts)):
        span = time_span(texts, index, reading.words.years.get(chosen.name))
        if span is None or not reading.is_free(index, span.end):
            continue
        start = index - 1 if index and texts[index - 1] == "the" else index
        word = texts[start - 1] if start else ""
        whole += word not in _BOUNDS
        if whole > 1:  # no day is in 2024 and in 2025: the rows of both are meant, or those from one to the other
            reading.problem = "it is not clear how the times that it names go together"
        if word in _BOUNDS and len(span.values) > 1:
            reading.problem = f"it is not clear which year’s {reading.question[index].text} is meant"
        if word in _BOUNDS and start < index and texts[index] in wording.MONTHS:
            reading.problem = "a row is named by its day"  # `after the October 26 game`
        reading.conditions += span.conditions(chosen.name, word)
        reading.use(start - 1 if word in _BOUNDS or word in ("in", "on", "during") else start, span.end)


def _read_operations(reading: Reading) -> None:
    question = list(reading.question)
    for operation, phrases in wording.PHRASES:
        for phrase in sorted(phrases, key=lambda phrase: -len(phrase.split())):
            for first in find_phrase(question, phrase):
                last = first + len(phrase.split())
                if not reading.is_free(first, last):
                    continue
                count = None
                if operation in (Operation.MAX, Operation.MIN):
                    count, first, last = _with_count(reading, first, last)
                reading.operations.append(OperationMention(operation, first, last, count, phrase))
                reading.use(first, last)
    dated = reading.opening == "when" or any(m.column.is_dated for m in reading.columns)
    for word, operation, meant in (("first", Operation.MIN, "earliest"), ("last", Operation.MAX, "latest")):
        for first in find_phrase(question, word):
            if reading.is_free(first, first + 1) and (dated or _is_of_rows(reading, first + 1)):
                count, begin, end = _with_count(reading, first, first + 1)
                reading.operations.append(OperationMention(operation, begin, end, count, meant))
                reading.use(begin, end)
    reading.operations.sort(key=lambda o: o.first)
    if any(o.operation is Operation.COUNT for o in reading.operations):  # `how many are there in total`
        reading.operations = [o for o in reading.operations if o.text not in _ALTOGETHER]


def _is_of_rows(reading: Reading, index: int) -> bool:
    """Whether the noun from `index` on names the rows of a table with dates: `the last invoice`, `the first two open orders`."""
    words, table = reading.words, reading.words.table
    if not any(column.is_dated for column in table.columns):
        return False
    valued = {i for v in reading.values for i in range(v.first, v.last)}
    while index < len(reading.question) and (index in valued or small_count(reading.question[index]) is not None):
        index += 1
    if index >= len(reading.question):
        return False
    for mention in reading.columns:
        unique = len(words.values.get(mention.column.name, ())) == table.rows > 0
        if mention.first <= index < mention.last:
            return unique or is_numbering(mention.column.name)
    norm = reading.question[index].norm
    return norm in wording.ROW_NOUNS - wording.PLACES or (norm in names_of_table(table) and norm not in FILLERS)


def _with_count(reading: Reading, first: int, last: int) -> tuple[int | None, int, int]:
    """`top 5`, `5 largest`: the count beside the word, and the span with it."""
    if last < len(reading.question) and reading.is_free(last, last + 1) and (n := small_count(reading.question[last])):
        return n, first, last + 1
    if first > 0 and reading.is_free(first - 1, first) and (n := small_count(reading.question[first - 1])):
        return n, first - 1, last
    return None, first, last


def _read_groups(reading: Reading) -> None:
    """`per branch`, `by status`, `for each officer`; `which quarter` and `top 3 branches by` name the entity asked for."""
    ranked = any(o.count for o in reading.operations)
    for phrase in wording.GROUPING:
        for first in find_phrase(list(reading.question), phrase):
            last = first + len(phrase.split())
            mention = next((m for m in reading.columns if m.first == last), None)
            if mention is None or not reading.is_free(first, last):
                continue
            reading.use(first, last)
            if not (ranked and phrase == "by") and mention.column not in reading.groups:
                reading.groups.append(mention.column)
    _read_periods(reading)
    starts = {
        i + 1 for i, word in enumerate(reading.question) if word.text.casefold() in ("which", "what", "whose", "what's")
    }
    starts |= {o.last for o in reading.operations if o.count}
    mention = next((m for m in reading.columns if m.first in starts), None)
    if mention is not None:
        reading.entity = mention.column


def _read_units(reading: Reading) -> None:
    """`How many kilos of Pinot Noir`: the sum of the column in that unit; `hours worked`: the participle says nothing besides."""
    for place, mention in enumerate(reading.operations):
        if mention.operation is not Operation.COUNT or mention.last >= len(reading.question):
            continue
        column = column_of_unit(reading.words.table, reading.question[mention.last].norm)
        if column is not None and reading.is_free(mention.last, mention.last + 1):
            reading.operations[place] = replace(mention, operation=Operation.SUM)
            reading.columns.append(ColumnMention(column, mention.last, mention.last + 1, whole=True))
            reading.use(mention.last, mention.last + 1)
    for column in reading.columns:
        after = column.last
        follows = column.column.is_numeric and after < len(reading.question) and reading.is_free(after, after + 1)
        if follows and reading.question[after].text.casefold().endswith("ed"):
            reading.use(after, after + 1)
    timed = any(m.column.is_numeric and not _TIMES.isdisjoint(name_norms(m.column)) for m in reading.columns)
    for index, word in enumerate(reading.question) if timed else ():
        if word.norm == "work" and reading.is_free(index, index + 1):
            reading.use(index, index + 1)  # `who works less than 40 hours`


def _read_periods(reading: Reading) -> None:
    """`per month`, `by quarter`, `each year`: by a part of the only column of dates, where no column is called so."""
    dated = reading.words.table.only_dated
    if dated is None or reading.groups:
        return
    for index, word in enumerate(reading.question[:-1]):
        part = _PARTS.get(reading.question[index + 1].text.casefold())
        if word.text.casefold() in ("per", "by", "each", "every") and part and reading.is_free(index, index + 2):
            reading.groups.append(dated)
            reading.group_part = part
            reading.use(index, index + 2)
            return


def _read_amounts(reading: Reading) -> None:
    """`how much did we spend on`, `what does … cost`: of the column of amounts, which the verb need not name."""
    reading.how_much = any(True for _ in find_phrase(list(reading.question), "how much"))
    counting = {o.operation for o in reading.operations} & {Operation.COUNT, Operation.COUNT_DISTINCT}
    if any(True for _ in find_phrase(list(reading.question), "how many times")) and reading.conditions:
        reading.asks_rows, counting = True, set[Operation]()
        reading.used.update(i for i, w in enumerate(reading.question) if w.text.casefold() == "times")
    if counting or amount_column(reading.words.table) is None:
        return
    names = names_of_table(reading.words.table)
    for index, word in enumerate(reading.question):
        if word.norm in names:
            continue
        before = reading.question[index - 1].text.casefold() if index else ""
        if word.norm in DEALINGS and before not in _BEFORE_NOUNS and reading.is_free(index, index + 1):
            reading.dealings.add(word.norm)
            reading.how_much |= reading.opening == "what" and word.norm in EARNED
            reading.use(index, index + 1)


def _read_verb(reading: Reading) -> None:
    """The verb at the end of `what business does Mary Adjei run?` or `when was the last repayment made?`, where all else is named."""
    texts = [word.text.casefold() for word in reading.question]
    left = [i for i in range(len(texts)) if i not in reading.used and reading.question[i].norm not in FILLERS]
    column = reading.entity is not None and not reading.operations and bool(reading.values)
    counts = {o.operation for o in reading.operations} == {Operation.COUNT} and bool(reading.values)
    rows = counts and (reading.names_table or any(m.column.is_numeric for m in reading.columns))
    when = reading.opening == "when" and bool(reading.operations) and reading.names_table
    if left and left[0] > 0 and texts[left[0] - 1] in _BEFORE_OBJECTS:
        return  # `in French` is no verb
    ends = left == [len(texts) - 1] or (left == [len(texts) - 2] and texts[-1] in ("out", "up", "off"))
    if ends and (column or rows or when) and not {"does", "did", "do", "was", "were"}.isdisjoint(texts):
        reading.use(left[0], len(texts))


def _read_rows_and_names(reading: Reading) -> None:
    names = names_of_table(reading.words.table)
    units = {u for m in reading.columns for u in unit_words(m.column.name)}
    for index, word in enumerate(reading.question):
        if word.norm in wording.ROW_NOUNS or word.text.casefold() in ("rows", "records", "entries"):
            reading.asks_rows = True
            reading.use(index, index + 1)
        elif reading.is_free(index, index + 1) and word.norm in names and word.norm not in FILLERS:
            reading.names_table = True
            reading.use(index, index + 1)
        elif reading.is_free(index, index + 1) and word.norm in units:
            reading.use(index, index + 1)


def _check_alternatives(reading: Reading) -> None:
    """`overdue or over 5,000` asks for rows that meet either condition, and a query finds those that meet all of them."""
    if len(reading.conditions) < 2:
        return
    for index, word in enumerate(reading.question):
        free = reading.is_free(index, index + 1)
        if (
            word.text.casefold() == "or"
            and free
            and not (_joins_values(reading, index) or _joins_columns(reading, index))
        ):
            reading.problem = reading.problem or "it is not clear which conditions “or” joins"


def _joins_values(reading: Reading, index: int) -> bool:
    """`Accra or Kumasi`, `the Accra branch or Kumasi`: one condition on one column."""
    before = max((v for v in reading.values if v.last <= index), key=lambda v: v.last, default=None)
    after = min((v for v in reading.values if v.first > index), key=lambda v: v.first, default=None)
    if before is None or after is None or before.column.name != after.column.name:
        return False
    named = {i for c in reading.columns if c.column.name == before.column.name for i in range(c.first, c.last)}
    between = [i for i in range(before.last, after.first) if i not in named]
    return all(reading.question[i].norm in FILLERS and reading.is_free(i, i + 1) for i in between)


def _joins_columns(reading: Reading, index: int) -> bool:
    """`the amount or the term`: two columns that are asked for."""
    before = [c for c in reading.columns if c.last <= index and only_fillers(reading, c.last, index)]
    after = [c for c in reading.columns if c.first > index and only_fillers(reading, index + 1, c.first)]
    return bool(before and after)
