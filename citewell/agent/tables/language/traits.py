"""What speaks for and against a reading, as names that weights are given to: the question's words beside the form of the reading,
the column that is asked for, the conditions, and the words that it leaves unexplained."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property

from citewell.agent.tables.language.asked import AskedColumn, question_kind
from citewell.agent.tables.language.evidence import QuestionEvidence, ValueLink
from citewell.agent.tables.language.interpretation import Interpretation
from citewell.agent.tables.language.selection import Selection
from citewell.agent.tables.language.wording import FILLERS, is_superlative

Group = tuple[Hashable, tuple[str, ...]]
_ROW_FORMS = frozenset(("rows", "first", "last", "after", "before", "same", "beyond", "highest", "lowest"))
NOTHING = "nothing"
"""The form of the reading that means nothing of the table."""


class QuestionTraits:
    """Names what speaks for readings of one question; parts that readings share are made once."""

    def __init__(self, evidence: QuestionEvidence, readings: Sequence[Interpretation]) -> None:
        self._evidence = evidence
        self._usable = frozenset[int]().union(*(reading.used for reading in readings))
        self._least = min((len(evidence.content - reading.used) for reading in readings), default=len(evidence.content))
        self._kind = question_kind(evidence)[0]
        self._known: dict[Hashable, tuple[str, ...]] = {}
        self._named = frozenset(i for link in evidence.columns for i in link.words)
        self._cells = frozenset(i for link in evidence.values for i in link.words)

    def groups(self, reading: Interpretation) -> Iterator[Group]:
        """The names, in groups that other readings may share, each with a key that is equal where the group is."""
        form = reading.form
        yield self._group(("form", form), lambda: self._form(form))
        yield self._group(("selection", id(reading.selection), form), lambda: self._selection(reading.selection, form))
        if reading.asked is not None:
            asked = reading.asked
            yield self._group(("asked", id(asked), form), lambda: self._asked(asked, form))
        yield self._group(
            ("steps", form, reading.steps), lambda: (*reading.steps, *(f"{s} ({form})" for s in reading.steps))
        )
        left = self._evidence.content - reading.used
        yield self._group(("left", left, form), lambda: self._left(left, form))

    def nothing(self) -> Iterator[Group]:
        """The names for the reading that means nothing of the table."""
        yield self._group(("form", NOTHING), lambda: self._form(NOTHING))
        yield self._group(("least", NOTHING), self._nothing)

    def _group(self, key: Hashable, make: Callable[[], tuple[str, ...]]) -> Group:
        if key not in self._known:
            self._known[key] = make()
        return key, self._known[key]

    @cached_property
    def _grams(self) -> tuple[str, ...]:
        texts = self._evidence.texts
        pairs = [f"{a} {b}" for a, b in zip(("^", *texts), texts, strict=False)]
        return tuple(dict.fromkeys([*texts, *pairs, f"kind {self._kind}"]))

    def _form(self, form: str) -> tuple[str, ...]:
        return (f"form {form}", *(f"{gram} | {form}" for gram in self._grams))

    def _nothing(self) -> tuple[str, ...]:
        content = self._evidence.content
        unusable = [f"useless {self._evidence.norms[index]}" for index in sorted(content - self._usable)]
        length = f"{min(len(content), 12)} words"
        grid = self._evidence.grid
        width = f"{min(len(grid.columns), 10)} columns"
        return (f"least left {min(self._least, 5)}", f"{min(len(unusable), 5)} useless", length, width, *unusable)

    def _asked(self, asked: AskedColumn, form: str) -> tuple[str, ...]:
        family = "value" if form in _ROW_FORMS else form
        narrow = "rows" if form == "rows" else "highest" if form in ("highest", "lowest") else "other"
        return (*(f"{cue} ~{family}" for cue in asked.cues), *(f"{cue} ~~{narrow}" for cue in asked.cues[-8:]))

    def _selection(self, selection: Selection, form: str) -> tuple[str, ...]:
        found = [f"{len(selection.links)} conditions"]
        rows = len(selection.rows)
        found.append(f"rows {rows if rows < 4 else 'few' if rows < 10 else 'many'}")
        if selection.negated:
            found.append("negated")
        if len(selection.rows) == self._evidence.grid.size:
            found.append("all rows")
        columns = {link.column.name for link in self._evidence.columns if not link.words & selection.used}
        for link in selection.links:
            found += self._link(link, columns)
        return (*found, *(f"{name} ({form})" for name in found))

    def _link(self, link: ValueLink, columns: set[str]) -> Iterator[str]:
        sort = link.column.sort
        named = "named" if link.column.name in columns else "unnamed"
        if link.words & self._evidence.percents:
            yield "percentages" if link.column.is_percent else "a percentage of other numbers"
        if link.compares:
            yield f"compares {sort}, {named}"
            yield f"compares: {link.condition.comparison.value}"
            if link.column.is_rank:
                yield f"rank, {'turned' if link.turned else 'as written'}"
            after = self._evidence.norms[link.last] if link.last < len(self._evidence.norms) else "end"
            yield f"{after} compared {link.column.sort}" if named == "unnamed" else "compared and named"
            for stem in link.column.stems:
                yield f"{after} compared: {stem}"
            return
        share = (
            "whole" if link.share == 1 else "half" if link.share >= 0.5 else "third" if link.share >= 0.3 else "little"
        )
        yield f"cell {share}, {sort}, {named}"
        yield f"cell of {min(len(link.words), 4)} words, {share}"
        yield f"cells in {'one row' if len(link.rows) == 1 else 'rows'}, {share}"
        yield f"{self._word(link.first - 1)} cell {sort}"
        if link.coded:
            yield f"coded: {self._evidence.norms[link.first]}"
        rivals = [
            o
            for o in self._evidence.values
            if o.column is not link.column and o.first <= link.first and o.last >= link.last
        ]
        if rivals:
            best = max(o.share for o in rivals)
            longer = any(len(o.words) > len(link.words) for o in rivals)
            yield f"cell {'longer' if longer else 'as long'} elsewhere, {'more' if best > link.share else 'as' if best == link.share else 'less'} whole"
        if link.words <= self._named:
            yield f"cell names a column, {share}"
        if link.first == self._evidence.told[0]:
            yield "cell is how many are asked for"
        if link.column is self._evidence.grid.label:
            yield f"cell of the label, {share}"

    def _word(self, index: int) -> str:
        if not 0 <= index < len(self._evidence.texts):
            return "end"
        return self._evidence.texts[index] if self._evidence.norms[index] in FILLERS else "word"

    def _left(self, left: frozenset[int], form: str) -> tuple[str, ...]:
        found: list[str] = [f"{min(len(left), 6)} left", f"{min(len(left) - self._least, 5)} more left"]
        found.append(f"{min(len(left & self._usable), 5)} usable left")
        content = len(self._evidence.content)
        found.append(f"left {round(4 * len(left) / content) if content else 0}/4")
        for index in sorted(left):
            found.append(self._left_word(index))
            if index in self._usable:
                found.append(f"{self._left_word(index)}, usable")
            found.append(f"left {self._evidence.norms[index]}")
        return (*found, *(f"{name} ({form})" for name in found))

    def _left_word(self, index: int) -> str:
        text = self._evidence.texts[index]
        if is_superlative(text):
            return "superlative left"
        if any(c.isdigit() for c in text):
            return "number left"
        if index in self._named:
            return "column left"
        if index in self._cells:
            return "cell left"
        return "verb left" if text.endswith("ed") else "word left"
