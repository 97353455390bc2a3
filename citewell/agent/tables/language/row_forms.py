"""Questions that are answered by rows: those named, the first or last, the one beside, those alike, those beyond, the highest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from citewell.agent.tables.language.cells import GridColumn
from citewell.agent.tables.language.evidence import ValueLink
from citewell.agent.tables.language.interpretation import (
    AFTER,
    BEFORE,
    COUNTS,
    EITHER,
    FIRST,
    LAST,
    LESS,
    LOW,
    MORE,
    PLACE,
    FoundRows,
    Interpretation,
    Measure,
    ReadingForm,
)
from citewell.agent.tables.language.sentences import title
from citewell.agent.tables.language.shape import Plan, Shape
from citewell.agent.tables.language.wording import PLACES, is_superlative
from citewell.agent.tables.query.typed import (
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
from citewell.types import ROW_COLUMN

_RANKING = frozenset(("most", "least", "top", "maximum", "minimum", "max", "min", "bottom", "only"))
_ORDINALS = {"second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "5th": 5}


class RowForm(ReadingForm):
    """Readings whose answer is rows of the table."""

    def all(self) -> Iterator[Interpretation]:
        """Every reading of this form."""
        for make in (self.rows, self.edges, self.neighbours, self.likes, self.exceeding, self.extremes):
            yield from make()

    def rows(self) -> Iterator[Interpretation]:
        """The rows that the question names."""
        if not self.selection.links or len(self.selection.rows) > THRESHOLDS.cited_rows:
            return
        found = FoundRows(rows=self.selection.rows, conditions=self.selection.conditions)
        yield from self.found("rows", found, frozenset(), ())

    def edges(self) -> Iterator[Interpretation]:
        """The first or last of the rows, in the order of the table or of time."""
        for words, at_end in ((FIRST, False), (LAST, True)):
            place = self.evidence.find_any(words)
            if place is None or self.selection.used & {*range(*place)}:
                continue
            said = " ".join(self.evidence.texts[slice(*place)])
            yield from self._edge(frozenset(range(*place)), said, at_end=at_end)

    def _edge(self, words: frozenset[int], said: str, *, at_end: bool) -> Iterator[Interpretation]:
        listed = self.spare(*PLACE)
        form = "last" if at_end else "first"
        time = self.grid.time
        by_day = self.grid.by_day is not None and not listed and PLACES.isdisjoint(self.evidence.norms)
        for column in (time,) if by_day else (None, time) if time is not None else (None,):
            steps = [f"{form}: {said}", *(["listed"] if listed else [])]
            if column is None:
                row = (max if at_end else min)(self.selection.rows)
                found = FoundRows(
                    rows=frozenset({row}), conditions=self.selection.conditions, order=(Order(ROW_COLUMN, at_end),), best=1,
                    lead="of the last row" if at_end else "of the first row",
                )  # fmt: skip
                steps.append(
                    "by row" if time is None else f"by row, times {('fall', 'mix', 'rise')[time.direction + 1]}"
                )
            else:
                measured = [
                    (v, -i if at_end else i) for i in self.selection.rows if (v := column.measures[i]) is not None
                ]
                if not measured:
                    continue
                _, row = (max if at_end else min)(measured)
                filled = RowCondition(ColumnRef(column.name), Comparator.NOT_EMPTY)
                found = FoundRows(
                    rows=frozenset({abs(row)}), conditions=(*self.selection.conditions, filled),
                    order=(Order(column.name, at_end, column.ref.part), Order(ROW_COLUMN)), best=1,
                    lead=f"of the {'last' if at_end else 'first'} row by {title(column.name)}",
                )  # fmt: skip
                steps.append("by time")
            used = words | listed | self.spare("year", "date", "time")
            yield from self.found(form, found, used, steps)

    def neighbours(self) -> Iterator[Interpretation]:
        """The row after or before a named one."""
        anchors = [link for link in self.selection.links if not link.compares and len(link.rows) == 1]
        for words, step in ((AFTER, 1), (BEFORE, -1)):
            place = self.evidence.find_any(words)
            if place is None or self.selection.used & {*range(*place)}:
                continue
            said = " ".join(self.evidence.texts[slice(*place)])
            for anchor in anchors:
                yield from self._beside(anchor, frozenset(range(*place)), said, step)

    def _beside(self, anchor: ValueLink, words: frozenset[int], said: str, step: int) -> Iterator[Interpretation]:
        (row,) = anchor.rows
        others = [link for link in self.selection.links if link is not anchor]
        rest = self.grid.rows
        for link in others:
            rest &= link.rows
        used = words | self.spare(
            "comes", "came", "directly", "immediately", "right", "listed", "rank", "order", "come", "next", "place", "just", "one"
        )  # fmt: skip
        time = self.grid.time
        form = "after" if step > 0 else "before"
        for way in (1, -1):
            if way < 0 and (time is None or time.direction >= 0):
                continue
            along = sorted((i for i in rest if (i - row) * step * way > 0), key=lambda i: abs(i - row))
            if not along:
                continue
            found = FoundRows(
                rows=frozenset({along[0]}), conditions=(RowCondition(ColumnRef(ROW_COLUMN), Comparator.EQ, self.grid.numbers[along[0]]),),
                lead=f"{form} {anchor.column.texts[row]}", beside=True,
            )  # fmt: skip
            falling = (
                "against the rows" if way < 0 else "" if time is None else ("times fall" if time.direction < 0 else "")
            )
            anchored = "anchor is whole" if anchor.share == 1 else "anchor in part"
            steps = [f"{form}: {said}", "beside some" if others else "", falling, anchored]
            yield from self.found(form, found, used, steps)

    def likes(self) -> Iterator[Interpretation]:
        """Rows with the same value as a named one."""
        place = self.evidence.find_any(("same", "also", "as many", "as much", "equal", "other"))
        anchors = [link for link in self.selection.links if not link.compares and len(link.rows) == 1]
        if place is None or len(self.selection.links) != 1 or not anchors or self.selection.used & {*range(*place)}:
            return
        (row,) = anchors[0].rows
        said = self.evidence.texts[place[0]]
        for link in self.columns:
            column = link.column
            if column.name == anchors[0].column.name or column.cells[row] is None:
                continue
            same = frozenset(i for i in self.grid.rows if column.cells[i] == column.cells[row] and i != row)
            cell = column.texts[row] if column.info.kind in ("text", "date") else column.cells[row]
            if not same or not isinstance(cell, str | int | float):
                continue
            conditions = (
                RowCondition(ColumnRef(column.name), Comparator.EQ, cell),
                RowCondition(ColumnRef(ROW_COLUMN), Comparator.NE, self.grid.numbers[row]),
            )
            near = "near" if 0 <= link.first - place[1] <= 1 else "far"
            steps = [f"{said}: {near}", *self.rivals(link)]
            used = link.words | frozenset(range(*place))
            count = self.evidence.find_any(COUNTS)
            if count is not None:
                noun, _ = self.noun_after(count[1])
                told = used | noun | frozenset(range(*count))
                counted = self.figure("same count", partial(self._counted, conditions), float(len(same)), told, steps)
                yield replace(counted, compared=conditions[0])
            if len(same) <= THRESHOLDS.cited_rows:
                found = FoundRows(
                    rows=same, conditions=conditions, metric=column,
                    lead=f"the same {title(column.name)} as {anchors[0].column.texts[row]}", beside=True,
                )  # fmt: skip
                yield from self.found("same", found, used, steps)

    def _counted(self, conditions: tuple[RowCondition, ...]) -> Plan:
        query = TableQuery(
            source=table_key(self.grid.table), conditions=(*conditions, *self.without_all_totals()),
            aggregates=(Aggregate(Function.COUNT),), limit=1,
        )  # fmt: skip
        return Plan(shape=Shape.COUNT, table=self.grid.table, query=query, function=Function.COUNT)

    def exceeding(self) -> Iterator[Interpretation]:
        """Rows above or below a named one in a column."""
        links = self.selection.links
        if len(links) != 1 or len(self.selection.rows) != 1 or links[0].compares:
            return
        before = range(links[0].first)
        comparing = [i for i in before if self.evidence.texts[i] in MORE | LESS and i not in self.selection.used]
        if not comparing:
            return
        for measure in self.measures(comparing[-1]):
            yield from self._exceeding(links[0], measure, comparing[-1])

    def _exceeding(self, anchor: ValueLink, measure: Measure, index: int) -> Iterator[Interpretation]:
        column, (row,) = measure.column, self.selection.rows
        value = column.measures[row]
        if value is None or column.is_timed or (column.is_dated and not column.is_year):
            return
        said = self.evidence.texts[index]
        more = (said in MORE) != column.is_rank
        rows = frozenset(
            i for i in self.grid.rows if (v := column.measures[i]) is not None and (v > value if more else v < value)
        )
        condition = RowCondition(column.ref, Comparator.GT if more else Comparator.LT, value)
        steps = [*measure.steps, f"beyond: {said}", f"beyond: {column.sort}"]
        used = measure.words | {index} | self.spare("than", "number")
        count = self.evidence.find_any(COUNTS)
        if count is not None:
            noun, _ = self.noun_after(count[1])
            told = used | noun | frozenset(range(*count))
            counted = self.figure("beyond count", partial(self._counted, (condition,)), float(len(rows)), told, steps)
            yield replace(counted, compared=condition)
        if rows and len(rows) <= THRESHOLDS.cited_rows:
            found = FoundRows(
                rows=rows, conditions=(condition, *self.without_all_totals()), metric=column,
                lead=f"{'more' if more else 'less'} {title(column.name)} than {anchor.column.texts[row]}", beside=True,
            )  # fmt: skip
            yield from self.found("beyond", found, used, steps)

    def without_all_totals(self) -> tuple[RowCondition, ...]:
        """The condition that leaves out total rows, whatever is selected."""
        numbers = tuple(self.grid.numbers[i] for i in sorted(self.grid.totals))
        return (RowCondition(ColumnRef(ROW_COLUMN), Comparator.NOT_IN, numbers),) if numbers else ()

    def extremes(self) -> Iterator[Interpretation]:
        """The rows with the highest or lowest value of a column, or with the second highest."""
        for index, text in enumerate(self.evidence.texts):
            if index in self.selection.used or not (is_superlative(text) or text in _RANKING):
                continue
            before = self.evidence.texts[index - 1] if index else ""
            nth = _ORDINALS.get(before, 1) if index - 1 not in self.selection.used else 1
            for measure in self.measures(index):
                usual = (text not in LOW) != measure.column.is_rank
                if text in ("oldest", "youngest"):
                    usual = (text == "oldest") != measure.column.is_dated
                for descending in (True, False) if text in EITHER else (usual,):
                    yield from self._extreme(measure, index, nth, descending=descending)

    def _extreme(self, measure: Measure, index: int, nth: int, *, descending: bool) -> Iterator[Interpretation]:
        column = measure.column
        values = sorted({v for i in self.selection.rows if (v := column.measures[i]) is not None}, reverse=descending)
        if len(values) < nth:
            return
        rows = frozenset(i for i in self.selection.rows if column.measures[i] == values[nth - 1])
        if len(rows) > THRESHOLDS.cited_rows:
            return
        text = self.evidence.texts[index]
        form = "highest" if descending else "lowest"
        steps = [*measure.steps, f"{text}: {column.sort}, {form}", *(f"{text}: {stem}" for stem in column.stems)]
        steps += ["ranks one"] if len(values) == 1 else []
        steps += ["tie"] if len(rows) > 1 else []
        used = measure.words | {index} | self.spare("number", "amount", "total")
        conditions = (*self.selection.conditions, RowCondition(ColumnRef(column.name), Comparator.NOT_EMPTY))
        order, best = (Order(column.name, descending, column.ref.part),), len(rows)
        if nth > 1:
            steps, used = [*steps, "nth"], used | {index - 1}
        if nth > 1 or column.is_timed:
            exact = tuple(self.grid.numbers[i] for i in sorted(rows))
            conditions, order, best = (RowCondition(ColumnRef(ROW_COLUMN), Comparator.IN, exact),), (), 0
        found = FoundRows(
            rows=rows, conditions=conditions, metric=column, order=order, best=best,
            lead=f"{_NTH[nth]}{_ends(column)[not descending]}",
        )  # fmt: skip
        yield from self.found(form, found, used, steps)


def _ends(column: GridColumn) -> tuple[str, str]:
    return ("latest", "earliest") if column.is_dated else ("highest", "lowest")


_NTH = {1: "", 2: "second ", 3: "third ", 4: "fourth ", 5: "fifth "}
