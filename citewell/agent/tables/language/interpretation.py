"""What a question may mean over a selection of rows, and what all forms of questions share: the noun, the measure, the query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from citewell.agent.tables.language.asked import AskedColumn
from citewell.agent.tables.language.cells import WORDS, Grid, GridColumn, comparable
from citewell.agent.tables.language.evidence import ColumnLink, QuestionEvidence, alike
from citewell.agent.tables.language.selection import Selection
from citewell.agent.tables.language.shape import Plan, Shape
from citewell.agent.tables.language.wording import FILLERS, norm
from citewell.agent.tables.query.typed import (
    MAX_ROWS,
    Aggregate,
    ColumnRef,
    Comparator,
    Order,
    RowCondition,
    TableQuery,
)
from citewell.agent.tables.run.engine import table_key
from citewell.agent.tables.run.results import format_number
from citewell.agent.tables.thresholds import THRESHOLDS
from citewell.types import ROW_COLUMN

MAX_UNNAMED = 6
RUNS = ("consecutive", "consecutively", "in a row", "straight", "successive", "successively", "back to back", "streak")
COUNTS = ("how many", "number of", "count of", "count", "amount of", "how often")
TOTALS = ("total", "combined", "altogether", "in all", "sum", "sum of", "together")
AVERAGES = ("average", "mean", "on average")
LOW = frozenset(
    ("lowest", "least", "fewest", "smallest", "minimum", "shortest", "youngest", "earliest", "worst", "slowest", "lightest", "oldest", "first",
     "fastest", "bottom", "cheapest", "nearest", "closest")
)  # fmt: skip
EITHER = frozenset(("best", "worst", "top", "fastest", "slowest", "oldest", "youngest", "bottom"))
"""Superlatives whose best value is the highest of some measures and the lowest of others."""
FIRST = (
    "first",
    "earliest",
    "oldest",
    "initial",
    "top",
    "beginning",
    "start",
    "started",
    "began",
    "premiere",
    "debut",
    "highest",
)
LAST = (
    "last",
    "latest",
    "most recent",
    "final",
    "newest",
    "recent",
    "recently",
    "bottom",
    "end",
    "ended",
    "finally",
    "lowest",
)
AFTER = (
    "after", "next", "following", "followed", "below", "succeeded", "follows", "succeeds", "comes after", "directly after", "later than",
    "successor", "behind", "under", "right after",
)  # fmt: skip
BEFORE = (
    "before", "previous", "preceded", "prior to", "prior", "precedes", "above", "preceding", "earlier than", "predecessor", "ahead of", "over",
    "right before",
)  # fmt: skip
MORE = frozenset(
    ("more", "higher", "larger", "bigger", "greater", "longer", "older", "later", "taller", "better", "most", "highest", "largest", "biggest",
     "greatest", "longest", "latest", "farther", "further", "heavier", "faster", "exceed", "exceeded", "above", "over", "after", "newer",
     "last", "oldest", "tallest", "best", "deeper", "wider", "above", "beat", "outranked")
)  # fmt: skip
LESS = frozenset(
    ("less", "fewer", "lower", "smaller", "shorter", "younger", "earlier", "worse", "least", "fewest", "lowest", "smallest", "shortest",
     "earliest", "first", "lighter", "slower", "below", "under", "before", "youngest", "sooner", "prior")
)  # fmt: skip
PLACE = ("listed", "list", "chart", "table", "shown")


@dataclass(frozen=True, slots=True)
class Interpretation:
    """A reading: `answer` are the values that it gives, `steps` what it takes for granted, `used` the words that it accounts for.

    rows: indices of the rows whose cells answer; empty where the answer is a figure;
    make: builds its plan, which only the reading that is chosen needs; make_whole: the same for the rows with all their cells;
    found: what makes its rows the ones that answer; column: what a figure is of, or rows are told apart by; least: of these the lowest;
    compared: the condition on other rows that are counted.
    """

    form: str
    answer: frozenset[str]
    used: frozenset[int]
    steps: tuple[str, ...]
    selection: Selection
    make: Callable[[], Plan]
    asked: AskedColumn | None = None
    rows: frozenset[int] = frozenset()
    make_whole: Callable[[], Plan] | None = None
    found: FoundRows | None = None
    column: GridColumn | None = None
    least: bool = False
    compared: RowCondition | None = None

    @property
    def plan(self) -> Plan:
        """The typed query, and how its result is worded."""
        return self.make()

    @property
    def whole(self) -> Plan:
        """The typed query for all cells of its rows; only of a reading that has rows."""
        assert self.make_whole is not None
        return self.make_whole()


@dataclass(frozen=True, slots=True)
class Measure:
    """A column to rank, add up or compare by, the words that name it, and how surely they do."""

    column: GridColumn
    words: frozenset[int]
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRows:
    """Rows that answer a question, and the query that finds them."""

    rows: frozenset[int]
    conditions: tuple[RowCondition, ...]
    metric: GridColumn | None = None
    order: tuple[Order, ...] = ()
    best: int = 0
    lead: str = ""
    beside: bool = False


class ReadingForm:
    """A form of questions about one selection of rows."""

    def __init__(self, evidence: QuestionEvidence, selection: Selection, asked: Sequence[AskedColumn]) -> None:
        self.evidence = evidence
        self.grid: Grid = evidence.grid
        self.selection = selection
        self.asked = asked
        self.columns = [link for link in evidence.columns if not link.words & selection.used]
        chosen = {link.column.name for link in selection.links}
        self.confirming = frozenset(word for link in self.columns if link.column.name in chosen for word in link.words)

    def query(
        self,
        *aggregates: Aggregate,
        filled: Sequence[str] = (),
        groups: tuple[ColumnRef, ...] = (),
        order: tuple[Order, ...] = (),
        limit: int = 1,
    ) -> TableQuery:
        """Figures over the selected rows; without any condition total rows are left out."""
        conditions = (
            *self.selection.conditions,
            *(RowCondition(ColumnRef(name), Comparator.NOT_EMPTY) for name in filled),
            *self.without_totals(),
        )
        return TableQuery(
            source=table_key(self.grid.table), conditions=conditions, aggregates=aggregates, groups=groups, order=order, limit=limit
        )  # fmt: skip

    def without_totals(self) -> tuple[RowCondition, ...]:
        """The condition that leaves out total rows, where the selection is of all rows or of those on one side of a number."""
        if not self.grid.totals or not all(link.compares for link in self.selection.links):
            return ()
        numbers = tuple(self.grid.numbers[i] for i in sorted(self.grid.totals))
        return (RowCondition(ColumnRef(ROW_COLUMN), Comparator.NOT_IN, numbers),)

    def meaning(
        self,
        form: str,
        make: Callable[[], Plan],
        answer: Iterable[str],
        used: frozenset[int],
        steps: Iterable[str],
        asked: AskedColumn | None = None,
        *,
        column: GridColumn | None = None,
        least: bool = False,
    ) -> Interpretation:
        """A reading, with what the selection accounts for."""
        words, taken = used | self.selection.used | self.confirming, tuple(s for s in steps if s)
        return Interpretation(
            form, frozenset(answer), words, taken, self.selection, make, asked, column=column, least=least
        )

    def figure(
        self,
        form: str,
        make: Callable[[], Plan],
        value: float,
        used: frozenset[int],
        steps: Iterable[str],
        column: GridColumn | None = None,
    ) -> Interpretation:
        """A reading whose answer is one number."""
        return self.meaning(form, make, (comparable(format_number(value)),), used, steps, column=column)

    def found(
        self, form: str, found: FoundRows, used: frozenset[int], steps: Sequence[str]
    ) -> Iterator[Interpretation]:
        """For each column that may be asked for, the reading whose answer are these rows' cells of it."""
        rows = sorted(found.rows)
        for asked in self.asked:
            column = asked.column
            texts = [column.texts[i] for i in rows]
            if not all(map(WORDS.search, texts)) or (not found.beside and self._repeats(column, form)):
                continue
            answer = {column.comparable[i] for i in rows}
            more = [*steps]
            if column is found.metric:
                more.append("asks for the measure")
            elif found.metric is not None and asked.named:
                more.append("asks beside the measure")
            if any(link.column is column for link in self.selection.links):
                whole = all(
                    link.share == 1 and not link.compares for link in self.selection.links if link.column is column
                )
                more.append("asks for a condition" if whole else "asks for a condition in part")
            more += self._answers(column, rows, answer)
            told, count = self.evidence.told
            counted = (
                frozenset({told}) if count == len(answer) and told not in self.selection.used else frozenset[int]()
            )
            reading = self.meaning(
                form, partial(self._found_plan, found, column), answer, used | counted | (asked.words - self.selection.used), more, asked
            )  # fmt: skip
            yield replace(reading, rows=found.rows, make_whole=partial(self._whole_plan, found), found=found)

    def _answers(self, column: GridColumn, rows: Sequence[int], answer: set[str]) -> Iterator[str]:
        """How many values there are, as told or not, and whether they are words of the question: one of those beside its `or`."""
        size = "one" if len(answer) == 1 else "two" if len(answer) == 2 else "few" if len(answer) < 5 else "many"
        yield f"{size} values"
        _, told = self.evidence.told
        if told:
            yield "as many as told" if told == len(answer) else f"{size} values, not as told"
        if len(answer) != len(rows):
            yield "same values"
        words = frozenset(self.evidence.norms)
        if all(column.keys[row] and words.issuperset(column.keys[row]) for row in rows[:3]):
            yield "an option" if "or" in self.evidence.texts else "said by the question"

    def _repeats(self, column: GridColumn, form: str) -> bool:
        """Whether the cells of the column are what the question names itself, so that they answer nothing."""
        named = [
            link for link in self.selection.links if link.column is column and link.share == 1 and not link.compares
        ]
        return len(named) == 1 or (bool(named) and form == "rows")

    def _found_plan(self, found: FoundRows, asked: GridColumn) -> Plan:
        label = self.grid.label
        names = [c.name for c in (label, asked, found.metric) if c is not None]
        query = TableQuery(
            source=table_key(self.grid.table), columns=tuple(dict.fromkeys(names)),
            conditions=(*found.conditions, *(self.without_totals() if found.order else ())), order=found.order, limit=found.best or MAX_ROWS,
        )  # fmt: skip
        return Plan(
            shape=Shape.FOUND, table=self.grid.table, query=query, metric=found.metric.info if found.metric else None, asked=asked.info,
            subject=label.info if label else None, expected=len(found.rows), lead=found.lead, beside=found.beside,
        )  # fmt: skip

    def _whole_plan(self, found: FoundRows) -> Plan:
        """All cells of the rows, in place of one column's; of a wide table those that may be asked for."""
        cells = self._found_plan(found, self.grid.columns[0])
        wide = len(self.grid.columns) > THRESHOLDS.whole_columns
        shown = {*cells.query.columns, *(asked.column.name for asked in self.asked)}
        names = tuple(c.name for c in self.grid.columns if not wide or c.name in shown)
        query = replace(cells.query, columns=names)
        return replace(cells, shape=Shape.WHOLE, query=query, asked=None)

    def noun_after(self, start: int) -> tuple[frozenset[int], ColumnLink | None]:
        """The noun of "how many …": the column that it names, else its words up to the verb."""
        texts = self.evidence.texts
        while start < len(texts) and texts[start] in _BEFORE_NOUN:
            start += 1
        links = [link for link in self.columns if start <= link.first <= start + 1]
        if links:
            link = max(links, key=lambda link: (link.share, -link.first))
            return frozenset(range(start, link.first)), link
        words: list[int] = []
        for index in range(start, min(start + 2, len(texts))):
            if (
                self.evidence.norms[index] in FILLERS
                or index in self.selection.used
                or index not in self.evidence.content
            ):
                break
            words.append(index)
            if texts[index].endswith("s"):
                break
        return frozenset(words), None

    def measures(self, index: int) -> Iterator[Measure]:
        """Columns to rank by for the superlative or comparative at `index`: named, implied by the adjective, or any of numbers."""
        ranked = [o for o in self.columns if is_measure(o.column)]
        named = {link.column.name for link in ranked}
        for link in ranked:
            apart = link.first - index - 1
            place = "next" if apart in (0, 1) else "near" if apart in (2, 3) else "before" if apart < -1 else "far"
            yield Measure(link.column, link.words, (f"measure {named_by(link)}, {place}", *self.rivals(link)))
        text = self.evidence.texts[index] if index < len(self.evidence.texts) else ""
        rest = [c for c in self.grid.columns if c.name not in named and is_measure(c)]
        implied = [c for c in rest if _suits(text, norm(text), c)]
        for column in implied:
            yield Measure(column, frozenset(), ("measure by adjective",))
        numeric = [c for c in rest if not c.is_dated and not c.is_rank and c not in implied][:MAX_UNNAMED]
        numeric += [c for c in rest if c.is_rank and c not in implied][:1]
        if not implied:
            noun, link = self.noun_after(index + 1)
            used = noun if link is None else frozenset[int]()
            for column in numeric:
                only = "only measure" if sum(not c.is_rank for c in numeric) == 1 else "any measure"
                kind = ", a rank" if column.is_rank else ""
                yield Measure(column, used, (f"{only}{kind}{', others named' if named else ''}",))

    def rivals(self, link: ColumnLink) -> tuple[str, ...]:
        """Whether another column is as much meant by the same words."""
        rivals = [
            o for o in self.columns if o.column is not link.column and o.words & link.words and o.share >= link.share
        ]
        return ("rival measure",) if rivals else ()

    def spare(self, *texts: str) -> frozenset[int]:
        """Places of these words where no condition uses them."""
        return frozenset(
            i for i, text in enumerate(self.evidence.texts) if text in texts and i not in self.selection.used
        )


def is_measure(column: GridColumn) -> bool:
    """Whether rows can be ranked by a column."""
    return column.is_numeric or column.is_dated or column.is_rank or column.is_timed


def named_by(link: ColumnLink) -> str:
    """How much of a column's name the question has."""
    return "whole" if link.share == 1 else "half" if link.share >= 0.5 else "part"


_BEFORE_NOUN = frozenset(
    ("is", "was", "are", "were", "the", "a", "an", "of", "different", "total", "other", "all", "in", "which", "what", "did", "does", "do",
     "name", "one", "number", "next", "first", "last", "on", "his", "her", "many", "unique", "distinct", "individual", "more")
)  # fmt: skip
_ADJECTIVES: dict[str, tuple[str, ...]] = {
    "long": ("length", "time", "durat", "distanc", "km", "mile", "period"), "short": ("length", "time", "durat", "distanc", "period"),
    "tall": ("height", "elev"), "high": ("height", "elev"), "old": ("age", "year", "born", "birth", "date", "found", "built", "open", "establish"),
    "young": ("age", "born", "birth"), "early": ("year", "date"), "late": ("year", "date"), "new": ("year", "date"), "recent": ("year", "date"),
    "fast": ("time", "speed"), "slow": ("time", "speed"), "heavy": ("weight", "mass"), "light": ("weight", "mass"), "big": ("area", "size", "popul"),
    "large": ("area", "size", "popul"), "small": ("area", "size", "popul"), "deep": ("depth",), "busy": ("passeng", "traffic"), "popul": ("popul",),
    "best": ("rank", "posit", "place"), "worst": ("rank", "posit", "place"), "better": ("rank", "posit", "place"), "first": ("year", "date"),
    "expens": ("price", "cost"), "cheap": ("price", "cost"), "wealthi": ("wealth", "incom"),
}  # fmt: skip


def _suits(text: str, stem: str, column: GridColumn) -> bool:
    root = text.removesuffix("est").removesuffix("er")
    root = root[:-1] + "y" if root.endswith("i") else root
    words = _ADJECTIVES.get(root) or _ADJECTIVES.get(root[:-1]) or _ADJECTIVES.get(stem) or _ADJECTIVES.get(text) or ()
    return any(alike(part, word) for part in (norm(w) for w in column.name.casefold().split()) for word in words)
