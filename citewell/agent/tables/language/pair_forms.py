"""Questions about two things that are named: which is ahead, how far they are apart, which has more rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from citewell.agent.tables.language.cells import GridColumn
from citewell.agent.tables.language.evidence import ValueLink
from citewell.agent.tables.language.interpretation import LESS, MORE, Interpretation, Measure, ReadingForm
from citewell.agent.tables.language.shape import Plan, Shape
from citewell.agent.tables.query.typed import (
    MAX_ROWS,
    Aggregate,
    ColumnRef,
    Comparator,
    Function,
    RowCondition,
    TableQuery,
)
from citewell.agent.tables.run.engine import table_key
from citewell.types import ROW_COLUMN

_APART = (
    "difference",
    "how many more",
    "how many less",
    "how many fewer",
    "how much more",
    "between",
    "than",
    "how many years",
    "apart",
)
_EARLY = frozenset(("first", "earlier", "before", "earliest", "sooner"))
_OLD = frozenset(("older", "oldest"))
_AGES = _OLD | {"younger", "youngest"}
_BETTER = frozenset(("better", "best", "worse", "worst", "faster", "fastest", "slower", "slowest"))
_LATE = frozenset(("later", "last", "after", "latest", "recent"))


class PairForm(ReadingForm):
    """Readings about two named rows, or the rows of two named values."""

    def all(self) -> Iterator[Interpretation]:
        """Every reading of this form."""
        found = [link for link in self.selection.links if not link.compares]
        if len(found) != 2 or len(self.selection.links) != 2 or found[0].column is not found[1].column:
            return
        if not found[0].rows & found[1].rows:
            yield from self._rows(found[0], found[1])
            yield from self._sizes(found[0], found[1])

    def _rows(self, first: ValueLink, second: ValueLink) -> Iterator[Interpretation]:
        if len(first.rows) != 1 or len(second.rows) != 1:
            return
        texts = self.evidence.texts
        joined = (
            "or"
            if "or" in texts[first.last : second.first]
            else "and"
            if "and" in texts[first.last : second.first]
            else "apart"
        )
        comparing = [i for i, text in enumerate(texts) if text in MORE | LESS | _LATE and i not in self.selection.used]
        apart = self.evidence.find_any(_APART)
        for measure in self.measures(comparing[0] if comparing else first.first):
            (a,), (b,) = first.rows, second.rows
            x, y = measure.column.measures[a], measure.column.measures[b]
            if x is None or y is None or measure.column.is_timed:
                continue
            if comparing:
                yield from self._ahead(measure, (first, second), comparing[0], joined)
            if apart is not None and (measure.column.is_year or not measure.column.is_dated):
                used = (
                    measure.words
                    | frozenset(range(*apart))
                    | self.spare("many", "years", "more", "less", "than", "difference", "between")
                )
                said = " ".join(texts[slice(*apart)])
                steps = [*measure.steps, f"apart: {said}", f"apart by {measure.column.sort}", f"apart, {joined}"]
                make = partial(self._plan, measure.column, first, second, descending=True)
                yield self.figure("difference", make, abs(x - y), used, steps, measure.column)

    def _ahead(
        self, measure: Measure, links: tuple[ValueLink, ValueLink], index: int, joined: str
    ) -> Iterator[Interpretation]:
        """Which of the two is; the lower and the higher value where the word says only that it is better."""
        said, column = self.evidence.texts[index], measure.column
        usual = (said in LESS) != column.is_rank
        if column.is_dated:
            usual = said in LESS or said in _EARLY
        if said in _AGES and column.is_dated:
            usual = said in _OLD
        for least in (True, False) if said in _BETTER else (usual,):
            yield self._named_ahead(measure, links, index, joined, least=least)

    def _named_ahead(
        self, measure: Measure, links: tuple[ValueLink, ValueLink], index: int, joined: str, *, least: bool
    ) -> Interpretation:
        said, column = self.evidence.texts[index], measure.column
        pairs = [(column.measures[row] or 0.0, row) for link in links for row in link.rows]
        _, row = (min if least else max)(pairs, key=lambda pair: pair[0])
        steps = [
            *measure.steps,
            f"ahead: {said}, {column.sort}, {'lower' if least else 'higher'}",
            f"ahead, {joined}",
            "tie" if pairs[0][0] == pairs[1][0] else "",
        ]
        make = partial(self._plan, column, *links, descending=not least)
        used = measure.words | {index} | self.spare("or", "than", "had", "either")
        answer = (links[0].column.comparable[row],)
        return self.meaning("ahead", make, answer, used, steps, column=column, least=least)

    def _plan(self, column: GridColumn, first: ValueLink, second: ValueLink, *, descending: bool) -> Plan:
        subject = first.column
        numbers = tuple(self.grid.numbers[row] for row in sorted(first.rows | second.rows))
        query = TableQuery(
            source=table_key(self.grid.table), columns=tuple(dict.fromkeys((subject.name, column.name))),
            conditions=(RowCondition(ColumnRef(ROW_COLUMN), Comparator.IN, numbers),), limit=MAX_ROWS,
        )  # fmt: skip
        return Plan(
            shape=Shape.COMPARE, table=self.grid.table, query=query, metric=column.info, subject=subject.info,
            expected=2, descending=descending, unit="years" if column.is_year else "",
        )  # fmt: skip

    def _sizes(self, first: ValueLink, second: ValueLink) -> Iterator[Interpretation]:
        """Which of two values has more rows, and how many more."""
        column = first.column
        values = {column.texts[row] for row in first.rows | second.rows}
        comparing = [
            i for i, text in enumerate(self.evidence.texts) if text in MORE | LESS and i not in self.selection.used
        ]
        if len(values) != 2 or len(first.rows) + len(second.rows) < 3 or not comparing:
            return
        said = self.evidence.texts[comparing[0]]
        a, b = len(first.rows), len(second.rows)
        more = first if (a > b) == (said in MORE) else second
        used = frozenset(comparing) | self.spare("than", "or", "times", "number")
        name = column.comparable[min(more.rows)]
        make = partial(self._sizes_plan, column, (first, second))
        steps = [f"more rows: {said}", "tie" if a == b else ""]
        yield self.meaning("more rows", make, (name,), used, steps, column=column)
        yield self.figure(
            "difference of rows", make, float(abs(a - b)), used | self.spare("how", "many", "much"), steps, column
        )

    def _sizes_plan(self, column: GridColumn, links: tuple[ValueLink, ValueLink]) -> Plan:
        cells = tuple(dict.fromkeys(column.texts[row] for link in links for row in sorted(link.rows)))
        ref = ColumnRef(column.name)
        query = TableQuery(
            source=table_key(self.grid.table), conditions=(RowCondition(ref, Comparator.IN, cells),),
            groups=(ref,), aggregates=(Aggregate(Function.COUNT),), limit=MAX_ROWS,
        )  # fmt: skip
        return Plan(
            shape=Shape.COMPARE,
            table=self.grid.table,
            query=query,
            subject=column.info,
            function=Function.COUNT,
            expected=2,
        )
