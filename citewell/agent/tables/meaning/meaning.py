"""What a question means of a table: the likeliest ways to take what the model says of it, each with its probability."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from citewell.agent.tables.language.wording import leaves_out
from citewell.agent.tables.meaning.mentions import Mention
from citewell.agent.tables.meaning.view import ColumnView, TableView, conditions_of
from citewell.agent.tables.query.typed import ColumnRef, Comparator, RowCondition, one_of
from citewell.text.analysis import analyze
from citewell.types.table_reading import (
    ColumnRole,
    GroupFigure,
    Likelihoods,
    NumberUse,
    RowOperation,
    TableRead,
    ValueUse,
)

_OPERATIONS, _FIGURES = list(RowOperation), list(GroupFigure)
_USES, _NUMBER_USES = list(ValueUse), list(NumberUse)
_MIN_OPERATION = 0.05  # probability of an operation that is considered
_TRIED = 3  # operations
_PAIRED = frozenset({RowOperation.DIFFERENCE, RowOperation.CHANGE, RowOperation.COMPARE})
_RANKED = frozenset({RowOperation.EXTREME, RowOperation.TOP})
_TOP = 3  # rows of a "top" without a number

_NOTHING = (
    (ColumnRole.EMPTY, Comparator.EMPTY, Comparator.EQ),
    (ColumnRole.FILLED, Comparator.NOT_EMPTY, Comparator.GT),
)
"""The roles that say whether there is something in a column, with how cells and how numbers are compared."""

_BOUNDS = frozenset({Comparator.LT, Comparator.LTE, Comparator.GT, Comparator.GTE})

_ROLES: dict[RowOperation, dict[ColumnRole, tuple[int, int]]] = {
    RowOperation.LOOKUP: {ColumnRole.ANSWER: (1, 4)},
    RowOperation.FILTER: {ColumnRole.ANSWER: (0, 3)},
    RowOperation.COUNT: {},
    RowOperation.EXISTS: {},
    RowOperation.DISTINCT: {ColumnRole.MEASURE: (1, 1)},
    RowOperation.SUM: {ColumnRole.MEASURE: (1, 1)},
    RowOperation.AVERAGE: {ColumnRole.MEASURE: (1, 1)},
    RowOperation.EXTREME: {ColumnRole.MEASURE: (0, 1), ColumnRole.GROUP: (0, 1), ColumnRole.ANSWER: (0, 1)},
    RowOperation.TOP: {ColumnRole.MEASURE: (0, 1), ColumnRole.GROUP: (0, 1), ColumnRole.ANSWER: (0, 1)},
    RowOperation.GROUP: {ColumnRole.GROUP: (1, 1), ColumnRole.MEASURE: (0, 1)},
    RowOperation.DIFFERENCE: {ColumnRole.MEASURE: (1, 2)},
    RowOperation.CHANGE: {ColumnRole.MEASURE: (1, 2)},
    RowOperation.COMPARE: {ColumnRole.MEASURE: (0, 2)},
    RowOperation.SHARE: {ColumnRole.MEASURE: (0, 1)},
    RowOperation.TREND: {ColumnRole.MEASURE: (1, 20), ColumnRole.ANSWER: (0, 1)},
}
"""The roles that matter to each operation, with the fewest and the most columns that may have them."""
_LEAVING_OUT = frozenset(
    {Comparator.NE, Comparator.NOT_IN, Comparator.EMPTY, Comparator.LT, Comparator.LTE, Comparator.GTE, Comparator.GT}
)
_NEGATIVE = ("un", "in", "non", "dis")
_TAKES_NAMED = frozenset({ColumnRole.ANSWER, ColumnRole.MEASURE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """One way to take a question.

    conditions: of the rows; part: of those whose share is asked for; compared: the column whose two values are compared, with them in the
    order of the table; limit: how many rows are wanted; used: the numbers and times that are in conditions; likelihood: logarithms of the probabilities of each part, by its name
    """

    operation: RowOperation
    roles: dict[ColumnRole, tuple[ColumnView, ...]]
    conditions: tuple[RowCondition, ...]
    part: tuple[RowCondition, ...] = ()
    compared: tuple[ColumnView, tuple[str, ...]] | None = None
    figure: GroupFigure = GroupFigure.NONE
    descending: bool = True
    percent: bool = False
    limit: int = _TOP
    used: tuple[Mention, ...] = ()
    likelihood: dict[str, float] = field(default_factory=dict[str, float])

    @property
    def logarithm(self) -> float:
        """Of its probability, that the table is meant aside."""
        return sum(self.likelihood.values())

    @property
    def fixed(self) -> frozenset[str]:
        """The columns that a condition gives one value, so that they tell no rows apart."""
        return frozenset(c.ref.column for c in self.conditions if c.comparison is Comparator.EQ)

    def columns(self, role: ColumnRole) -> tuple[ColumnView, ...]:
        """Those with this role."""
        return self.roles.get(role, ())


def meanings(read: TableRead, view: TableView, told: Sequence[Mention], question: str) -> list[Meaning]:
    """The likeliest first, one or none for each of the likeliest operations.

    What identifies something must be used: a number in digits or a time that is in no condition must be in the name of a column, a value
    or the table; a value that is named by its column (`House A`) must be in a condition. Where the likeliest way to take the question
    leaves one out, the likeliest that uses it is taken. What contradicts itself, or answers with what it asks by, is left out.
    """
    order = np.argsort(-read.operations)[:_TRIED]
    likely = [place for place in order if np.exp(read.operations[place]) >= _MIN_OPERATION]
    named = [one for one in told if one.time is not None or any(map(str.isdigit, question[one.start : one.end]))]
    values = frozenset(_named_by_column(question, view))
    asked = frozenset(analyze(question, "en", query=True))
    found: list[Meaning] = []
    for operation in (_OPERATIONS[place] for place in likely):
        one = _of_operation(operation, read, view, told, frozenset(), values)
        left = frozenset() if one is None else _left_out(one, view, named, question)
        unused = frozenset() if one is None else _unused(one, view, asked)
        if left or unused:
            one = _of_operation(operation, read, view, told, left, values, unused)
        if one is not None and not _left_out(one, view, named, question) and not _unused(one, view, asked):
            found.append(one)
    whole = [one for one in found if all(_holds(one, column, value) for column, value in values) and _makes_sense(one)]
    if leaves_out(question):
        whole = [one for one in whole if any(_excludes(c, asked) for c in one.conditions)]
    return sorted(whole, key=lambda one: -one.logarithm)


def _excludes(condition: RowCondition, asked: frozenset[str]) -> bool:
    """Whether a condition leaves out what `not` does: a comparison that does, or a value that says it, as `No`, 0, and `unpaid` of `not paid`."""
    if condition.comparison in _LEAVING_OUT or condition.value == 0:
        return True
    values = [str(value).casefold() for value in condition.values]
    rests = [v.removeprefix(p).lstrip("- ") for v in values for p in _NEGATIVE if v.startswith(p)]
    return any(map(leaves_out, values)) or any(asked.intersection(analyze(rest, "en")) for rest in rests)


def _unused(meaning: Meaning, view: TableView, asked: frozenset[str]) -> frozenset[str]:
    """Columns of numbers whose whole name is in the question, and that the meaning has no use for."""
    used = {c.ref.column for c in (*meaning.conditions, *meaning.part)} | {c.than for c in meaning.conditions}
    used |= {column.name for columns in meaning.roles.values() for column in columns}
    said = frozenset(analyze(" ".join((view.title, *used)), "en"))
    numbers = (column for column in view.columns if column.kind == "number" and column.ref.part is None)
    named = (column.name for column in numbers if column.name not in used)
    return frozenset(name for name in named if (words := frozenset(analyze(name, "en"))) <= asked and words - said)


def _left_out(meaning: Meaning, view: TableView, named: Sequence[Mention], question: str) -> frozenset[Mention]:
    return frozenset(one for one in named if not _is_used(meaning, view, one, question[one.start : one.end]))


def _named_by_column(question: str, view: TableView) -> Iterator[tuple[ColumnView, str]]:
    """Values that follow a word of their column's name in the question: `House A`, `branch Accra`."""
    words = re.findall(r"\w+", question.casefold())
    after: dict[str, set[str]] = {}
    for word, following in itertools.pairwise(words):
        after.setdefault(word, set()).add(following)
    for column in view.columns:
        heads = re.findall(r"\w+", column.name.casefold())
        following = after.get(heads[-1], set()) if heads else set()
        begins = [(value, (re.findall(r"\w+", value.casefold()) or [""])[0]) for value in column.values]
        for value, first in begins:
            if first in following and sum(first == other for _, other in begins) == 1:
                yield column, value


def _holds(meaning: Meaning, column: ColumnView, value: str) -> bool:
    return any(c.ref.column == column.name and value in c.values for c in (*meaning.conditions, *meaning.part))


def _makes_sense(meaning: Meaning) -> bool:
    asked = {column.name for column in meaning.columns(ColumnRole.ANSWER)}
    if meaning.operation in (RowOperation.LOOKUP, RowOperation.FILTER, *_RANKED) and asked and asked <= meaning.fixed:
        return False
    bounds = [(c.ref, c.comparison) for c in meaning.conditions if c.comparison in _BOUNDS]
    return len(set(bounds)) == len(bounds)


def _is_used(meaning: Meaning, view: TableView, mention: Mention, text: str) -> bool:
    """Whether a condition is made of a number or time, or it goes without saying: the name of a column, a value or the table has it."""
    if mention in meaning.used:
        return True
    if mention.time is not None and (year := mention.time.year) is not None:
        spans = [column.years for column in view.columns if column.years is not None]
        if any(first <= year <= last for first, last in spans):
            return all(first == last for first, last in spans)
    values = (value for c in (*meaning.conditions, *meaning.part) for value in c.values)
    names = (column.name for columns in meaning.roles.values() for column in columns)
    said = " ".join((view.title, *names, *map(str, values))).casefold()
    return all(part in said for part in re.findall(r"\d+", text) or [text.casefold()])


def _of_operation(
    operation: RowOperation,
    read: TableRead,
    view: TableView,
    told: Sequence[Mention],
    required: frozenset[Mention],
    values: frozenset[tuple[ColumnView, str]],
    wanted: frozenset[str] = frozenset(),
) -> Meaning | None:
    """The likeliest meaning with this operation. required: numbers and times that a condition is made of, values: values likewise;
    wanted: columns that are measured or the answer.
    """
    likelihood = {"operation": float(read.operations[_OPERATIONS.index(operation)])}
    roles: dict[ColumnRole, tuple[ColumnView, ...]] = {}
    for role, (least, most) in _ROLES[operation].items():
        chosen, likely = _columns(role, operation, read, view, (least, most), wanted)
        if len(chosen) < least:
            return None
        roles[role] = chosen
        likelihood[role] = likely
    used = _Conditions(read, view, told, required, values, operation)
    likelihood |= {"values": used.values, "numbers": used.numbers}
    empty, likelihood["empty"] = _empty(read, view)
    above, likelihood["above"] = _above(read, view)
    grouped = bool(roles.get(ColumnRole.GROUP)) or operation in _PAIRED or operation is RowOperation.SHARE
    figure = GroupFigure.NONE
    if grouped:
        place = int(np.argmax(read.figures))
        figure = _FIGURES[place]
        likelihood["figure"] = float(read.figures[place])
    descending = True
    if operation in _RANKED:
        descending = bool(read.descending[0] >= read.descending[1])
        likelihood["direction"] = float(read.descending.max())
    percent = read.percent > 0
    if operation in (RowOperation.CHANGE, RowOperation.DIFFERENCE):
        likelihood["percent"] = _log_chance(abs(read.percent))
    conditions, compared = used.conditions, None
    if operation in _PAIRED and len(roles.get(ColumnRole.MEASURE, ())) < 2:
        compared = used.compared()
        if compared is None:
            return None
    return Meaning(
        operation=operation,
        roles=roles,
        conditions=(*conditions, *empty, *above),
        part=used.part,
        compared=compared,
        figure=figure,
        descending=descending,
        percent=percent,
        limit=used.limit or _TOP,
        used=tuple(used.used),
        likelihood=likelihood,
    )


def _columns(
    role: ColumnRole,
    operation: RowOperation,
    read: TableRead,
    view: TableView,
    bounds: tuple[int, int],
    wanted: frozenset[str],
) -> tuple[tuple[ColumnView, ...], float]:
    """Those that more likely have the role than not, as many as there may be, and the logarithm of the probability of this choice."""
    least, most = bounds
    odds = read.roles[:, list(ColumnRole).index(role)]
    fit = [place for place, column in enumerate(view.columns) if _fits(role, operation, column)]
    first = {place for place in fit if role in _TAKES_NAMED and view.columns[place].name in wanted}
    order = sorted(fit, key=lambda place: (place not in first, -odds[place]))
    taken = {place for place in fit if odds[place] > 0} | first
    chosen = {place for rank, place in enumerate(order) if (place in taken and rank < most) or rank < least}
    likely = sum(
        _log_chance(float(odds[place]) if place in chosen else -float(odds[place]))
        for place in range(len(view.columns))
        if np.isfinite(odds[place])
    )
    return tuple(view.columns[place] for place in sorted(chosen)), likely


def _fits(role: ColumnRole, operation: RowOperation, column: ColumnView) -> bool:
    """Whether a column can be measured in the way that the operation does."""
    if role is not ColumnRole.MEASURE or operation in (RowOperation.DISTINCT, RowOperation.COMPARE):
        return True
    if operation in _RANKED:
        return column.kind != "text"
    return column.kind == "number"


def _empty(read: TableRead, view: TableView) -> tuple[tuple[RowCondition, ...], float]:
    """That there is nothing in columns, or something: of numbers, that they are 0 or above it."""
    found: list[RowCondition] = []
    likely = 0.0
    for place, column in enumerate(view.columns):
        for role, missing, of_numbers in _NOTHING:
            odds = float(read.roles[place, list(ColumnRole).index(role)])
            if not np.isfinite(odds) or not (column.empty or column.zero):
                continue
            if odds > 0 and column.zero:
                found.append(RowCondition(column.ref, of_numbers, 0))
            elif odds > 0:
                found.append(RowCondition(ColumnRef(column.name), missing))
            likely += _log_chance(abs(odds))
    return tuple(found), likely


def _above(read: TableRead, view: TableView) -> tuple[tuple[RowCondition, ...], float]:
    """That one column is above another."""
    more, less = (read.roles[:, list(ColumnRole).index(role)] for role in (ColumnRole.MORE, ColumnRole.LESS))
    shown = np.isfinite(more)
    likely = float(sum(_log_chance(abs(float(odds))) for odds in (*more[shown], *less[shown])))
    first, second = int(np.argmax(more)), int(np.argmax(less))
    if min(more[first], less[second]) <= 0 or first == second:
        return (), likely
    return (RowCondition(ColumnRef(view.columns[first].name), Comparator.GT, than=view.columns[second].name),), likely


class _Conditions:
    """What the values and numbers of the question are for. values, numbers: logarithms of how likely that is."""

    def __init__(
        self,
        read: TableRead,
        view: TableView,
        told: Sequence[Mention],
        required: frozenset[Mention],
        values: frozenset[tuple[ColumnView, str]],
        operation: RowOperation,
    ) -> None:
        self._is: dict[ColumnView, list[str]] = {}
        self._is_not: dict[ColumnView, list[str]] = {}
        self._part: dict[ColumnView, list[str]] = {}
        self._compared: dict[ColumnView, list[tuple[RowCondition, ...]]] = {}
        self._bounds: list[RowCondition] = []
        self.limit = 0
        self.used: list[Mention] = []
        self.values = self.numbers = 0.0
        for column, uses in zip(view.columns, read.values, strict=True):
            self._take_values(column, uses, {value for of, value in values if of == column})
        for number, mention in enumerate(told):
            self._take_number(read, view, number, mention, must=mention in required)
        if operation is RowOperation.SHARE and not self._part:
            self._part, self._is = self._is, {}

    def _take_values(self, column: ColumnView, uses: Likelihoods, required: set[str]) -> None:
        taken = {ValueUse.IS: self._is, ValueUse.IS_NOT: self._is_not, ValueUse.PART: self._part}
        for value, found in zip(column.values, uses, strict=True):
            likely = _without_first(found) if value in required else found
            place = int(np.argmax(likely))
            self.values += float(likely[place])
            if _USES[place] is not ValueUse.NONE:
                taken[_USES[place]].setdefault(column, []).append(value)

    def _take_number(self, read: TableRead, view: TableView, number: int, mention: Mention, *, must: bool) -> None:
        likely = _without_first(read.numbers[number]) if must else read.numbers[number]
        for place in np.argsort(-likely):
            use = _NUMBER_USES[place]
            if use is NumberUse.NONE:
                self.numbers += float(likely[place])
                return
            if use is NumberUse.LIMIT:
                if mention.number is None or not 0 < mention.number <= 100:
                    continue
                self.limit = int(mention.number)
                self.used.append(mention)
                self.numbers += float(likely[place])
                return
            for column_place in np.argsort(-read.belongs[number]):
                column = view.columns[column_place]
                found = conditions_of(mention, column, Comparator(use))
                if not found or not np.isfinite(read.belongs[number, column_place]):
                    continue
                self.numbers += float(likely[place]) + float(read.belongs[number, column_place])
                self.used.append(mention)
                if use is NumberUse.EQ:
                    self._compared.setdefault(column, []).append(found)
                else:
                    self._bounds += found
                return

    @property
    def conditions(self) -> tuple[RowCondition, ...]:
        """All that rows must meet, but for a share's part."""
        found = [*_with(self._is, Comparator.EQ, Comparator.IN), *_with(self._is_not, Comparator.NE, Comparator.NOT_IN)]
        for same in self._compared.values():
            if len(same) == 1:
                found += same[0]
            elif all(len(one) == 1 for one in same) and len({one[0].ref for one in same}) == 1:
                found.append(one_of(same[0][0].ref, [value for one in same for value in one[0].values]))
            else:
                found += itertools.chain.from_iterable(same[:1])
        return (*found, *self._bounds)

    @property
    def part(self) -> tuple[RowCondition, ...]:
        """The rows whose share is asked for."""
        return tuple(_with(self._part, Comparator.EQ, Comparator.IN))

    def compared(self) -> tuple[ColumnView, tuple[str, ...]] | None:
        """The one column of which the question names two values or numbers; None where there is none, or several."""
        texts = [(column, tuple(sorted(v, key=column.values.index))) for column, v in self._is.items() if len(v) == 2]
        numbers = [
            (column, tuple(str(one[0].value) for one in same))
            for column, same in self._compared.items()
            if len(same) == 2 and all(len(one) == 1 for one in same)
        ]
        found = [*texts, *numbers]
        return found[0] if len(found) == 1 else None


def _with(values: dict[ColumnView, list[str]], one: Comparator, several: Comparator) -> Iterator[RowCondition]:
    for column, named in values.items():
        yield (
            RowCondition(column.ref, one, named[0])
            if len(named) == 1
            else RowCondition(column.ref, several, tuple(named))
        )


def _without_first(likely: Likelihoods) -> Likelihoods:
    """The logarithms of the probabilities given that it is not the first, which stands for no use."""
    rest = np.where(np.arange(len(likely)) == 0, -np.inf, likely)
    return np.asarray(rest - np.logaddexp.reduce(rest[1:]), np.float32)


def _log_chance(odds: float) -> float:
    """The logarithm of a probability whose log-odds these are."""
    return float(-np.logaddexp(0.0, -odds))
