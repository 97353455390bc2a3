"""Cuts an answer into claims: the words that each `[n]` supports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from citewell.agent.citations.bracketed import MarkerReader
from citewell.text.sentences import sentence_spans

_MARKERS = re.compile(r"(?:(?<!\s)\s*+\[\d{1,4}(?:\s*+[,;]\s*+\d{1,4})*+\])+")
_NUMBER = re.compile(r"\d+")
_LINE = re.compile(r"[^\n]+")
_WORD = re.compile(r"\w")
_LEAD = re.compile(r"^(?:[-*•‣▪]\s+|\(?\d{1,3}[.)]\s+|#+\s+|[\s,;:.!?–—]+)+")
_EMPHASIS = re.compile(r"\*{1,3}|_{2,3}|`")
_MIN_CLAIM_LENGTH = 3  # characters of a claim of its own; fewer are a conjunction, or what a list leaves


@dataclass(frozen=True, slots=True)
class Claim:
    """Words of an answer and the numbers cited for them. `sentence` is the whole sentence that contains the words."""

    text: str
    sentence: str
    numbers: tuple[int, ...]


def claims(answer: str) -> list[Claim]:
    """Every cited claim, in order. Several markers in a sentence part it; a marker after the full stop belongs before it."""
    return [claim for sentence, trailing in _sentences(answer) for claim in _of_sentence(sentence, trailing)]


def count_sentences(answer: str) -> int:
    """How many sentences say something, cited or not."""
    return sum(_WORD.search(strip_markers(sentence)) is not None for sentence, _ in _sentences(answer))


def plain_sentences(answer: str) -> list[str]:
    """The sentences that say something, without their markers and without what lists and emphasis put around them."""
    plain = [_plain(strip_markers(sentence)) for sentence, _ in _sentences(answer)]
    return [sentence for sentence in plain if _WORD.search(sentence)]


def strip_markers(text: str) -> str:
    """The text without `[n]`."""
    return _MARKERS.sub("", text)


def marked_numbers(text: str) -> tuple[int, ...]:
    """The numbers in all markers of `text`, in order, unique."""
    found = [int(n) for marker in _MARKERS.finditer(text) for n in _NUMBER.findall(marker[0])]
    return tuple(dict.fromkeys(found))


def keep_known(answer: str, known: frozenset[int]) -> tuple[str, tuple[int, ...]]:
    """The answer with numbers outside `known` taken out of its markers, and those numbers. What is bracketed in code is code."""
    reader = MarkerReader(lambda: known)
    text = reader.read(answer) + reader.finish()
    return text, tuple(dict.fromkeys(reader.removed))


def _of_sentence(sentence: str, trailing: tuple[int, ...]) -> Iterator[Claim]:
    """The claims of a sentence; `trailing` are cited behind it, for what no marker of its own follows.

    All markers without words of their own cite the whole sentence together. Were each a claim with the whole sentence, checking a
    sentence of n markers would take n times as long as reading it.
    """
    whole = _plain(strip_markers(sentence))
    parts = list(_parts(sentence, trailing))
    wordless = dict.fromkeys(n for part, numbers in parts if len(part) < _MIN_CLAIM_LENGTH for n in numbers)
    for part, numbers in parts:
        if len(part) >= _MIN_CLAIM_LENGTH:
            yield Claim(part, whole, numbers)
        elif wordless:
            yield Claim(whole, whole, tuple(wordless))
            wordless = {}


def _parts(sentence: str, trailing: tuple[int, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The words before each marker, with its numbers; what follows the last one belongs to it unless `trailing` numbers do."""
    position = 0
    part, numbers = "", ()
    for marker in _MARKERS.finditer(sentence):
        if position:
            yield part, numbers
        part, numbers = _plain(sentence[position : marker.start()]), marked_numbers(marker[0])
        position = marker.end()
    tail = _plain(sentence[position:])
    if position and len(tail) >= _MIN_CLAIM_LENGTH and trailing:
        yield part, numbers
        yield tail, trailing
        return
    part = f"{part} {tail}".strip() if len(tail) >= _MIN_CLAIM_LENGTH else part
    if position or trailing:
        yield part, tuple(dict.fromkeys((*numbers, *trailing)))


def _sentences(answer: str) -> list[tuple[str, tuple[int, ...]]]:
    """The sentences of all lines, each with the numbers of markers that follow its full stop, on its line or on lines of their own."""
    out: list[tuple[str, tuple[int, ...]]] = []
    for line in _LINE.findall(answer):
        goes_on = False
        for start, end in sentence_spans(line):
            sentence = line[start:end]
            lead = _MARKERS.match(sentence)
            is_wordless = not _WORD.search(strip_markers(sentence))
            if out and (is_wordless or (lead and goes_on)):
                text, numbers = out[-1]
                behind = sentence if is_wordless or lead is None else lead[0]
                out[-1] = (text, tuple(dict.fromkeys((*numbers, *marked_numbers(behind)))))
                sentence = sentence[len(behind) :]
            if _MARKERS.search(sentence) or _WORD.search(sentence):
                out.append((sentence, ()))
            goes_on = True
    return out


def _plain(text: str) -> str:
    return _EMPHASIS.sub("", _LEAD.sub("", text)).strip(" ,;:")
