"""Finds a claim's words in a passage: as they stand, or nearly so, and where."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from citewell.text.sentences import sentence_spans
from citewell.text.tokens import MARKS

_TOKEN = re.compile(rf"[\w{MARKS}]+(?:[.,]\d+)*")
_QUOTED = re.compile(r"[\"“„«»‟]([^\"“”„«»‟\n]{8,})[\"”“»«]")
# A claim of more words, which no sentence has, is looked for part by part; what comes after the last part counts as missing.
_MAX_CLAIM_LENGTH = 100
_MAX_PARTS = 5
# Windows of a passage that are compared word by word with a part of a claim: those with most words in common.
_MAX_WINDOWS = 32
# Pairs of equal words up to which two texts are aligned as `difflib` does it, whose time is their square and more.
_MAX_PAIRS = 400


@dataclass(frozen=True, slots=True)
class Match:
    """`passage[start:end]` and how much of the claim is there word by word, 0..1 (1 = verbatim).

    shown: what the place says, where that is more than its own words: a row with its header, the heading above
    """

    start: int
    end: int
    ratio: float
    shown: str = field(default="", compare=False)


class _Word(NamedTuple):
    text: str
    start: int
    end: int


def words(text: str) -> list[_Word]:
    """Case-folded words with their places; punctuation and white space do not matter to a match."""
    return [_Word(m[0].casefold(), m.start(), m.end()) for m in _TOKEN.finditer(text)]


def quoted_spans(claim: str) -> list[str]:
    """What is between quotation marks, eight characters or more."""
    return [m[1] for m in _QUOTED.finditer(claim)]


def find_match(claim: str, passage: str) -> Match:
    """The stretch of `passage` that holds most of `claim` in order; ratio 0 when nothing does."""
    wanted, have = _read(claim), _read(passage)
    if not wanted or not have:
        return Match(0, 0, 0.0)
    place = _joined(passage).find(_joined(claim))
    if place >= 0:
        first = _joined(passage).count(" ", 0, place)
        return Match(have[first].start, have[first + len(wanted) - 1].end, 1.0)
    return _fuzzy(wanted, have, _MAX_WINDOWS) if len(wanted) <= _MAX_CLAIM_LENGTH else _in_parts(wanted, have)


@lru_cache(maxsize=128)
def _read(text: str) -> tuple[_Word, ...]:
    """`words`, remembered: an answer's claims are all compared with the same few passages."""
    return tuple(words(text))


@lru_cache(maxsize=128)
def _joined(text: str) -> str:
    """The words of a text with one space before and after each."""
    return f" {' '.join(word.text for word in _read(text))} "


def _in_parts(wanted: Sequence[_Word], have: Sequence[_Word]) -> Match:
    """What is found of all parts together, from the first place to the last."""
    starts = range(0, len(wanted), _MAX_CLAIM_LENGTH)[:_MAX_PARTS]
    parts = [wanted[first : first + _MAX_CLAIM_LENGTH] for first in starts]
    found = [_fuzzy(part, have, _MAX_WINDOWS // _MAX_PARTS) for part in parts]
    some = [match for match in found if match.ratio]
    if not some:
        return Match(0, 0, 0.0)
    ratio = sum(match.ratio * len(part) for match, part in zip(found, parts, strict=True)) / len(wanted)
    return Match(min(match.start for match in some), max(match.end for match in some), ratio)


def _fuzzy(wanted: Sequence[_Word], have: Sequence[_Word], most: int) -> Match:
    """Words in common, in order, within a window little longer than the claim; the best of `most` windows."""
    texts = [w.text for w in wanted]
    window = max(len(wanted) + 4, int(len(wanted) * 1.6))
    best, best_first, best_count = Match(0, 0, 0.0), 0, 0
    for shared, first in _windows(texts, have, window)[:most]:
        if shared < best_count:
            break
        stretch = have[first : first + window]
        count, start, last = _aligned(texts, [w.text for w in stretch])
        if count > best_count or (count == best_count and first < best_first):
            best = Match(stretch[start].start, stretch[last].end, count / len(wanted))
            best_first, best_count = first, count
    return best


def _windows(texts: Sequence[str], have: Sequence[_Word], window: int) -> list[tuple[int, int]]:
    """How many words each window shares with the claim, and where it begins; those with most first."""
    known, step = Counter(texts), max(1, window // 4)
    places = [index for index, word in enumerate(have) if word.text in known]
    found: list[tuple[int, int]] = []
    low = high = 0
    for first in range(0, max(1, len(have) - window // 2), step):
        while low < len(places) and places[low] < first:
            low += 1
        while high < len(places) and places[high] < first + window:
            high += 1
        if high > low:
            found.append((high - low, first))
    return sorted(found, key=lambda place: -place[0])


def _aligned(texts: Sequence[str], stretch: Sequence[str]) -> tuple[int, int, int]:
    """How many words of the claim are in the stretch in order, and the places there of the first and the last of them."""
    one, other = Counter(texts), Counter(stretch)
    if sum(count * other[word] for word, count in one.items()) > _MAX_PAIRS:
        known = [index for index, word in enumerate(stretch) if word in one]
        return _common_subsequence(texts, stretch), known[0], known[-1]
    matcher = SequenceMatcher(None, stretch, texts, autojunk=False)
    blocks = [b for b in matcher.get_matching_blocks() if b.size]
    return sum(b.size for b in blocks), blocks[0].a, blocks[-1].a + blocks[-1].size - 1


def _common_subsequence(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence, a bit per word of `one` (Hyyrö, "Bit-Parallel LCS-length Computation", 2004)."""
    places: dict[str, int] = {}
    for index, word in enumerate(one):
        places[word] = places.get(word, 0) | 1 << index
    full = (1 << len(one)) - 1
    row = full
    for word in other:
        met = row & places.get(word, 0)
        row = (row + met | row - met) & full
    return len(one) - row.bit_count()


def surrounding_sentences(passage: str, start: int, end: int) -> tuple[int, int]:
    """The whole sentences that `passage[start:end]` touches."""
    touched = [(a, b) for a, b in sentence_spans(passage) if a < end and b > start]
    return (touched[0][0], touched[-1][1]) if touched else (start, end)
