"""What a question was read as against one table: the part that each of its words plays."""

from __future__ import annotations

from dataclasses import dataclass, field

from citewell.agent.tables.language.amounts import COSTING, SUMMED
from citewell.agent.tables.language.links import ColumnMention, TableWords, ValueMention
from citewell.agent.tables.language.wording import FILLERS, Operation, QuestionWord
from citewell.agent.tables.query.typed import DatePart, RowCondition
from citewell.types import TableColumn


@dataclass(frozen=True, slots=True)
class OperationMention:
    """Words `first:last` ask for this operation; `count` is the n of "top n"."""

    operation: Operation
    first: int
    last: int
    count: int | None = None
    text: str = ""


@dataclass(slots=True)
class Reading:
    """A question read against a table. `left_over` are the words that nothing explains: with any, there is no plan.

    how_much: it asks for an amount in these words; dealings: the stems of its verbs whose object is money (`spent`, `cost`); group_part: dates are grouped by this part of them (`per month`);
    percent_of: the value whose figure a change is asked for in percent of; share: the value whose share of the rows is asked for.
    """

    words: TableWords
    question: tuple[QuestionWord, ...]
    operations: list[OperationMention] = field(default_factory=list[OperationMention])
    columns: list[ColumnMention] = field(default_factory=list[ColumnMention])
    conditions: list[RowCondition] = field(default_factory=list[RowCondition])
    values: list[ValueMention] = field(default_factory=list[ValueMention])
    groups: list[TableColumn] = field(default_factory=list[TableColumn])
    entity: TableColumn | None = None
    asks_rows: bool = False
    names_table: bool = False
    problem: str | None = None
    how_much: bool = False
    dealings: set[str] = field(default_factory=set[str])
    group_part: DatePart | None = None
    percent_of: str = ""
    share: ValueMention | None = None
    used: set[int] = field(default_factory=set[int])

    @property
    def left_over(self) -> list[str]:
        """Words without a part to play."""
        return [w.text for i, w in enumerate(self.question) if i not in self.used and w.norm not in FILLERS]

    @property
    def opening(self) -> str:
        """Its first word in lower case; empty without any."""
        return self.question[0].text.casefold() if self.question else ""

    @property
    def deals(self) -> bool:
        """Whether it has a verb whose object is money."""
        return bool(self.dealings)

    @property
    def costs(self) -> bool:
        """Whether one of them asks for a price (`cost`, `pay`)."""
        return not self.dealings.isdisjoint(COSTING)

    @property
    def sums(self) -> bool:
        """Whether one of them asks for all of it (`spend`, `pay`)."""
        return not self.dealings.isdisjoint(SUMMED)

    def use(self, first: int, last: int) -> None:
        """Mark words as explained."""
        self.used.update(range(first, last))

    def is_free(self, first: int, last: int) -> bool:
        """Whether none of these words is explained yet."""
        return not any(i in self.used for i in range(first, last))
