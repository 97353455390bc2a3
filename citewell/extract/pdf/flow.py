"""Words to running text: lines joined, hyphenation undone, and one rectangle per span (a line, or a sentence's part of it)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.extract.pdf.geometry import Rect
from citewell.extract.pdf.words import Word

_SENTENCE_END = re.compile(r"[.!?。！？][\"'”’»)\]]*$")
_WIDE_SENTENCE_END = re.compile(r"[。！？]$")
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_LINE_HYPHENS = ("-", "\x02", "\u00ad", "\u2010")
Line = Sequence[Word]


@dataclass(frozen=True, slots=True)
class Flow:
    """Text with the place of each span: `rects[i]` holds `text[starts[i]:starts[i + 1]]`."""

    text: str
    starts: tuple[int, ...]
    rects: tuple[Rect, ...]


def flow(lines: Sequence[Line]) -> Flow:
    """Running text of lines that follow each other in one paragraph."""
    text = ""
    starts: list[int] = []
    rects: list[Rect] = []
    for line in lines:
        for part in _sentence_parts(line):
            words = _line_text(part)
            text = _joined(text, words, same_line=part[0] is not line[0] and not part[0].space_before)
            starts.append(len(text) - len(words))
            rects.append(_around(part))
    return Flow(text.replace("\x02", "-"), tuple(starts), tuple(rects))


def _sentence_parts(line: Line) -> list[list[Word]]:
    parts: list[list[Word]] = [[]]
    for index, word in enumerate(line):
        parts[-1].append(word)
        following = line[index + 1] if index + 1 < len(line) else None
        if following is None:
            break
        ends = _SENTENCE_END if following.space_before else _WIDE_SENTENCE_END
        if ends.search(word.text):
            parts.append([])
    return parts


def _line_text(words: Sequence[Word]) -> str:
    return "".join(" " * (i > 0 and w.space_before) + w.text for i, w in enumerate(words))


def _joined(text: str, addition: str, *, same_line: bool) -> str:
    if not text or same_line:
        return text + addition
    if text.endswith(_LINE_HYPHENS) and len(text) > 1 and text[-2].isalpha():
        return text[:-1] + addition if addition[:1].islower() else text + addition
    if _WIDE.match(text[-1]) and _WIDE.match(addition[:1]):
        return text + addition
    return f"{text} {addition}"


def _around(words: Sequence[Word]) -> Rect:
    rect = words[0].rect
    for word in words[1:]:
        rect = rect.union(word.rect)
    return rect
