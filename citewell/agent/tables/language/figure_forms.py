"""Questions that are answered by figures: counts, sums and averages, spans, and the value that most rows have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from citewell.agent.tables.language.cells import GridColumn
from citewell.agent.tables.language.interpretation import (
    AVERAGES,
    COUNTS,
    RUNS,
    TOTALS,
    Interpretation,
    Measure,
    ReadingForm,
    named_by,
)
from citewell.agent.tables.language.shape import Plan, Shape
from citewell.agent.tables.query.typed import Aggregate, ColumnRef, Comparator, Function, Order, RowCondition
from citewell.agent.tables.thresholds import THRESHOLDS
from citewell.types import ROW_COLUMN

_COUNTED = (
    "total",
    "different",
    "times",
    "overall",
    "listed",
    "there",
    "all",
    "only",
    "list",
    "table",
    "chart",
    "many",
)
_OFTEN = ("most", "least", "fewest", "more", "often", "frequent", "common", "majority")
_SPANS = ("how long", "difference", "span", "between", "how many years", "how many more", "range", "gap")


class FigureForm(ReadingForm):
    """Readings whose answer is computed over the rows."""

    def all(self) -> Iterator[Interpretation]:
        """Every reading of this form."""
        for make in (self.counts, self.figures, self.spans, self.most_rows, self.runs):
            yield from make()

    def counts(self) -> Iterator[Interpretation]:
        """How many rows, or different values of the column that is counted."""
        place = self.evidence.find_any(COUNTS)
        if place is None:
            return
        used = frozenset(range(*place)) | self.spare(*_COUNTED)
        noun, link = self.noun_after(place[1])
        steps = [f"count: {self.evidence.texts[place[0]]}"]
        named = link is not None and link.share >= 0.5
        if link is None:
            steps.append("count of a noun" if noun else "count of nothing")
        else:
            steps.append(f"count of {link.column.sort}, {named_by(link)}")
        if any(link.share == 1 and link.first < place[1] and link.last > place[0] for link in self.columns):
            steps.append("a column is named so")
        size = len(self.selection.rows)
        steps.append(
            "counts none" if not size else "counts one" if size == 1 else "counts two" if size == 2 else "counts some"
        )
        words = used | noun | (link.words if link is not None else frozenset[int]())
        yield self.figure("count", partial(self._count_plan, None), float(size), words, steps)
        for column in {link.column.name: link.column for link in self.columns}.values():
            if column.sort in ("name", "year", "date") and any(
                o.first >= place[1] for o in self.columns if o.column is column
            ):
                cells = {column.cells[i] for i in self.selection.rows} - {None}
                own = next(o for o in self.columns if o.column is column and o.first >= place[1])
                counted = "counted" if link is not None and link.column is column else "named elsewhere"
                more = [
                    f"distinct {column.sort}, {named_by(own)}, {counted}",
                    "as many as rows" if len(cells) == size else "",
                ]
                more += ["distinct is whole"] if named else []
                yield self.figure(
                    "distinct", partial(self._count_plan, column), float(len(cells)), used | noun | own.words, more, column
                )  # fmt: skip

    def _count_plan(self, column: GridColumn | None) -> Plan:
        if column is None:
            query = self.query(Aggregate(Function.COUNT))
            return Plan(shape=Shape.COUNT, table=self.grid.table, query=query, function=Function.COUNT)
        query = self.query(Aggregate(Function.COUNT_DISTINCT, column.name))
        return Plan(
            shape=Shape.FIGURE, table=self.grid.table, query=query, metric=column.info, function=Function.COUNT_DISTINCT
        )

    def figures(self) -> Iterator[Interpretation]:
        """A sum or an average of a column."""
        count = self.evidence.find_any(COUNTS)
        for function, phrases in ((Function.SUM, TOTALS), (Function.AVG, AVERAGES)):
            place = self.evidence.find_any(phrases)
            if place is None and (function is Function.AVG or count is None):
                continue
            start, end = place or count or (0, 0)
            for measure in self.measures(end - 1):
                column = measure.column
                if not column.is_numeric or column.is_year or column.is_rank:
                    continue
                values = [v for i in self.selection.rows if (v := column.measures[i]) is not None]
                if len(values) < 2:
                    continue
                used = (
                    measure.words | frozenset(range(start, end)) | (frozenset(range(*count)) if count else frozenset())
                )
                value = sum(values) / (len(values) if function is Function.AVG else 1)
                said = " ".join(self.evidence.texts[start:end])
                steps = [
                    *measure.steps,
                    f"{function.value}: {said}",
                    "" if self.selection.links else f"{function.value} of all",
                ]
                yield self.figure(
                    function.value, partial(self._figure_plan, function, column), round(value, 9), used | self.spare("many"), steps,
                    column,
                )  # fmt: skip

    def _figure_plan(self, function: Function, column: GridColumn) -> Plan:
        ref = column.ref
        query = self.query(Aggregate(function, ref.column, ref.part), filled=(ref.column,))
        return Plan(shape=Shape.FIGURE, table=self.grid.table, query=query, metric=column.info, function=function)

    def spans(self) -> Iterator[Interpretation]:
        """From the lowest to the highest value of a column."""
        place = self.evidence.find_any(_SPANS)
        if place is None or len(self.selection.rows) < 2:
            return
        said = " ".join(self.evidence.texts[slice(*place)])
        measures = list(self.measures(place[1]))
        time = self.grid.time
        if time is not None and time.is_year and all(m.column is not time for m in measures):
            measures.append(Measure(time, frozenset(), ("years unnamed",)))
        for measure in measures:
            column = measure.column
            if column.is_timed or (column.is_dated and not column.is_year):
                continue
            values = [v for i in self.selection.rows if (v := column.measures[i]) is not None]
            if len(values) < 2 or max(values) == min(values):
                continue
            size = "two rows" if len(self.selection.rows) == 2 else "all" if not self.selection.links else "some"
            steps = [*measure.steps, f"span: {said}", f"span of {column.sort}", f"span of {size}"]
            used = (
                measure.words
                | frozenset(range(*place))
                | self.spare("highest", "lowest", "first", "last", "many", "years", "most", "least")
                | (self.spare("between") if said == "difference" else frozenset())
            )
            make = partial(self._span_plan, column)
            yield self.figure("span", make, max(values) - min(values), used, steps, column)

    def _span_plan(self, column: GridColumn) -> Plan:
        ref = column.ref
        ends = (Aggregate(Function.MIN, ref.column, ref.part), Aggregate(Function.MAX, ref.column, ref.part))
        return Plan(
            shape=Shape.SPAN,
            table=self.grid.table,
            query=self.query(*ends, filled=(ref.column,)),
            metric=column.info,
            unit="years" if column.is_year else "",
        )

    def most_rows(self) -> Iterator[Interpretation]:
        """`Which country has the most winners`: the value that most rows have, and how many."""
        place = self.evidence.find_any(_OFTEN)
        if place is None or self.selection.used & {*range(*place)}:
            return
        said = self.evidence.texts[place[0]]
        descending = said not in ("least", "fewest")
        noun, link = self.noun_after(place[1])
        for asked in self.asked:
            column = asked.column
            counts = Counter(column.texts[i] for i in self.selection.rows if column.texts[i])
            if column.sort == "number" or len(counts) < 2 or max(counts.values()) == 1:
                continue
            best = (max if descending else min)(counts.values())
            names = {name for name, count in counts.items() if count == best}
            if len(names) > THRESHOLDS.cited_rows:
                continue
            told = f"most rows, {link.column.sort if link is not None else 'a noun' if noun else 'nothing'}"
            steps = [f"most rows: {said}", told, "tie" if len(names) > 1 else ""]
            used = asked.words | noun | frozenset(range(*place)) | (link.words if link else frozenset[int]())
            answer = {column.comparable[i] for i in self.selection.rows if column.texts[i] in names}
            make = partial(self._most_plan, column, descending=descending)
            yield self.meaning("most rows", make, answer, used, steps, asked, column=column, least=not descending)

    def runs(self) -> Iterator[Interpretation]:
        """How many of the rows follow each other without a gap, at most."""
        place = self.evidence.find_any(RUNS)
        if place is None or not self.selection.links or self.selection.used & {*range(*place)}:
            return
        longest: list[int] = []
        run: list[int] = []
        for row in sorted(self.grid.rows):
            run = [*run, row] if row in self.selection.rows else []
            longest = run if len(run) > len(longest) else longest
        if not longest:
            return
        count = self.evidence.find_any(COUNTS)
        noun, _ = self.noun_after(max(place[1], count[1] if count else 0))
        used = noun | frozenset(range(*place)) | (frozenset(range(*count)) if count else frozenset[int]())
        steps = [
            f"run: {self.evidence.texts[place[0]]}",
            "run, counted" if count else "run",
            "run of one" if len(longest) == 1 else "",
        ]
        used |= self.spare("most", "longest", "times", "maximum", "streak")
        make = partial(self._run_plan, tuple(self.grid.numbers[row] for row in longest))
        yield self.figure("run", make, float(len(longest)), used, steps)

    def _run_plan(self, rows: tuple[int, ...]) -> Plan:
        query = self.query(Aggregate(Function.COUNT))
        query = replace(query, conditions=(*query.conditions, RowCondition(ColumnRef(ROW_COLUMN), Comparator.IN, rows)))
        return Plan(
            shape=Shape.COUNT, table=self.grid.table, query=query, function=Function.COUNT, lead="one after another"
        )

    def _most_plan(self, column: GridColumn, *, descending: bool) -> Plan:
        query = self.query(
            Aggregate(Function.COUNT), groups=(ColumnRef(column.name),), filled=(column.name,),
            order=(Order("count", descending),), limit=1 + THRESHOLDS.spare_rows,
        )  # fmt: skip
        return Plan(
            shape=Shape.EXTREME, table=self.grid.table, query=query, subject=column.info, function=Function.COUNT,
            descending=descending,
        )  # fmt: skip
