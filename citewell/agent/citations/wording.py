"""Compares a claim with its sources word by word: what it changes, adds and leaves out, and whether that turns a sentence round."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from citewell.agent.citations.alignment import Alignment, align
from citewell.agent.citations.grammar import Grammar, grammar_of
from citewell.agent.citations.matching import find_match, surrounding_sentences, words
from citewell.agent.citations.phrases import ComparedWord, read_words, stem
from citewell.text.language import detect_language
from citewell.text.meanings import is_noun, is_word, mean_the_same
from citewell.text.sentences import sentence_spans

MAX_CLAIM_CHARACTERS, MAX_CLAIM_WORDS, MAX_SOURCE_WORDS, MAX_SENTENCES = 2_000, 120, 260, 3
"""What is compared: a claim's beginning, and the sentences of its sources that have most of its words."""
MAX_DOUBTS, MAX_REASON_CHARACTERS = 20, 80
_MIN_NEW_WORDS = 2  # of a claim that a further sentence of the source must have
_SHORT = 4  # content words of a stretch that is one thing said for another
_IN_REACH = 3  # content words after a denial, or before one that ends its clause, that it denies
_AROUND, _BESIDE = 6, 2  # words around a denial in which these are, and beside a word that limits what is said
_SAME_LANGUAGE = (
    0.5  # share of a claim's content in the source from which it is in the source's language, whatever it looks like
)
_TITLE = 0.6  # share of words in capitals from which capitals mark no names
_MARKS = 12  # characters before a word in which a sentence may end
_SHARED = 3  # first letters of a name and of what is derived from it: Ghana, Ghanaian
_WORD = re.compile(r"[^\W_]+")
_RUN = re.compile(r"[A-Z]\w*+(?: [A-Z]\w*+)+")  # "Deep Neural Networks", where the source has "DNNs"
_ENDS = re.compile(r"\w{3}[.!?]\W*\Z")  # of a sentence; "M." and "Dr." are no words


class Replacement(NamedTuple):
    """Words that a claim has in place of the source's. restored: the claim with the source's words."""

    said: str
    instead_of: str
    restored: str
    are_nouns: bool


@dataclass(frozen=True, slots=True)
class Differences:
    """What speaks against a claim. contradictions: it says the opposite, or something else of another; doubts: it says something else, or
    more; replacements: what may mean the same; covered: share of its content that the source has, 0..1."""

    contradictions: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    replacements: tuple[Replacement, ...] = ()
    covered: float = 1.0


class _Sentence(NamedTuple):
    words: tuple[ComparedWord, ...]
    keys: frozenset[str]


def compare_wording(claim: str, texts: Sequence[str], evidence: str) -> Differences:
    """How a claim differs from the sentences of `texts` that it comes from; a name may be anywhere in `evidence`.

    Where claim and texts are in different languages, or in one whose grammar is not known, names alone are compared.
    """
    language = _language("\n".join(texts))
    grammar = grammar_of(language)
    alignment = _aligned(claim, texts, language, grammar) if grammar is not None else None
    own = language if alignment is not None and alignment.covered() >= _SAME_LANGUAGE else detect_language(claim)
    names = _foreign_names(claim, own, evidence)
    if grammar is None or alignment is None or (own is not None and own != language):
        return Differences(doubts=names)
    turned = list(_turned_round(alignment))
    if not _sides_changed(alignment, grammar):
        turned += [*_exchanged(alignment), *_inverted(alignment, grammar)]
    elif turned:
        turned.clear()  # "A is more than B" and "B is less than A"
    elif alignment.covered() == 1.0:
        turned.append("what is compared is exchanged")
    turned += _other_figures(alignment)
    doubts = [*names, *_other_reach(alignment, grammar)]
    replaced = tuple(_replacements(claim, alignment, _keys(evidence, language)))[:MAX_DOUBTS]
    return Differences(tuple(turned[:MAX_DOUBTS]), tuple(doubts[: 2 * MAX_DOUBTS]), replaced, alignment.covered())


def is_quoted(claim: str, text: str) -> bool:
    """Whether a text has the claim word by word, and no denial right before it or limit right after it in the same sentence."""
    found = find_match(claim, text)
    if found.ratio < 1.0 or len(words(text[found.start : found.end])) != len(words(claim)):
        return False
    grammar = grammar_of(_language(text))
    start, end = surrounding_sentences(text, found.start, found.end)
    before = [word.text for word in words(text[start : found.start])[-_IN_REACH:]]
    after = [word.text for word in words(text[found.end : end])[:_BESIDE]]
    return grammar is None or not (any(map(grammar.denies, before)) or grammar.reach.keys() & set(after))


def _aligned(claim: str, texts: Sequence[str], language: str | None, grammar: Grammar) -> Alignment | None:
    said = read_words(claim[:MAX_CLAIM_CHARACTERS], language, grammar)[:MAX_CLAIM_WORDS]
    source = _comes_from(said, [one for text in texts for one in _sentences(text, language)])
    return align(said, source, grammar, in_english=language in (None, "en")) if source else None


@lru_cache(maxsize=64)
def _language(text: str) -> str | None:
    return detect_language(text)


@lru_cache(maxsize=64)
def _sentences(text: str, language: str | None) -> tuple[_Sentence, ...]:
    grammar = grammar_of(language)
    if grammar is None:
        return ()
    found = [tuple(read_words(text[start:end], language, grammar)) for start, end in sentence_spans(text)]
    return tuple(_Sentence(words, frozenset(word.key for word in words if word.is_content)) for words in found)


@lru_cache(maxsize=64)
def _keys(evidence: str, language: str | None) -> frozenset[str]:
    return frozenset(stem(match[0], language) for match in _WORD.finditer(evidence))


@lru_cache(maxsize=64)
def _words(evidence: str) -> frozenset[str]:
    return frozenset(match[0].casefold() for match in _WORD.finditer(evidence))


@lru_cache(maxsize=64)
def _capitals(evidence: str) -> dict[str, set[str]]:
    """The words in capitals, by their first letters."""
    found: dict[str, set[str]] = {}
    for match in _WORD.finditer(evidence):
        if match[0][0].isupper():
            found.setdefault(match[0][:_SHARED].casefold(), set()).add(match[0].casefold())
    return found


def _comes_from(words: Sequence[ComparedWord], sentences: Sequence[_Sentence]) -> list[ComparedWord]:
    """The words of the sentences that have most of the claim's content, their clauses numbered throughout."""
    missing = {word.key for word in words if word.is_content}
    chosen: list[int] = []
    while len(chosen) < MAX_SENTENCES:
        gains = [(len(missing & one.keys), -len(one.words), -place) for place, one in enumerate(sentences)]
        gain, _, place = max(gains, default=(0, 0, 0))
        if gain < (_MIN_NEW_WORDS if chosen else 1):
            break
        chosen.append(-place)
        missing -= sentences[-place].keys
    found: list[ComparedWord] = []
    for place in sorted(chosen):
        first = found[-1].clause + 1 if found else 0
        found += [word._replace(clause=first + word.clause) for word in sentences[place].words]
    return found[:MAX_SOURCE_WORDS]


def _foreign_names(claim: str, language: str | None, evidence: str) -> tuple[str, ...]:
    """Names that the evidence lacks. German writes every noun in capitals, a title every word."""
    found = list(_WORD.finditer(claim))
    capitals = [match for match in found if match[0][0].isupper()]
    longer = [match[0] for match in found[1:] if len(match[0]) >= _SHORT]
    is_title = len(longer) > 1 and sum(word[0].isupper() for word in longer) > _TITLE * len(longer)
    if language == "de" or is_title:
        return ()
    known = _words(evidence)
    spelled_out = {
        word.casefold()
        for run in _RUN.findall(claim[:MAX_CLAIM_CHARACTERS])
        if not {(initials := "".join(word[0] for word in run.split()).casefold()), f"{initials}s"}.isdisjoint(known)
        for word in run.split()
    }
    names: list[str] = []
    for match in capitals:
        word = match[0].casefold()
        before = claim[max(0, match.start() - _MARKS) : match.start()]
        opens = match is found[0] or _ENDS.search(before) is not None
        is_name = (
            len(word) > 1
            and any(c.islower() for c in match[0])
            and not (opens and (is_word(word) or language not in (None, "en")))
        )
        key = stem(match[0], language)
        if is_name and key and word not in known and key not in _keys(evidence, language):
            alike = _capitals(evidence).get(word[:_SHARED], ())
            if word not in spelled_out and not any(mean_the_same(word, other) for other in alike):
                names.append(f"name {match[0][:MAX_REASON_CHARACTERS]} is not in the source")
    return tuple(dict.fromkeys(names))[:MAX_DOUBTS]


def _turned_round(to: Alignment) -> Iterator[str]:
    """Clauses that deny what the source affirms, affirm what it denies, or say the opposite of it."""
    for clause in sorted({word.clause for word in to.claim}):
        places = [place for place, word in enumerate(to.claim) if word.clause == clause]
        opposed = [place for place in places if place in to.opposed]
        used = {to.same[place] for place in places if place in to.same} | {to.opposed[place] for place in opposed}
        if not used:
            continue
        denies = any(to.claim[place].denies for place in places)
        others = set(to.same.values()) - used  # a denial that another clause of the claim has
        denied = any(
            word.denies and i not in others and _reaches(to.source, i, used) for i, word in enumerate(to.source)
        )
        if (denies + denied + len(opposed)) % 2 == 0:
            continue
        if opposed:
            yield f"{_said(to.claim[opposed[0]])} is the opposite of {_said(to.source[to.opposed[opposed[0]]])}"
        else:
            yield "only one of claim and source denies"


def _reaches(source: Sequence[ComparedWord], denial: int, used: set[int]) -> bool:
    """Whether a denial is among the words used, or denies one of them."""
    if denial in used:
        return True
    clause = source[denial].clause
    ahead = [i for i in range(denial + 1, min(len(source), denial + 1 + _AROUND)) if source[i].clause == clause]
    ahead = [i for i in ahead if source[i].is_content][:_IN_REACH]
    behind = [i for i in range(max(0, denial - _AROUND), denial) if source[i].clause == clause]
    behind = [i for i in behind if source[i].is_content][-_IN_REACH:]
    return any(i in used for i in (ahead or behind))


def _sides_changed(to: Alignment, grammar: Grammar) -> bool:
    """Whether what comes after "than" comes before it in the source, and the other way round."""
    middle = next((place for place, word in enumerate(to.claim) if grammar.compares(word.text)), None)
    other = next((i for i, word in enumerate(to.source) if grammar.compares(word.text)), None)
    if middle is None or other is None:
        return False
    pairs = [(place, i) for place, i in to.same.items() if to.claim[place].is_content and to.source[i].text]
    after = [i for place, i in pairs if place > middle]
    before = [i for place, i in pairs if place < middle]
    return bool(after) and all(i < other for i in after) and any(i > other for i in before)


def _exchanged(to: Alignment) -> Iterator[str]:
    """Pairs of short stretches, each of which has what the source has in the other's place."""
    short = [slot for slot in to.slots if _is_short(to.source, slot[0]) and _is_short(to.claim, slot[1])]
    contents = [(_contents(to.source, source), _contents(to.claim, claim)) for source, claim in short]
    for number, (first, first_said) in enumerate(contents):
        for second, second_said in contents[number + 1 :]:
            there = [first[key] for key in first if key not in second and key in second_said]
            back = [second[key] for key in second if key not in first and key in first_said]
            pairs = ((one, other) for one in there for other in back if one.is_figure == other.is_figure)
            one, other = next(pairs, (None, None))
            if one is not None and other is not None and not mean_the_same(one.text, other.text):
                yield f"{_said(one)} and {_said(other)} are exchanged"


def _inverted(to: Alignment, grammar: Grammar) -> Iterator[str]:
    """Stretches "A paid B" of which the claim has "B paid A"."""
    for (first, first_said), (second, second_said) in pairwise(to.slots):
        middle = range(first_said.stop, second_said.start)
        if not _is_short(to.claim, middle):
            continue
        if first_said and second and not first and not second_said:
            before, after = [to.claim[place] for place in first_said], [to.source[i] for i in second]
        elif first and second_said and not first_said and not second:
            before, after = [to.source[i] for i in first], [to.claim[place] for place in second_said]
        else:
            continue
        for size in range(1, min(_SHORT, len(before) - 1) + 1):
            moved, between = before[:size], before[size:]
            keys = [word.key for word in (*between, *moved)]
            is_one = all(word.is_content for word in moved) and keys == [word.key for word in after]
            if is_one and not all(grammar.joins(word.text) for word in between):
                yield f"{_said(moved[0])} and {_said(to.claim[middle[0]])} are exchanged"


def _is_short(words: Sequence[ComparedWord], places: range) -> bool:
    """Whether a stretch is a few content words. With an article or a preposition it is a phrase, which may move as a whole."""
    return 0 < len(places) <= _SHORT and all(words[place].is_content for place in places)


def _contents(words: Sequence[ComparedWord], places: range) -> dict[str, ComparedWord]:
    return {words[place].key: words[place] for place in places if words[place].is_content}


def _said(word: ComparedWord) -> str:
    return f"“{word.written[:MAX_REASON_CHARACTERS]}”"


def _other_figures(to: Alignment) -> Iterator[str]:
    """Figures in the place of another one."""
    for source, claim in to.slots:
        have = {to.source[i].key: to.source[i] for i in source if to.source[i].is_figure}
        said = {to.claim[place].key: to.claim[place] for place in claim if to.claim[place].is_figure}
        if have and said and have.keys().isdisjoint(said) and len(source) < _SHORT and len(claim) < _SHORT:
            one, other = next(iter(said.values())), next(iter(have.values()))
            yield f"the source has {_said(other)} instead of {_said(one)}"


def _other_reach(to: Alignment, grammar: Grammar) -> Iterator[str]:
    """Words such as "only", "all" and "unless" that the claim adds, or leaves out beside what it says."""
    have, said = ({grammar.reach.get(word.text) for word in words} for words in (to.source, to.claim))
    for place, word in enumerate(to.claim):
        new = word.text in grammar.reach and grammar.reach[word.text] not in have
        if new and place not in to.same and place not in to.opposed:
            yield f"{_said(word)} is not in the source"
    used = to.used()
    for i, word in enumerate(to.source):
        missing = word.text in grammar.reach and grammar.reach[word.text] not in said and i not in used
        if missing and any(other in used for other in range(i - _BESIDE, i + _BESIDE + 1)):
            yield f"{_said(word)} of the source is left out"


def _replacements(claim: str, to: Alignment, known: frozenset[str]) -> Iterator[Replacement]:
    """Content in the place of other content, where neither the grammar nor the dictionary tells how the two are related."""
    used = to.used()
    for source, places in to.slots:
        instead_of = [to.source[i] for i in source if to.source[i].is_content and i not in used]
        own = [to.claim[place] for place in places if to.claim[place].is_content and place not in to.opposed]
        new = [word for word in own if word.key not in known]
        if not new and _is_short(to.source, source) and _is_short(to.claim, places):
            new = own  # the source has these words too, elsewhere
        is_phrase = max(len(source) - len(instead_of), len(places) - len(own)) > _BESIDE
        if (
            not instead_of
            or not new
            or is_phrase
            or len(instead_of) > _SHORT
            or any(word.is_figure for word in (*new, *instead_of))
        ):
            continue
        text = " ".join(word.written for word in instead_of)
        nouns = any(is_noun(word.text) for word in instead_of) and any(is_noun(word.text) for word in new)
        restored = f"{claim[: new[0].start]}{text}{claim[new[-1].end :]}"
        yield Replacement(" ".join(word.written for word in new), text, restored, nouns)
