"""The rows that a question is about: every way of taking its words for cells, numbers and times, as conditions that go together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from citewell.agent.tables.language.evidence import QuestionEvidence, ValueLink
from citewell.agent.tables.query.typed import Comparator, RowCondition
from citewell.agent.tables.thresholds import THRESHOLDS

_EXCEPT = (
    "not",
    "except",
    "excluding",
    "without",
    "besides",
    "than",
    "beside",
    "never",
    "outside",
    "non",
    "isn't",
    "didn't",
    "t",
)
_NEGATED = {
    Comparator.EQ: Comparator.NE, Comparator.IN: Comparator.NOT_IN, Comparator.GT: Comparator.LTE, Comparator.GTE: Comparator.LT,
    Comparator.LT: Comparator.GTE, Comparator.LTE: Comparator.GT,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Selection:
    """Rows that meet all conditions. `used` are the words that the conditions account for."""

    rows: frozenset[int]
    links: tuple[ValueLink, ...] = ()
    used: frozenset[int] = frozenset()
    negated: bool = False

    @property
    def conditions(self) -> tuple[RowCondition, ...]:
        """One per link; cells of one column are alternatives."""
        merged: dict[str, RowCondition] = {}
        compared: list[RowCondition] = []
        for link in self.links:
            name = link.column.name
            if link.compares or name not in merged:
                (compared.append(link.condition) if link.compares else merged.update({name: link.condition}))
            else:
                merged[name] = _either(merged[name], link.condition)
        return (*merged.values(), *compared)


def selections(evidence: QuestionEvidence, links: Sequence[ValueLink]) -> list[Selection]:
    """The selections that account for most words first, all rows (no link at all) among them."""
    groups: dict[tuple[int, int], list[ValueLink]] = {}
    named = {link.column.name for link in evidence.columns}
    for link in sorted(links, key=lambda link: (-link.share, link.column.name not in named)):
        groups.setdefault((link.first, link.last), []).append(link)
    ordered = sorted(groups.values(), key=lambda group: (-len(group[0].words), not group[0].compares, group[0].first))
    chosen = _choices(evidence, ordered)
    found = [s for links in chosen if (s := _selection(evidence, links)) is not None and s.rows]
    found.sort(key=lambda s: -len(s.used & evidence.content))
    return found[: THRESHOLDS.selections]


def _choices(evidence: QuestionEvidence, groups: Sequence[list[ValueLink]]) -> list[tuple[ValueLink, ...]]:
    """Links that share no word, those that account for most words first; of each place one or none."""
    kept: list[tuple[tuple[ValueLink, ...], frozenset[int]]] = [((), frozenset())]
    for group in groups[: THRESHOLDS.linked_places]:
        grown = [
            ((*chosen, link), used | link.words)
            for chosen, used in kept
            if not used & group[0].words
            for link in group[: (2 if group[0].compares else 1) * THRESHOLDS.linked_columns]
        ]
        kept = sorted([*kept, *grown], key=lambda pair: -len(pair[1] & evidence.content))[: 3 * THRESHOLDS.selections]
        if all(chosen for chosen, _ in kept):
            kept.append(((), frozenset()))
    return [chosen for chosen, _ in kept]


def _selection(evidence: QuestionEvidence, chosen: tuple[ValueLink, ...]) -> Selection | None:
    by_column: dict[str, frozenset[int]] = {}
    rows = evidence.grid.rows if not chosen else evidence.grid.rows | evidence.grid.totals
    links: list[ValueLink] = []
    used: frozenset[int] = frozenset()
    negated = False
    for link in sorted(chosen, key=lambda link: link.first):
        used |= link.words
        excepted = _excepted(evidence, link)
        if excepted is not None:
            used |= excepted
            negated = True
            link = _negation(evidence, link)
        if link.compares or excepted is not None:
            rows &= link.rows
        else:
            name = link.column.name
            by_column[name] = by_column.get(name, frozenset()) | link.rows
        links.append(link)
    for found in by_column.values():
        rows &= found
    return Selection(rows, tuple(links), used, negated)


def _excepted(evidence: QuestionEvidence, link: ValueLink) -> frozenset[int] | None:
    """The word that excludes these rows (`other than Accra`), with those between."""
    for index in range(link.first - 1, max(-1, link.first - 4), -1):
        text = evidence.texts[index]
        if text in _EXCEPT and (text != "than" or (index and evidence.texts[index - 1] == "other")):
            return frozenset(range(index - (text == "than"), link.first))
        if index in evidence.content:
            return None
    return None


def _negation(evidence: QuestionEvidence, link: ValueLink) -> ValueLink:
    everywhere = evidence.grid.rows
    if link.compares:
        everywhere = frozenset(i for i in everywhere if link.column.measures[i] is not None)
    negated = _NEGATED.get(link.condition.comparison, link.condition.comparison)
    return replace(
        link, rows=everywhere - link.rows, condition=replace(link.condition, comparison=negated), compares=True
    )


def _either(first: RowCondition, second: RowCondition) -> RowCondition:
    values = (*_listed(first), *_listed(second))
    return RowCondition(first.ref, Comparator.IN, tuple(dict.fromkeys(values)))


def _listed(condition: RowCondition) -> tuple[str | int | float | bool, ...]:
    value = condition.value
    return value if isinstance(value, tuple) else () if value is None else (value,)
