"""Words rows that were found: the value asked for, the row it is in, and why that row."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.agent.tables.language.sentences import at, figure, highest, joined, marked, row_sentence, title
from citewell.agent.tables.language.shape import Plan
from citewell.agent.tables.run.engine import ResultRow, TableResult
from citewell.agent.tables.run.results import shown

_INLINE = 3
"""Values up to which they are told in one sentence; more are listed."""


def found_rows(plan: Plan, result: TableResult, numbers: Sequence[int], where: str) -> str:
    """`Expenses were highest in Q4 2025: GHS 82,750 [1].`, or the cells asked for as a list where there are many.

    where: the query's conditions in words, with a space before them; empty where there are none that a reader needs.
    """
    assert plan.asked is not None
    if len(result.rows) > _INLINE or len(numbers) < len(result.rows):
        return _list(plan, result, numbers, where)
    found = _Found(plan, result, numbers)
    if plan.metric is not None:
        return f"{_compared(found) if plan.beside else _measured(found, where)}."
    asked = title(found.asked)
    named, mark = found.named
    if plan.beside and found.asked == found.label and plan.lead.startswith(("after", "before")):
        return f"{named} {found.verb('comes', 'come')} {plan.lead}{mark}."
    if plan.lead:
        return f"{named} {found.verb('is', 'are')} the {asked} {plan.lead}{where}{found.owners}{mark}."
    if found.asked == found.label or not all(found.labels) or len(result.rows) > 1:
        if len(found.values) == 1:
            return f"The {asked}{where} is {named}{found.owners}{mark}."
        return f"{asked[:1].upper()}{asked[1:]}{where}: {named}{found.owners}{mark}."
    return f"{asked} {at(found.labels[0])}{_but(where, found.label)}: {named}{mark}."


def whole_rows(plan: Plan, result: TableResult, numbers: Sequence[int], where: str) -> str:
    """`The row with the highest Attendance:` and all its cells that are filled in: which row is meant is clear, which of its cells is not."""
    noun = "row" if len(result.rows) == 1 else "rows"
    if plan.metric is not None:
        most = plan.lead if plan.beside else f"the {plan.lead} {title(plan.metric.name)}"
        lead = f"The {noun} with {most}{where}:"
    elif plan.beside:
        lead = f"The {noun} {plan.lead}:"
    else:
        lead = f"The {plan.lead.removeprefix('of the ') or noun}{where}:"
    lines = [lead]
    for row, number in zip(result.rows, numbers, strict=True):
        cells = [(name, cell) for name, cell in zip(result.columns, row.values, strict=True) if shown(cell)]
        lines.append(f"- {row_sentence(cells)} [{number}]")
    return "\n".join(lines)


class _Found:
    """The cells of up to three rows, as a sentence needs them."""

    def __init__(self, plan: Plan, result: TableResult, numbers: Sequence[int]) -> None:
        assert plan.asked is not None
        self.plan = plan
        self.asked = plan.asked.name
        self.label = plan.subject.name if plan.subject is not None else self.asked
        self.marks = [f" [{number}]" for number, _ in zip(numbers, result.rows, strict=False)]
        self.values = [figure(_cell(result, row, self.asked), self.asked) for row in result.rows]
        self.labels = [shown(_cell(result, row, self.label)) for row in result.rows]
        metric = plan.metric.name if plan.metric is not None else self.asked
        self.measures = [figure(_cell(result, row, metric), metric) for row in result.rows]

    @property
    def named(self) -> tuple[str, str]:
        """The cells that are asked for, and the marker at the end of the sentence."""
        return marked(self.values, self.marks)

    @property
    def owners(self) -> str:
        """The rows of these cells by name, in parentheses; empty where the cells name them."""
        names = [name for name in dict.fromkeys(self.labels) if name]
        return "" if self.asked == self.label or not names else f" ({title(self.label)}: {joined(names)})"

    def verb(self, one: str, several: str) -> str:
        """In the number of the cells."""
        return one if len(self.values) == 1 else several


def _but(where: str, label: str) -> str:
    """The conditions, unless they only name the row that the sentence names already."""
    return "" if where.startswith(f" where {label} is ") and " and " not in where else where


def _measured(found: _Found, where: str) -> str:
    """The rows with the highest or lowest value."""
    assert found.plan.metric is not None
    metric, lead = found.plan.metric.name, found.plan.lead
    named, mark = found.named
    if found.asked == metric:
        names = [name for name in dict.fromkeys(found.labels) if name and name not in found.values]
        owners = f", {at(joined(names))}" if names else ""
        same = dict.fromkeys(found.values)
        return f"The {lead} {title(metric)}{where} is {joined(list(same))}{owners}{''.join(found.marks)}"
    if found.asked == found.label and found.plan.subject is not None:
        return highest(metric, lead, found.values, found.marks, found.measures[0], where)
    most = f"the {title(found.asked)} with the {lead} {title(metric)}"
    return f"{named} {found.verb('is', 'are')} {most}{where}: {found.measures[0]}{found.owners}{mark}"


def _compared(found: _Found) -> str:
    """The rows with the same value as a named one, or with more or less."""
    assert found.plan.metric is not None
    metric, lead = found.plan.metric.name, found.plan.lead
    named, mark = found.named
    values = "" if found.asked == metric else f": {joined(list(dict.fromkeys(found.measures)))}"
    return f"{named} {found.verb('has', 'have')} {lead}{values}{found.owners}{mark}"


def _list(plan: Plan, result: TableResult, numbers: Sequence[int], where: str) -> str:
    assert plan.asked is not None
    asked = plan.asked.name
    others = [
        n
        for n in (plan.subject.name if plan.subject else "", plan.metric.name if plan.metric else "")
        if n and n != asked
    ]
    about = f", {plan.lead}" if plan.lead else ""
    lines = [f"The {len(result.rows)} values of {asked}{where}{about}:"]
    for row, number in zip(result.rows, numbers, strict=False):
        beside = "; ".join(f"{name}: {figure(_cell(result, row, name), name)}" for name in others)
        lines.append(f"- {figure(_cell(result, row, asked), asked)}{f' ({beside})' if beside else ''} [{number}]")
    return "\n".join(lines)


def _cell(result: TableResult, row: ResultRow, name: str) -> object:
    return row.values[result.columns.index(name)]
