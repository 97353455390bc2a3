"""Cuts an answer into claims: the words that each `[n]` stands behind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from citewell.text.sentences import sentence_spans

_MARKERS = re.compile(r"(?:\s*\[\d{1,4}(?:\s*[,;]\s*\d{1,4})*\])+")
_NUMBER = re.compile(r"\d+")
_LINE = re.compile(r"[^\n]+")
_LEAD = re.compile(r"^(?:[-*•‣▪]\s+|\(?\d{1,3}[.)]\s+|#+\s+|[\s,;:.!?–—]+)+")
_EMPHASIS = re.compile(r"\*{1,3}|_{2,3}|`")


@dataclass(frozen=True, slots=True)
class Claim:
    """Words of an answer and the numbers cited for them. `sentence` is the whole sentence that the words stand in."""

    text: str
    sentence: str
    numbers: tuple[int, ...]


def claims(answer: str) -> list[Claim]:
    """Every cited claim, in order. Several markers in a sentence part it; a marker after the full stop belongs before it."""
    return [claim for line in _LINE.finditer(answer) for claim in _of_line(line[0])]


def uncited_sentences(answer: str) -> list[str]:
    """Sentences that carry no marker (a heading, a list's lead-in or a question is none)."""
    out: list[str] = []
    for line in _LINE.finditer(answer):
        for sentence, _ in _sentences(line[0]):
            bare = strip_markers(sentence).strip()
            if not _MARKERS.search(sentence) and bare and not bare.endswith((":", "?")) and not bare.startswith("#"):
                out.append(bare)
    return out


def strip_markers(text: str) -> str:
    """The text without `[n]`."""
    return _MARKERS.sub("", text)


def marked_numbers(text: str) -> tuple[int, ...]:
    """The numbers in all markers of `text`, in order, unique."""
    found = [int(n) for marker in _MARKERS.finditer(text) for n in _NUMBER.findall(marker[0])]
    return tuple(dict.fromkeys(found))


def keep_known(answer: str, known: frozenset[int]) -> tuple[str, tuple[int, ...]]:
    """The answer with numbers outside `known` taken out of its markers, and those numbers."""
    removed: list[int] = []

    def rewrite(match: re.Match[str]) -> str:
        kept: list[int] = []
        for number in map(int, _NUMBER.findall(match[0])):
            (kept if number in known else removed).append(number)
        space = " " if match[0][:1].isspace() else ""
        return space + "".join(f"[{n}]" for n in kept) if kept else ""

    return _MARKERS.sub(rewrite, answer), tuple(dict.fromkeys(removed))


def _of_line(line: str) -> Iterator[Claim]:
    for sentence, trailing in _sentences(line):
        whole = _plain(strip_markers(sentence))
        position = 0
        markers = list(_MARKERS.finditer(sentence))
        for index, marker in enumerate(markers):
            part = _plain(sentence[position : marker.start()])
            numbers = marked_numbers(marker[0])
            if index == len(markers) - 1:
                tail = _plain(sentence[marker.end() :])
                if trailing and len(tail) > 2:
                    yield Claim(part if len(part) > 2 else whole, whole, numbers)
                    yield Claim(tail, whole, trailing)
                    return
                numbers = tuple(dict.fromkeys((*numbers, *trailing)))
                part = f"{part} {tail}".strip() if len(tail) > 2 else part
            yield Claim(part if len(part) > 2 else whole, whole, numbers)
            position = marker.end()
        if not markers and trailing:
            yield Claim(whole, whole, trailing)


def _sentences(line: str) -> list[tuple[str, tuple[int, ...]]]:
    """Sentences of a line, each with the numbers of markers that follow its full stop."""
    out: list[tuple[str, tuple[int, ...]]] = []
    for start, end in sentence_spans(line):
        sentence = line[start:end]
        lead = _MARKERS.match(sentence)
        if lead and out:
            text, numbers = out[-1]
            out[-1] = (text, tuple(dict.fromkeys((*numbers, *marked_numbers(lead[0])))))
            sentence = sentence[lead.end() :]
        if sentence.strip():
            out.append((sentence, ()))
    return out


def _plain(text: str) -> str:
    return _EMPHASIS.sub("", _LEAD.sub("", text)).strip(" ,;:")
