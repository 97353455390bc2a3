"""Finds a claim's words in a passage: as they stand, or nearly so, and where."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

from citewell.text.sentences import sentence_spans

_TOKEN = re.compile(r"\w+(?:[.,]\d+)*")
_QUOTED = re.compile(r"[\"“„«»‟]([^\"“”„«»‟\n]{8,})[\"”“»«]")


@dataclass(frozen=True, slots=True)
class Match:
    """`passage[start:end]` and how much of the claim stands there word by word, 0..1 (1 = verbatim)."""

    start: int
    end: int
    ratio: float


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    end: int


def words(text: str) -> list[_Word]:
    """Case-folded words with their places; punctuation and white space do not matter to a match."""
    return [_Word(m[0].casefold(), m.start(), m.end()) for m in _TOKEN.finditer(text)]


def quoted_spans(claim: str) -> list[str]:
    """What stands between quotation marks, eight characters or more."""
    return [m[1] for m in _QUOTED.finditer(claim)]


def find(claim: str, passage: str) -> Match:
    """The stretch of `passage` that holds most of `claim` in order; ratio 0 when nothing does."""
    wanted, have = words(claim), words(passage)
    if not wanted or not have:
        return Match(0, 0, 0.0)
    exact = _exact([w.text for w in wanted], have)
    return exact if exact else _fuzzy(wanted, have)


def _exact(wanted: list[str], have: list[_Word]) -> Match | None:
    texts = [w.text for w in have]
    size = len(wanted)
    for start in range(len(texts) - size + 1):
        if texts[start] == wanted[0] and texts[start : start + size] == wanted:
            return Match(have[start].start, have[start + size - 1].end, 1.0)
    return None


def _fuzzy(wanted: list[_Word], have: list[_Word]) -> Match:
    """Words in common, in order, within a window little longer than the claim."""
    texts = [w.text for w in wanted]
    window = max(len(wanted) + 4, int(len(wanted) * 1.6))
    matcher = SequenceMatcher(None, autojunk=False)
    matcher.set_seq2(texts)
    best = Match(0, 0, 0.0)
    step = max(1, window // 4)
    known = set(texts)
    for first in range(0, max(1, len(have) - window // 2), step):
        stretch = have[first : first + window]
        if sum(w.text in known for w in stretch) <= best.ratio * len(wanted):
            continue
        matcher.set_seq1([w.text for w in stretch])
        blocks = [b for b in matcher.get_matching_blocks() if b.size]
        ratio = sum(b.size for b in blocks) / len(wanted)
        if ratio > best.ratio:
            start, last = stretch[blocks[0].a], stretch[blocks[-1].a + blocks[-1].size - 1]
            best = Match(start.start, last.end, ratio)
    return best


def sentence_around(passage: str, start: int, end: int) -> tuple[int, int]:
    """The whole sentences that `passage[start:end]` touches."""
    touched = [(a, b) for a, b in sentence_spans(passage) if a < end and b > start]
    return (touched[0][0], touched[-1][1]) if touched else (start, end)
