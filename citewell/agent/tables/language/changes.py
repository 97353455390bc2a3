"""Questions for a change or a difference: two rows of a table beside each other."""

from __future__ import annotations

from citewell.agent.tables.language.amounts import SUMMED, adds_up, amount_column, is_price
from citewell.agent.tables.language.links import unit_of
from citewell.agent.tables.language.question_reading import OperationMention, Reading
from citewell.agent.tables.language.wording import Operation, norm
from citewell.agent.tables.query.typed import Comparator

_COMPARED = frozenset({Operation.COMPARE, Operation.SUM, Operation.AVG, Operation.MEDIAN})
_CHANGING = frozenset(
    map(
        norm,
        (
            *("grow", "grew", "grown", "growth", "increase", "rise", "rose", "risen", "fall", "fell", "fallen", "drop"),
            *("decrease", "decline", "shrink", "shrank", "change", "differ", "difference"),
            *("higher", "lower", "more", "less", "greater", "larger", "smaller", "bigger", "cheaper", "dearer"),
        ),
    )
)
"""How one of two figures is beside the other."""
_GOING, _WAYS = frozenset({"go", "goes", "went", "gone"}), frozenset({"up", "down"})
_BETWEEN_TWO = frozenset({"between", "than", "from", "to", "and", "or", "by", "compared"})


_PERCENT = frozenset(map(norm, ("percent", "percentage")))
# What the figure that a change is a percentage of is named after; `to` and `with` only behind `compared`.
_BEFORE_THE_BASE = frozenset({"from", "than", "since", "over"})
_COMPARED_BY_WORD = frozenset({"more", "less", "higher", "lower"})


def read_alternatives(reading: Reading) -> None:
    """`Did we spend more on travel or rent`: compare what the rows of either value add up to, in the one column of amounts."""
    paired = [c for c in reading.conditions if c.comparison is Comparator.IN]
    texts = [word.text.casefold() for word in reading.question]
    amount = amount_column(reading.words.table)
    if len(paired) != 1 or len(reading.values) != 2 or reading.operations or amount is None:
        return
    first, second = sorted(reading.values, key=lambda v: v.first)
    said = [i for i, text in enumerate(texts) if text in _COMPARED_BY_WORD and reading.is_free(i, i + 1)]
    between = texts[first.last : second.first]
    if len(said) != 1 or not {"or", "than"} & set(between) or any(m.column != amount for m in reading.columns):
        return
    dealings = {word.norm for word in reading.question}
    if not adds_up(amount) and (dealings.isdisjoint(SUMMED) or is_price(amount)):
        return
    reading.used.update(said, (i for i in range(first.last, second.first) if texts[i] in _BETWEEN_TWO))
    reading.operations += [
        OperationMention(Operation.COMPARE, said[0], said[0] + 1, None, texts[said[0]]),
        OperationMention(Operation.SUM, said[0], said[0] + 1, None, texts[said[0]]),
    ]


def read_changes(reading: Reading) -> None:
    """`By how much did revenue grow from Q3 to Q4`, `is rent higher in A1 than in B2`: compare the two rows that are named.

    Only where one column of numbers is named, and two values of one other column. How many percent it is, too, where that is asked.
    """
    paired = [c for c in reading.conditions if c.comparison is Comparator.IN]
    measures = {m.column.name for m in reading.columns if m.column.is_numeric}
    percents = _percents(reading)
    asked = [o for o in reading.operations if o.operation is not Operation.COUNT or o.last not in percents]
    operations = {o.operation for o in asked}
    if len(paired) != 1 or len(reading.values) != 2 or len(measures) != 1 or not operations <= _COMPARED:
        return
    texts = [word.text.casefold() for word in reading.question]
    free = [i for i in range(len(texts)) if reading.is_free(i, i + 1)]
    goes = [i for i in free if texts[i] in _GOING and not _WAYS.isdisjoint(texts[i + 1 : i + 2])]
    said = goes + [i for i in free if reading.question[i].norm in _CHANGING]
    if percents and (said or Operation.COMPARE in operations):
        reading.operations = asked
        reading.used.update(percents)
        reading.percent_of = _base(reading, texts)
    if not said:
        return
    besides = _BETWEEN_TWO | _WAYS if goes else _BETWEEN_TWO
    reading.used.update(said, (i for i in free if texts[i] in besides))
    if Operation.COMPARE not in operations:
        word = reading.question[said[0]].text
        reading.operations.append(OperationMention(Operation.COMPARE, said[0], said[0] + 1, None, word))


def _percents(reading: Reading) -> set[int]:
    """Where it is asked for percent: `by how many percent`, `percentage change`, `growth rate`; not of figures that are in percent themselves."""
    if any(unit_of(m.column.name) == "%" for m in reading.columns):
        return set()
    norms = [word.norm for word in reading.question]
    rates = (i for i in range(1, len(norms)) if norms[i - 1 : i + 1] == [norm("growth"), norm("rate")])
    return {i for i in (*(i for i, one in enumerate(norms) if one in _PERCENT), *rates) if reading.is_free(i, i + 1)}


def _base(reading: Reading, texts: list[str]) -> str:
    """The value whose figure a change is a percentage of: what it is `from`, higher `than` or `compared to`, else the first that is named."""
    first, second = sorted(reading.values, key=lambda value: value.first)
    for value, start in ((first, 0), (second, first.last)):
        before = texts[start : value.first]
        if "compared" in before or not _BEFORE_THE_BASE.isdisjoint(before[-3:]):
            return value.value
    return first.value
