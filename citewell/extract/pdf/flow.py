"""Words to running text: lines joined, hyphenation undone, and one rectangle per span (a line, or a sentence's part of it)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.extract.pdf.geometry import Rect
from citewell.extract.pdf.lines import Line, around
from citewell.extract.pdf.words import HYPHEN, Word

_SENTENCE_END = re.compile(r"[.!?。！？][\"'”’»)\]]*$")
_WIDE_SENTENCE_END = re.compile(r"[。！？][\"'”’»)\]]*$")
_WIDE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\u3000-\u30ff]")
_LINE_HYPHENS = (HYPHEN, "\u00ad", "-", "\u2010")
_LAST_WORD = re.compile(r"[^\W\d_]+$")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_CHARACTER = 0.6
_END_MARKS = frozenset(".!?。！？\"'”’»)]")


@dataclass(frozen=True, slots=True)
class Flow:
    """Text with the place of each span: `rects[i]` holds `text[starts[i]:starts[i + 1]]`."""

    text: str
    starts: tuple[int, ...]
    rects: tuple[Rect, ...]


def flow(lines: Sequence[Line], page_text: str = "", keep_breaks: bool = False) -> Flow:
    """Running text of lines that follow each other in one paragraph.

    page_text decides whether a hyphen at a line's end belongs to the word: it does when the word is also found with it.
    keep_breaks puts a line feed instead of a space between lines, and indents them as they stand.
    """
    text = ""
    starts: list[int] = []
    rects: list[Rect] = []
    left = min((line.x0 for line in lines), default=0.0)
    for line in lines:
        words = line.words
        for start, end in _sentence_parts(words):
            addition = _text_of(words[start:end])
            if start:
                joint = " " if words[start].space_before else ""
            elif keep_breaks:
                joint = ("\n" if text else "") + " " * round((line.x0 - left) / (_CHARACTER * line.size))
            else:
                text, joint = _across_lines(text, addition, page_text)
            starts.append(len(text) + len(joint))
            text += joint + addition
            rects.append(line.rect if end - start == len(words) else around(words[start:end]))
    return Flow(text.replace(HYPHEN, "-"), tuple(starts), tuple(rects))


def _sentence_parts(words: Sequence[Word]) -> list[tuple[int, int]]:
    parts: list[tuple[int, int]] = []
    start = 0
    for index in range(len(words) - 1):
        text = words[index].text
        if text[-1] not in _END_MARKS:
            continue
        ends = _SENTENCE_END if words[index + 1].space_before else _WIDE_SENTENCE_END
        if ends.search(text):
            parts.append((start, index + 1))
            start = index + 1
    parts.append((start, len(words)))
    return parts


def _text_of(words: Sequence[Word]) -> str:
    return words[0].text + "".join(f" {w.text}" if w.space_before else w.text for w in words[1:])


def _across_lines(text: str, addition: str, page_text: str) -> tuple[str, str]:
    """The text so far, perhaps without its hyphen, and what to put before the next line."""
    if not text:
        return "", ""
    if text.endswith(_LINE_HYPHENS) and len(text) > 1 and text[-2].isalpha():
        return (text, "") if _keeps_hyphen(text, addition, page_text) else (text[:-1], "")
    if _WIDE.match(text[-1]) and _WIDE.match(addition[0]):
        return text, ""
    return text, " "


def _keeps_hyphen(text: str, addition: str, page_text: str) -> bool:
    """Compounds keep it: before a capital or digit, or when the page has the word with its hyphen and not without."""
    before, after = _LAST_WORD.search(text[:-1]), _FIRST_WORD.match(addition)
    if not addition[:1].islower() or before is None or after is None:
        return True
    if text[-1] == "\u00ad":
        return False
    whole = before.group() + after.group()
    return whole not in page_text and f"{before.group()}-{after.group()}" in page_text
