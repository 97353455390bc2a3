"""Questions that are answered by rows: those named, the first or last, the one beside, those alike and those beyond."""

from __future__ import annotations

from collections.abc import Iterator

from citewell.agent.tables.language.evidence import ValueLink
from citewell.agent.tables.language.interpretation import (
    AFTER,
    BEFORE,
    COUNTS,
    FIRST,
    LAST,
    LESS,
    MORE,
    PLACE,
    Interpretation,
    ReadingForm,
    is_rank,
)
from citewell.agent.tables.language.plan import Plan, Shape
from citewell.agent.tables.query.compile import ROW
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


class RowForm(ReadingForm):
    """Readings whose answer is rows of the table."""

    def all(self) -> Iterator[Interpretation]:
        """Every reading of this form."""
        for make in (self.rows, self.edges, self.neighbours, self.likes, self.exceeding):
            yield from make()

    def rows(self) -> Iterator[Interpretation]:
        """The rows that the question names."""
        if not self.selection.links or len(self.selection.rows) > THRESHOLDS.cited_rows:
            return
        asked, used, steps = self.asked()
        steps = (*steps, "rows")
        yield self.found(self.selection.rows, used, steps, asked, self.selection.conditions)

    def edges(self) -> Iterator[Interpretation]:
        """The first or last of the rows, in the order of the table or of time."""
        for words, at_end in ((FIRST, False), (LAST, True)):
            place = self.evidence.find_any(words)
            if place is None or self.selection.used & {*range(*place)} or not self.selection.rows:
                continue
            yield from self._edge(frozenset(range(*place)), at_end=at_end)

    def _edge(self, words: frozenset[int], *, at_end: bool) -> Iterator[Interpretation]:
        listed = self.spare(*PLACE)
        asked, used, steps = self.asked()
        base = (*steps, "edge", *([] if self.selection.links else ["all rows"]))
        for column in (None,) if listed else (None, self.grid.time):
            if column is None:
                row = (max if at_end else min)(self.selection.rows)
                if self.grid.time is not None and self.grid.time.direction < 0 and not listed:
                    continue
                order, conditions, by = (Order(ROW, at_end),), self.selection.conditions, "" if listed else "by row"
            else:
                measured = [(v, i) for i in sorted(self.selection.rows) if (v := column.measures[i]) is not None]
                if not measured:
                    continue
                _, row = (max if at_end else min)(measured)
                order, by = (Order(column.name, at_end, column.ref.part), Order(ROW, at_end)), "by time"
                conditions = (*self.selection.conditions, RowCondition(ColumnRef(column.name), Comparator.NOT_EMPTY))
            yield self.found(
                frozenset({row}), used | words | listed | self.spare("year", "date", "time"), (*base, by), asked, conditions, order=order, best=1,
                lead=f"{'Last' if at_end else 'First'} {f'by {column.name}' if column else 'in the order of the table'}",
            )  # fmt: skip

    def neighbours(self) -> Iterator[Interpretation]:
        """The row after or before a named one."""
        anchors = [link for link in self.selection.links if not link.compares and len(link.rows) == 1]
        for words, step in ((AFTER, 1), (BEFORE, -1)):
            place = self.evidence.find_any(words)
            if place is None or self.selection.used & {*range(*place)}:
                continue
            for anchor in anchors:
                yield from self._beside(anchor, frozenset(range(*place)), step)

    def _beside(self, anchor: ValueLink, words: frozenset[int], step: int) -> Iterator[Interpretation]:
        (row,) = anchor.rows
        others = [link for link in self.selection.links if link is not anchor]
        rest = self.grid.rows
        for link in others:
            rest &= link.rows
        asked, used, steps = self.asked()
        used |= words | self.spare(
            "comes",
            "came",
            "directly",
            "immediately",
            "right",
            "listed",
            "rank",
            "order",
            "come",
            "next",
            "place",
            "just",
        )
        time = self.grid.time
        ways = [1] if time is None or time.direction >= 0 else [-1]
        for way in ways:
            along = sorted((i for i in rest if (i - row) * step * way > 0), key=lambda i: abs(i - row))
            if not along:
                continue
            condition = RowCondition(ColumnRef(ROW), Comparator.EQ, self.grid.numbers[along[0]])
            yield self.found(
                frozenset({along[0]}), used, (*steps, "beside", *(["beside some"] if others else [])), asked, (condition,),
                lead=f"The row {'after' if step > 0 else 'before'} {anchor.column.texts[row]}",
            )  # fmt: skip

    def likes(self) -> Iterator[Interpretation]:
        """Rows with the same value as a named one."""
        place = self.evidence.find_any(("same",))
        anchors = [link for link in self.selection.links if len(link.rows) == 1]
        if place is None or len(self.selection.links) != 1 or not anchors:
            return
        (row,) = anchors[0].rows
        for link in self.columns:
            if (
                link.column.name == anchors[0].column.name
                or not 0 <= link.first - place[1] <= 1
                or link.column.cells[row] is None
            ):
                continue
            same = frozenset(i for i in self.grid.rows if link.column.cells[i] == link.column.cells[row] and i != row)
            if same and len(same) <= THRESHOLDS.cited_rows:
                asked, used, steps = self.asked(apart=link.column)
                cell = link.column.texts[row] if link.column.info.kind in ("text", "date") else link.column.cells[row]
                assert isinstance(cell, str | int | float)
                conditions = (
                    RowCondition(ColumnRef(link.column.name), Comparator.EQ, cell),
                    RowCondition(ColumnRef(ROW), Comparator.NE, self.grid.numbers[row]),
                )
                yield self.found(
                    same,
                    used | link.words | {place[0]},
                    (*steps, "same", *self.named(link)),
                    asked,
                    conditions,
                    lead=f"The same {link.column.name} as {anchors[0].column.texts[row]}",
                )

    def exceeding(self) -> Iterator[Interpretation]:
        """Rows above or below a named one in a column."""
        place = self.evidence.find_any(("than",))
        if (
            place is None
            or len(self.selection.links) != 1
            or len(self.selection.rows) != 1
            or self.selection.links[0].compares
        ):
            return
        (row,) = self.selection.rows
        comparing = [
            i for i in range(place[0]) if self.evidence.texts[i] in MORE | LESS and i not in self.selection.used
        ]
        if self.selection.links[0].first < place[0] or not comparing:
            return
        for column, words, steps in self.measures(comparing[-1]):
            value = column.measures[row]
            if value is None or (column.is_dated and not column.is_year):
                continue
            more = (self.evidence.texts[comparing[-1]] in MORE) != is_rank(column)
            rows = frozenset(
                i
                for i in self.grid.rows
                if (v := column.measures[i]) is not None and (v > value if more else v < value)
            )
            asked, used, extra = self.asked(apart=column)
            condition = RowCondition(column.ref, Comparator.GT if more else Comparator.LT, value)
            count = self.evidence.find_any(COUNTS)
            if count is not None:
                noun, _ = self.noun_after(count[1])
                query = TableQuery(
                    source=table_key(self.grid.table),
                    conditions=(condition,),
                    aggregates=(Aggregate(Function.COUNT),),
                    limit=1,
                )
                plan = Plan(shape=Shape.COUNT, table=self.grid.table, query=query, function=Function.COUNT)
                told = words | noun | {place[0], comparing[-1]} | frozenset(range(*count))
                yield self.meaning(plan, ("number", float(len(rows))), told, (*steps, "exceeds"))
            if not rows or len(rows) > THRESHOLDS.cited_rows:
                continue
            yield self.found(
                rows,
                used | words | {place[0], comparing[-1]},
                (*steps, *extra, "exceeds"),
                asked,
                (condition,),
                metric=column,
                lead=f"Beside {self.selection.links[0].column.texts[row]}, with {column.texts[row]}",
            )
