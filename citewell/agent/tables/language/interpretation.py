"""What a question may mean over a selection of rows, and what all forms of questions share: the column asked for, the noun, the measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from citewell.agent.tables.language.cells import Grid, GridColumn
from citewell.agent.tables.language.evidence import ColumnLink, QuestionEvidence, alike
from citewell.agent.tables.language.plan import Plan, Shape
from citewell.agent.tables.language.selection import Selection
from citewell.agent.tables.language.wording import FILLERS, norm
from citewell.agent.tables.query.compile import ROW
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

COUNTS = ("how many", "number of", "count of", "count", "amount of")
TOTALS = ("total", "combined", "altogether", "in all", "sum", "sum of", "together")
AVERAGES = ("average", "mean", "on average")
LOW = frozenset(
    [
        "lowest",
        "least",
        "fewest",
        "smallest",
        "minimum",
        "shortest",
        "youngest",
        "earliest",
        "worst",
        "slowest",
        "lightest",
        "oldest",
        "first",
        "fastest",
    ]
)
FIRST = ("first", "earliest", "oldest", "initial")
LAST = ("last", "latest", "most recent", "final", "newest", "recent")
AFTER = (
    "after",
    "next",
    "following",
    "followed",
    "below",
    "succeeded",
    "follows",
    "succeeds",
    "comes after",
    "directly after",
    "later than",
    "successor",
)
BEFORE = (
    "before",
    "previous",
    "preceded",
    "prior to",
    "precedes",
    "above",
    "preceding",
    "prior",
    "earlier than",
    "predecessor",
)
MORE = frozenset(
    [
        "more",
        "higher",
        "larger",
        "bigger",
        "greater",
        "longer",
        "older",
        "later",
        "taller",
        "better",
        "most",
        "highest",
        "largest",
        "biggest",
        "greatest",
        "longest",
        "latest",
        "farther",
        "further",
        "heavier",
        "faster",
    ]
)
LESS = frozenset(
    [
        "less",
        "fewer",
        "lower",
        "smaller",
        "shorter",
        "younger",
        "earlier",
        "worse",
        "least",
        "fewest",
        "lowest",
        "smallest",
        "shortest",
        "earliest",
        "first",
        "lighter",
        "slower",
    ]
)
PLACE = ("listed", "list", "chart", "table", "shown")


@dataclass(frozen=True, slots=True)
class Interpretation:
    """A reading. `answer` tells readings with different answers apart; `steps` name what the question does not say itself."""

    plan: Plan
    answer: object
    used: frozenset[int]
    steps: tuple[str, ...]


class ReadingForm:
    """A form of questions about one selection of rows."""

    def __init__(self, evidence: QuestionEvidence, selection: Selection) -> None:
        self.evidence = evidence
        self.grid: Grid = evidence.grid
        self.selection = selection
        self.columns = [link for link in evidence.columns if not link.words & selection.used]
        chosen = {link.column.name for link in selection.links}
        self.confirming = frozenset(word for link in self.columns if link.column.name in chosen for word in link.words)
        self.base = tuple(_link_steps(selection, {link.column.name for link in self.columns}))

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
        )
        if not self.selection.links and self.grid.totals:
            numbers = tuple(self.grid.numbers[i] for i in sorted(self.grid.totals))
            conditions = (*conditions, RowCondition(ColumnRef(ROW), Comparator.NOT_IN, numbers))
        return TableQuery(
            source=table_key(self.grid.table), conditions=conditions, aggregates=aggregates, groups=groups, order=order, limit=limit
        )  # fmt: skip

    def meaning(self, plan: Plan, answer: object, used: frozenset[int], steps: Sequence[str]) -> Interpretation:
        """A reading, with what the selection accounts for and takes for granted."""
        return Interpretation(
            plan, answer, used | self.selection.used | self.confirming, (*self.base, *(s for s in steps if s))
        )

    def found(
        self,
        rows: frozenset[int],
        used: frozenset[int],
        steps: Sequence[str],
        asked: GridColumn | None,
        conditions: tuple[RowCondition, ...],
        *,
        metric: GridColumn | None = None,
        order: tuple[Order, ...] = (),
        best: int = 0,
        lead: str = "",
    ) -> Interpretation:
        """A reading whose answer is these rows: the asked column and what names them, or the rows whole."""
        label = self.grid.label
        if order and not self.selection.links and self.grid.totals:
            numbers = tuple(self.grid.numbers[i] for i in sorted(self.grid.totals))
            conditions = (*conditions, RowCondition(ColumnRef(ROW), Comparator.NOT_IN, numbers))
        names = [c.name for c in (label, asked, metric) if c is not None]
        columns = tuple(dict.fromkeys(names)) if asked is not None else ()
        query = TableQuery(
            source=table_key(self.grid.table),
            columns=columns,
            conditions=conditions,
            order=order,
            limit=best or MAX_ROWS,
        )
        if self.evidence.find_any(("how many", "how much")) and (asked is None or not asked.is_numeric):
            steps = (*steps, "no number")
        if metric is None and len(rows) > 1:
            plural = any(self.evidence.texts[i].endswith("s") for i in used if i in self.evidence.content)
            steps = (*steps, "several" if plural else "several for one")
        plan = Plan(
            shape=Shape.FOUND, table=self.grid.table, query=query, metric=metric.info if metric else None,
            subject=label.info if label else None, expected=len(rows), lead=lead,
        )  # fmt: skip
        return self.meaning(plan, ("rows", rows), used, steps)

    def asked(self, apart: GridColumn | None = None) -> tuple[GridColumn | None, frozenset[int], tuple[str, ...]]:
        """The column that the question asks for, the words that say so, and what it leaves unsaid."""
        for index, text in enumerate(self.evidence.texts):
            if text not in ("which", "what", "who", "when", "where", "name", "whose", "how"):
                continue
            noun, link = self.noun_after(index + (2 if text == "how" else 1))
            if text == "when" and self.grid.time is not None:
                return self.grid.time, frozenset({index}), ("asked time",)
            if text == "who" or text == "where":
                return None, frozenset({index}), ("asked who",)
            if link is not None:
                return (
                    link.column,
                    link.words | {index} | noun | (frozenset({index + 1}) if text == "how" else frozenset()),
                    self.named(link),
                )
            if (
                noun
                and {self.evidence.texts[i] for i in noun} & {"year", "date", "day", "time"}
                and self.grid.time is not None
            ):
                return self.grid.time, noun | {index}, ("asked time",)
            return None, noun | {index}, ("noun",) if noun else ("asked row",)
        link = next((link for link in self.columns if link.column is not apart and link.share >= 0.5), None)
        if link is not None:
            return link.column, link.words, ("asked anywhere", *self.named(link))
        return None, frozenset(), ("asked row",)

    def noun_after(self, start: int) -> tuple[frozenset[int], ColumnLink | None]:
        """The noun of "which …" and "how many …": the column that it names, else its words up to the verb."""
        while start < len(self.evidence.texts) and self.evidence.texts[start] in _BEFORE_NOUN:
            start += 1
        links = [link for link in self.columns if start <= link.first <= start + 1]
        if links:
            link = max(links, key=lambda link: (link.share, -link.first))
            return frozenset(range(start, link.first)), link
        words: list[int] = []
        for index in range(start, min(start + 2, len(self.evidence.texts))):
            if (
                self.evidence.norms[index] in FILLERS
                or index in self.selection.used
                or index not in self.evidence.content
            ):
                break
            words.append(index)
            if self.evidence.texts[index].endswith("s"):
                break
        return frozenset(words[:2]), None

    def measures(self, index: int) -> Iterator[tuple[GridColumn, frozenset[int], tuple[str, ...]]]:
        """Columns to rank by for the superlative or comparative at `index`: named, implied by the adjective, or the only one there is."""
        ranked = [
            link for link in self.columns if link.column.is_numeric or link.column.is_dated or is_rank(link.column)
        ]
        named = {link.column.name for link in ranked}
        for link in ranked:
            far = "far" if not -1 <= link.first - index - 1 <= 2 else ""
            yield link.column, link.words, (*self.named(link), far)
        adjective = norm(self.evidence.texts[index]) if index < len(self.evidence.texts) else ""
        implied = [
            c
            for c in self.grid.columns
            if c.name not in named and (c.is_numeric or c.is_dated) and _suits(self.evidence.texts[index], adjective, c)
        ]
        for column in implied:
            yield column, frozenset(), ("adjective",)
        numeric = [c for c in self.grid.columns if c.is_numeric and not c.is_year and not is_rank(c)]
        if not ranked and not implied and len(numeric) == 1:
            noun, _ = self.noun_after(index + 1)
            yield numeric[0], noun, ("only measure",)

    def named(self, link: ColumnLink) -> tuple[str, ...]:
        """What is unsure about a column's name in the question."""
        rivals = [
            o for o in self.columns if o.column is not link.column and o.words & link.words and o.share >= link.share
        ]
        return (*(["part of name"] if link.share < 1 else []), *(["rival column"] if rivals else []))

    def spare(self, *texts: str) -> frozenset[int]:
        """Places of these words where no condition uses them."""
        return frozenset(
            i for i, text in enumerate(self.evidence.texts) if text in texts and i not in self.selection.used
        )


_BEFORE_NOUN = frozenset(
    [
        "is",
        "was",
        "are",
        "were",
        "the",
        "a",
        "an",
        "of",
        "different",
        "total",
        "other",
        "all",
        "in",
        "which",
        "what",
        "did",
        "does",
        "do",
        "name",
        "one",
        "number",
        "next",
        "first",
        "last",
        "on",
        "his",
        "her",
    ]
)
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


def is_rank(column: GridColumn) -> bool:
    """Whether the best value of a column is the lowest."""
    return any(
        norm(word) in ("rank", "posit", "place", "#", "no", "pos")
        for word in column.name.casefold().replace(".", "").split()
    )


def _link_steps(selection: Selection, named: set[str]) -> Iterator[str]:
    """How surely the words of the selection mean its conditions."""
    for link in selection.links:
        if link.compares:
            yield "compared" if link.column.name in named else "compared, unnamed"
        else:
            yield "cell" if link.share == 1 else "part of cell" if link.share >= 0.5 else "small part of cell"
            if link.column.name in named:
                yield "column named"
    if len(selection.links) > 1:
        yield "several conditions"
    if selection.negated:
        yield "negated"
