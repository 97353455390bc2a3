"""Aligns a claim with the sentences that it comes from: which word is which, which says the opposite, and what was put in whose place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from citewell.agent.citations.grammar import Grammar
from citewell.agent.citations.phrases import ComparedWord
from citewell.text.meanings import are_opposites, mean_the_same

_MAX_PAIRS = 1_500
"""Pairs of equal words up to which two texts are aligned: the time is their number and more."""
_SHARE_OF_CLAUSE = 0.25
"""Share of a clause's words from which a clause of the source is what it comes from."""


@dataclass(slots=True)
class Alignment:
    """same and opposed: places of the claim's words, and the places in the source of the words that say the same or the opposite.

    slots: stretches of source and claim between words that are equal and in order; in_order: the places of such words in the source.
    """

    claim: Sequence[ComparedWord]
    source: Sequence[ComparedWord]
    same: dict[int, int] = field(default_factory=dict)
    opposed: dict[int, int] = field(default_factory=dict)
    slots: list[tuple[range, range]] = field(default_factory=list)
    in_order: frozenset[int] = frozenset()

    def used(self) -> set[int]:
        """The places of the source that a word of the claim comes from."""
        return {*self.same.values(), *self.opposed.values()}

    def covered(self) -> float:
        """Share of the claim's content that the source has in the same words or in others of the same meaning, 0..1."""
        content = [place for place, word in enumerate(self.claim) if word.is_content]
        return sum(place in self.same for place in content) / max(1, len(content))


def align(
    claim: Sequence[ComparedWord], source: Sequence[ComparedWord], grammar: Grammar, *, in_english: bool
) -> Alignment | None:
    """The alignment; None where a word comes again too often."""
    one, other = Counter(word.key for word in claim), Counter(word.key for word in source)
    if sum(count * other[key] for key, count in one.items()) > _MAX_PAIRS:
        return None
    found = _Aligning(Alignment(claim, source), grammar, in_english)
    found.by_order()
    found.opposites_in_place()
    found.moved()
    found.by_meaning()
    found.opposites_in_clause()
    return found.alignment


class _Aligning:
    def __init__(self, alignment: Alignment, grammar: Grammar, in_english: bool) -> None:
        self.alignment = alignment
        self._grammar = grammar
        self._in_english = in_english
        self._slot: dict[int, range] = {}
        self._free = set(range(len(alignment.source)))

    def by_order(self) -> None:
        """Equal words in order, as `difflib` finds them."""
        to = self.alignment
        keys = [word.key for word in to.source], self._keys_of_source()
        for kind, i1, i2, j1, j2 in SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
            if kind == "equal":
                to.same.update(zip(range(j1, j2), range(i1, i2), strict=True))
            else:
                to.slots.append((range(i1, i2), range(j1, j2)))
                self._slot.update((place, range(i1, i2)) for place in range(j1, j2))
        to.in_order = frozenset(to.same.values())
        self._free -= to.in_order

    def _keys_of_source(self) -> list[str]:
        """The keys of the claim's words; where the source has a word of the same meaning instead, that word's."""
        to = self.alignment
        by_key = {word.key: word for word in to.source if word.is_content and not word.is_figure}
        keys = [word.key for word in to.claim]
        for place, word in enumerate(to.claim):
            if self._in_english and word.is_content and not word.is_figure and word.key not in by_key:
                keys[place] = next((k for k, other in by_key.items() if mean_the_same(other.text, word.text)), word.key)
        return keys

    def opposites_in_place(self) -> None:
        """A word and its opposite in the same place, before either is looked for elsewhere; two that both have are exchanged or moved."""
        to = self.alignment
        left = {to.source[i].key for i in self._free}
        said = {to.claim[place].key for place in self._open()}
        for place in self._open():
            both = to.claim[place].key in left
            self._oppose(place, [i for i in self._slot.get(place, ()) if not (both and to.source[i].key in said)])

    def moved(self) -> None:
        """Equal words in another order."""
        by_key: dict[str, list[int]] = {}
        for i in sorted(self._free):
            by_key.setdefault(self.alignment.source[i].key, []).append(i)
        for place in self._open(figures=True):
            word = self.alignment.claim[place]
            if word.is_content and by_key.get(word.key):
                self._join(self.alignment.same, place, by_key[word.key].pop(0))

    def by_meaning(self) -> None:
        """English words of the same meaning, those in the same place first."""
        if not self._in_english:
            return
        to = self.alignment
        for place in self._open():
            word, here = to.claim[place], self._slot.get(place, range(0))
            if not word.is_content:
                continue
            for i in (*here, *(i for i in sorted(self._free) if i not in here)):
                other = to.source[i]
                if (
                    i in self._free
                    and other.is_content
                    and not other.is_figure
                    and mean_the_same(other.text, word.text)
                ):
                    self._join(to.same, place, i)
                    break

    def opposites_in_clause(self) -> None:
        """Opposites elsewhere in the clause that a clause of the claim comes from."""
        to = self.alignment
        comes_from: dict[int, set[int]] = {}
        for clause in {word.clause for word in to.claim}:
            counts = Counter(
                to.source[i].clause
                for place, i in to.same.items()
                if to.claim[place].clause == clause and to.claim[place].is_content
            )
            enough = _SHARE_OF_CLAUSE * counts.total()
            comes_from[clause] = {one for one, count in counts.items() if count >= enough}
        for place in self._open():
            clauses = comes_from[to.claim[place].clause]
            self._oppose(place, [i for i in sorted(self._free) if to.source[i].clause in clauses])

    def _open(self, *, figures: bool = False) -> list[int]:
        to = self.alignment
        return [
            place
            for place, word in enumerate(to.claim)
            if place not in to.same and place not in to.opposed and (figures or not word.is_figure) and not word.denies
        ]

    def _oppose(self, place: int, among: Sequence[int]) -> None:
        word = self.alignment.claim[place]
        for i in among:
            other = self.alignment.source[i]
            if i not in self._free or other.is_figure or other.denies:
                continue
            by_meaning = self._in_english and word.is_content and other.is_content
            if self._grammar.are_opposites(other.text, word.text) or (
                by_meaning and are_opposites(other.text, word.text)
            ):
                self._join(self.alignment.opposed, place, i)
                return

    def _join(self, kind: dict[int, int], place: int, i: int) -> None:
        kind[place] = i
        self._free.discard(i)
