"""The columns that a question may ask for, each with what speaks for it: the question word, the noun beside it, the header."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from citewell.agent.tables.language.cells import GridColumn
from citewell.agent.tables.language.evidence import ColumnLink, QuestionEvidence
from citewell.agent.tables.language.wording import FILLERS
from citewell.agent.tables.thresholds import THRESHOLDS

_ASKING = (
    "how many",
    "how long",
    "how much",
    "how often",
    "which",
    "what",
    "who",
    "when",
    "where",
    "whose",
    "whom",
    "name",
    "tell",
    "how",
)
_YES_OR_NO = frozenset(("is", "was", "are", "were", "did", "does", "do", "has", "had", "have", "can", "could", "will"))
_NOUN_WORDS = 3
_OF = frozenset(("of", "for"))
_IS = frozenset(("is", "are"))


@dataclass(frozen=True, slots=True)
class AskedColumn:
    """A column whose cells may be the answer, the words that ask for it, and its cues."""

    column: GridColumn
    words: frozenset[int]
    cues: tuple[str, ...]
    named: bool


def question_kind(evidence: QuestionEvidence) -> tuple[str, int, int]:
    """The word that asks, and where it begins and ends: `how many`, `who`; `yes or no` begins the question, `other` is none of these."""
    found = [(index, -len(words.split()), words) for words in _ASKING for index in evidence.find(words)]
    if evidence.texts and evidence.texts[0] in _YES_OR_NO:
        return "yes or no", 0, 1
    if not found:
        return "other", 0, 0
    first, length, words = min(found)
    return words, first, first - length


def asks_for_unknown(evidence: QuestionEvidence, *, named: bool) -> bool:
    """Whether it asks for something that no column is called and no cell says: `what is the deposit for`; where a row is `named`,
    `which brand is` too.
    """
    texts = evidence.texts
    known = {i for link in (*evidence.columns, *evidence.values) for i in link.words}
    for index, text in enumerate(texts[:-1]):
        if text in _OF and index > 1 and texts[0] == "what" and texts[1] in _IS | {"the"}:
            return index - 1 not in known and evidence.norms[index - 1] not in FILLERS
        if named and text in ("which", "what") and index + 2 < len(texts) and texts[index + 2] in _IS:
            return index + 1 not in known and evidence.norms[index + 1] not in FILLERS
    return False


def asked_columns(evidence: QuestionEvidence) -> tuple[AskedColumn, ...]:
    """Every column of a narrow table; of a wide one those that are named, the labels, times, and the first ones."""
    kind, first, last = question_kind(evidence)
    noun = _noun(evidence, last)
    links = {column.name: _best_link(evidence, column, last) for column in evidence.grid.columns}
    beside = any(link is not None and _distance(evidence, last, link) == 0 for link in links.values())
    return tuple(
        _asked(evidence, column, links[column.name], (kind, first, last), noun, beside=beside)
        for column in _candidates(evidence, links)
    )


def _candidates(evidence: QuestionEvidence, links: dict[str, ColumnLink | None]) -> Sequence[GridColumn]:
    grid = evidence.grid
    if len(grid.columns) <= THRESHOLDS.asked_columns:
        return grid.columns
    sure = [c for c in grid.columns if links[c.name] is not None or c is grid.label or c is grid.time]
    rest = [c for c in grid.columns if c not in sure]
    return [*sure, *rest[: max(0, THRESHOLDS.asked_columns - len(sure))]]


def _noun(evidence: QuestionEvidence, start: int) -> tuple[int, ...]:
    """The first words after the question word that mean something."""
    places = [i for i in range(start, len(evidence.texts)) if evidence.norms[i] not in FILLERS]
    return tuple(places[:_NOUN_WORDS])


def _best_link(evidence: QuestionEvidence, column: GridColumn, start: int) -> ColumnLink | None:
    links = [link for link in evidence.columns if link.column is column]
    return min(links, key=lambda link: (link.share < 0.5, link.first < start, link.first, -link.share), default=None)


def _distance(evidence: QuestionEvidence, start: int, link: ColumnLink) -> int:
    """Words that mean something between the question word and the column's name; -1 where it comes before."""
    if link.first < start:
        return -1
    return sum(evidence.norms[i] not in FILLERS for i in range(start, link.first))


def _asked(
    evidence: QuestionEvidence,
    column: GridColumn,
    link: ColumnLink | None,
    asking: tuple[str, int, int],
    noun: tuple[int, ...],
    *,
    beside: bool,
) -> AskedColumn:
    kind, first, last = asking
    words = frozenset(range(first, last))
    is_label = column is evidence.grid.label
    cues = [f"{kind}: {'label' if is_label else column.sort}"]
    cues += [f"{kind}: {stem}" for stem in column.stems]
    for place, index in enumerate(noun[:2]):
        cues += [f"{evidence.norms[index]}{'' if place == 0 else ' second'}: {stem}" for stem in column.stems]
        cues.append(f"{evidence.norms[index]}: {'label' if is_label else column.sort}")
    position = next(i for i, c in enumerate(evidence.grid.columns) if c is column)
    cues.append(f"column {min(position, 3)}")
    if position == len(evidence.grid.columns) - 1:
        cues.append("last column")
    if link is None:
        cues.append("not named, other is" if beside else "not named")
        if is_label:
            cues.append("label, other is named" if beside else "label, none is named")
        if noun and noun[0] == last:
            words |= {noun[0]} if is_label or column is evidence.grid.time else frozenset()
        return AskedColumn(column, words, tuple(cues), named=False)
    distance = _distance(evidence, last, link)
    place = (
        "before"
        if distance < 0
        else "at once"
        if distance == 0
        else "next"
        if distance == 1
        else "near"
        if distance < 4
        else "far"
    )
    share = "whole" if link.share == 1 else "half" if link.share >= 0.5 else "part"
    cues += [f"named {place}, {share}", f"named {place}", f"{kind}: named {place}"]
    cues.append(f"{evidence.texts[link.first - 1] if link.first else 'start'} named")
    others = [o for o in evidence.columns if o.column is not column and o.words & link.words]
    if any(o.share > link.share for o in others):
        cues.append("better named column")
    elif any(o.share == link.share for o in others):
        cues.append("as well named column")
    if place in ("at once", "next"):
        words |= link.words | frozenset(range(last, link.first))
    elif place in ("near", "before") and link.share >= 0.5:
        words |= link.words
    return AskedColumn(column, words, tuple(cues), named=True)
