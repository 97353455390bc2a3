"""Questions that are answered by figures: counts, sums and averages, extremes, and two rows side by side."""

from __future__ import annotations

from collections.abc import Iterator

from citewell.agent.tables.language.interpretation import (
    AVERAGES,
    COUNTS,
    LESS,
    LOW,
    MORE,
    TOTALS,
    Interpretation,
    ReadingForm,
    is_rank,
)
from citewell.agent.tables.language.plan import Plan, Shape
from citewell.agent.tables.language.wording import is_superlative
from citewell.agent.tables.query.compile import ROW
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


class FigureForm(ReadingForm):
    """Readings whose answer is computed over the rows."""

    def all(self) -> Iterator[Interpretation]:
        """Every reading of this form."""
        for make in (self.counts, self.figures, self.extremes, self.pairs):
            yield from make()

    def counts(self) -> Iterator[Interpretation]:
        """How many rows, or different values of the column that is counted."""
        place = self.evidence.find_any(COUNTS)
        if place is None or any(
            link.share == 1 and link.first < place[1] and link.last > place[0] for link in self.columns
        ):
            return
        used = frozenset(range(*place)) | self.spare(
            "total", "different", "times", "overall", "listed", "there", "all", "only", "list", "table", "chart"
        )
        noun, link = self.noun_after(place[1])
        steps = ["count"]
        if link is not None and link.column.is_numeric and not link.column.is_year:
            steps.append("counts numbers")
        if link is None and noun:
            steps.append("noun")
        if not self.selection.links:
            steps.append("all rows")
        if len(self.selection.rows) == 1:
            steps.append("counts one")
        used |= noun | (link.words if link is not None else frozenset())
        query = self.query(Aggregate(Function.COUNT))
        plan = Plan(shape=Shape.COUNT, table=self.grid.table, query=query, function=Function.COUNT)
        yield self.meaning(plan, ("number", float(len(self.selection.rows))), used, steps)
        if link is not None and link.column.info.kind == "text":
            cells = {link.column.cells[i] for i in self.selection.rows} - {None}
            query = self.query(Aggregate(Function.COUNT_DISTINCT, link.column.name))
            plan = Plan(
                shape=Shape.FIGURE,
                table=self.grid.table,
                query=query,
                metric=link.column.info,
                function=Function.COUNT_DISTINCT,
            )
            told = bool(self.spare("different", "unique", "distinct"))
            yield self.meaning(
                plan, ("number", float(len(cells))), used, [*steps, "distinct told" if told else "distinct"]
            )

    def figures(self) -> Iterator[Interpretation]:
        """A sum or an average of a column, or its one value."""
        count = self.evidence.find_any(COUNTS)
        for link in self.columns:
            if not link.column.is_numeric or link.column.is_year:
                continue
            values = [v for i in self.selection.rows if (v := link.column.measures[i]) is not None]
            if not values:
                continue
            for function, words in ((Function.SUM, TOTALS), (Function.AVG, AVERAGES)):
                place = self.evidence.find_any(words)
                implied = (
                    place is None
                    and function is Function.SUM
                    and count is not None
                    and count[1] <= link.first <= count[1] + 2
                )
                if (place is None and not implied) or len(values) < 2:
                    continue
                used = (
                    link.words
                    | (frozenset(range(*place)) if place else frozenset())
                    | (frozenset(range(*count)) if count else frozenset())
                )
                figure = sum(values) / (len(values) if function is Function.AVG else 1)
                ref = link.column.ref
                query = self.query(Aggregate(function, ref.column, ref.part), filled=(ref.column,))
                plan = Plan(
                    shape=Shape.FIGURE, table=self.grid.table, query=query, metric=link.column.info, function=function
                )
                steps = [
                    function.value,
                    *self.named(link),
                    *(["implied"] if implied else []),
                    *([] if self.selection.links else ["all rows"]),
                ]
                yield self.meaning(plan, ("number", round(figure, 6)), used, steps)

    def extremes(self) -> Iterator[Interpretation]:
        """The rows with the highest or lowest value of a column."""
        for index, text in enumerate(self.evidence.texts):
            if index in self.selection.used or not (
                is_superlative(text) or text in ("most", "least", "top", "maximum", "minimum")
            ):
                continue
            if text in ("latest", "earliest") or (
                text == "most" and self.evidence.texts[index + 1 : index + 2] == ("recent",)
            ):
                continue
            for column, words, steps in self.measures(index):
                descending = (text not in LOW) != is_rank(column)
                if text in ("oldest", "youngest"):
                    descending = (text == "oldest") != column.is_dated
                if text == "fastest" and is_rank(column):
                    descending = False
                filled = [i for i in self.selection.rows if column.measures[i] is not None]
                if not filled:
                    continue
                if len(filled) == 1:
                    steps = (*steps, "ranks one")
                best = (max if descending else min)(column.measures[i] or 0.0 for i in filled)
                rows = frozenset(i for i in filled if column.measures[i] == best)
                asked, used, more = self.asked(apart=column)
                ref = column.ref
                conditions = (*self.selection.conditions, RowCondition(ColumnRef(column.name), Comparator.NOT_EMPTY))
                steps = (*steps, *more, "extreme", *(["tie"] if len(rows) > 1 else []))
                yield self.found(
                    rows, used | words | {index} | self.spare("number", "amount", "total"), steps, asked, conditions, metric=column,
                    order=(Order(ref.column, descending, ref.part),), best=len(rows),
                    lead=f"{'Highest' if descending else 'Lowest'} {column.name}",
                )  # fmt: skip
            if text in ("most", "least", "fewest"):
                yield from self._most_rows(index, descending=text == "most")

    def _most_rows(self, index: int, *, descending: bool) -> Iterator[Interpretation]:
        """`Which country has the most winners`: the value that most rows have."""
        asked, used, steps = self.asked()
        if asked is None or asked.part is not None:
            return
        counts: dict[str, int] = {}
        for i in self.selection.rows:
            if asked.texts[i]:
                counts[asked.texts[i]] = counts.get(asked.texts[i], 0) + 1
        if len(counts) < 2 or max(counts.values()) == 1:
            return
        best = (max if descending else min)(counts.values())
        names = frozenset(name for name, count in counts.items() if count == best)
        noun, link = self.noun_after(index + 1)
        more = [] if link is not None else ["noun"]
        if link is not None and link.column.is_numeric:
            return
        query = self.query(
            Aggregate(Function.COUNT), groups=(ColumnRef(asked.name),),
            order=(Order("count", descending),), limit=1 + THRESHOLDS.spare_rows,
        )  # fmt: skip
        plan = Plan(
            shape=Shape.EXTREME,
            table=self.grid.table,
            query=query,
            subject=asked.info,
            function=Function.COUNT,
            descending=descending,
        )
        words = used | noun | {index} | (link.words if link else frozenset())
        tie = ["tie"] if len(names) > 1 else []
        yield self.meaning(plan, ("names", names), words, [*steps, *more, *tie, "most rows"])

    def pairs(self) -> Iterator[Interpretation]:
        """Two named rows, by a column that both have."""
        found = [link for link in self.selection.links if not link.compares and len(link.rows) == 1]
        if len(found) != 2 or len(self.selection.links) != 2 or found[0].rows == found[1].rows:
            return
        (a,), (b,) = found[0].rows, found[1].rows
        joins = "or" in self.evidence.texts[found[0].last : found[1].first]
        comparing = frozenset(
            i for i, text in enumerate(self.evidence.texts) if text in MORE | LESS and i not in self.selection.used
        )
        apart = self.evidence.find_any(
            (
                "difference",
                "difference between",
                "how many more",
                "how many less",
                "how many fewer",
                "how much more",
                "between",
                "than",
            )
        )
        if not (joins and comparing) and apart is None:
            return
        for column, words, steps in self.measures(min(comparing, default=found[0].first)):
            x, y = column.measures[a], column.measures[b]
            if x is None or y is None or found[0].column.name != found[1].column.name:
                continue
            if not joins and column.is_dated and not column.is_year:
                continue
            subject = found[0].column
            query = TableQuery(
                source=table_key(self.grid.table), columns=(subject.name, column.name),
                conditions=(RowCondition(ColumnRef(ROW), Comparator.IN, (self.grid.numbers[a], self.grid.numbers[b])),), limit=MAX_ROWS,
            )  # fmt: skip
            least = any(self.evidence.texts[i] in LESS for i in comparing) != is_rank(column)
            plan = Plan(
                shape=Shape.COMPARE, table=self.grid.table, query=query, metric=column.info, subject=subject.info,
                unique=(), expected=2, descending=not least,
            )  # fmt: skip
            used = words | comparing | (frozenset(range(*apart)) if apart and not joins else frozenset())
            _, more, _ = self.asked(apart=column)
            used |= more | self.spare("many", "years", "difference", "apart", "long")
            answer = (
                ("higher", min((x, a), (y, b)) if least else max((x, a), (y, b)))
                if joins
                else ("difference", abs(x - y))
            )
            yield self.meaning(
                plan, answer, used, [*steps, "pair" if joins else "difference", *(["tie"] if x == y else [])]
            )
