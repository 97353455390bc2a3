"""Words rows that were found: the value asked for, and the row that it is in."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.agent.tables.language.sentences import at, figure, joined, marked, title
from citewell.agent.tables.language.shape import Plan
from citewell.agent.tables.run.engine import ResultRow, TableResult
from citewell.agent.tables.run.results import shown

_INLINE = 3
"""Values up to which they are told in one sentence; more are listed."""


def found_rows(plan: Plan, result: TableResult, numbers: Sequence[int], where: str) -> str:
    """`Due date for Ada Mensah: 2026-03-01 [1].`, or the cells asked for as a list where there are many.

    where: the query's conditions in words, with a space before them; empty where there are none that a reader needs.
    """
    assert plan.asked is not None
    if len(result.rows) > _INLINE or len(numbers) < len(result.rows):
        return _list(plan, result, numbers, where)
    found = _Found(plan, result, numbers)
    asked = title(found.asked)
    named, mark = marked(found.values, found.marks)
    if found.asked == found.label or not all(found.labels) or len(result.rows) > 1:
        if len(found.values) == 1:
            return f"The {asked}{where} is {named}{found.owners}{mark}."
        return f"{asked[:1].upper()}{asked[1:]}{where}: {named}{found.owners}{mark}."
    return f"{asked} {at(found.labels[0])}{_but(where, found.label)}: {named}{mark}."


class _Found:
    """The cells of up to three rows, as a sentence needs them."""

    def __init__(self, plan: Plan, result: TableResult, numbers: Sequence[int]) -> None:
        assert plan.asked is not None
        self.plan = plan
        self.asked = plan.asked.name
        self.label = plan.subject.name if plan.subject is not None else self.asked
        self.marks = [f" [{number}]" for number, _ in zip(numbers, result.rows, strict=False)]
        self.values = [figure(_cell(result, row, self.asked), self.asked) or "(empty)" for row in result.rows]
        self.labels = [shown(_cell(result, row, self.label)) for row in result.rows]

    @property
    def owners(self) -> str:
        """The rows of these cells by name, in parentheses; empty where the cells name them."""
        names = [name for name in dict.fromkeys(self.labels) if name]
        return "" if self.asked == self.label or not names else f" ({title(self.label)}: {joined(names)})"


def _but(where: str, label: str) -> str:
    """The conditions, unless they only name the row that the sentence names already."""
    return "" if where.startswith(f" where {label} is ") and " and " not in where else where


def _list(plan: Plan, result: TableResult, numbers: Sequence[int], where: str) -> str:
    assert plan.asked is not None
    asked = plan.asked.name
    others = [plan.subject.name] if plan.subject is not None and plan.subject.name != asked else []
    lines = [f"The {len(result.rows)} values of {asked}{where}:"]
    for row, number in zip(result.rows, numbers, strict=False):
        beside = "; ".join(f"{name}: {figure(_cell(result, row, name), name)}" for name in others)
        lines.append(f"- {figure(_cell(result, row, asked), asked)}{f' ({beside})' if beside else ''} [{number}]")
    return "\n".join(lines)


def _cell(result: TableResult, row: ResultRow, name: str) -> object:
    return row.values[result.columns.index(name)]
