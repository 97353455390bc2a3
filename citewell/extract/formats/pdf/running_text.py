"""Words to running text: lines joined, hyphenation undone, in spans that know their words (a line, or part of it)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from citewell.extract.formats.pdf.lines import Line
from citewell.extract.formats.pdf.words import HYPHEN, Word
from citewell.text.known_words import is_compound
from citewell.text.language import detect_language
from citewell.text.lines import leads_to_value

_SENTENCE_END = re.compile(r"[.!?。！？][\"'”’»)\]]*$")
_WIDE_SENTENCE_END = re.compile(r"[。！？][\"'”’»)\]]*$")
_WIDE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\u3000-\u30ff]")
_LINE_HYPHENS = (HYPHEN, "\u00ad", "-", "\u2010")
_LAST_WORD = re.compile(r"[^\W\d_]+$")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_BETWEEN = frozenset({"and", "or", "to", "und", "oder", "bis", "et", "ou", "y", "o", "e"})
_CHARACTER = 0.6
"""Ems that a character of a monospaced font advances (Courier: 0.6), to turn the indentation of code into spaces."""
_END_MARKS = frozenset(".!?。！？\"'”’»)]")


class Span(NamedTuple):
    """Words of one line, and where their text begins."""

    start: int
    words: Sequence[Word]


@dataclass(frozen=True, slots=True)
class RunningText:
    """Text and its spans, in order: each extends from its start to that of the next."""

    text: str
    spans: Sequence[Span]


def join_lines(lines: Sequence[Line], page_text: str = "", keep_breaks: bool = False) -> RunningText:
    """Returns the running text of successive lines of one paragraph.

    page_text decides whether a hyphen at a line end belongs to the word: it does if the page also has the word with it.
    A line that ends with a value after a row of dots keeps its break.
    keep_breaks puts a line feed instead of a space between lines, and keeps their indentation.
    """
    text = ""
    spans: list[Span] = []
    begun = 0
    left = min((line.x0 for line in lines), default=0.0)
    for line in lines:
        words = line.words
        for start, end in _sentence_parts(words):
            part = words if end - start == len(words) else words[start:end]
            addition = _text_of(part)
            if start:
                joint = " " if words[start].space_before else ""
            elif keep_breaks:
                joint = ("\n" if text else "") + " " * round((line.x0 - left) / (_CHARACTER * line.size))
            elif text and (leads_to_value(text[begun:]) or _is_label(words)):
                joint = "\n"
            else:
                text, joint = _across_lines(text, addition, page_text)
            begun = begun if start else len(text) + len(joint)
            spans.append(Span(len(text) + len(joint), part))
            text += joint + addition
    return RunningText(text.replace(HYPHEN, "-"), spans)


def _is_label(words: Sequence[Word]) -> bool:
    """Whether a line is a label with its value after a row of dots, rather than the end of a label begun above."""
    return not words[0].text[:1].islower() and leads_to_value(_text_of(words))


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
    """Returns the text so far, perhaps without its hyphen, and the separator before the next line."""
    if not text:
        return "", ""
    if text.endswith(_LINE_HYPHENS) and len(text) > 1 and text[-2].isalnum():
        if _is_suspended(text, addition, page_text):
            return text, " "
        return (text, "") if _keeps_hyphen(text, addition, page_text) else (text[:-1], "")
    if _begins_word(text, addition, page_text):
        return text, ""
    if _WIDE.match(text[-1]) and _WIDE.match(addition[0]):
        return text, ""
    return text, " "


def _begins_word(text: str, addition: str, page_text: str) -> bool:
    """Whether a hyphen after a space begins the word on the next line: `in- and -outgoing`, `-v` as elsewhere on the page."""
    after = _FIRST_WORD.match(addition)
    if after is None or not text.endswith(_LINE_HYPHENS) or not text[:-1].endswith(" "):
        return False
    before = text[:-1].split()[-1:]
    return bool(before and before[0] in _BETWEEN) or f" -{after.group()}" in page_text


def _is_suspended(text: str, addition: str, page_text: str) -> bool:
    """Whether the hyphen replaces the rest of a compound that comes later: "short- and long-term", "2- or 4-year"."""
    before, after = _LAST_WORD.search(text[:-1]), _FIRST_WORD.match(addition)
    if after is None:
        return text[-2].isdigit() and not addition[0].isalnum()
    return after.group() in _BETWEEN and (before is None or before.group() + after.group() not in page_text)


def _keeps_hyphen(text: str, addition: str, page_text: str) -> bool:
    """Whether a compound keeps its hyphen: before a capital or digit, if the page has it only with the hyphen, or if it
    cannot be a word that was divided. Typesetters leave no single letter at a line's end.
    """
    before, after = _LAST_WORD.search(text[:-1]), _FIRST_WORD.match(addition)
    if not addition[:1].islower() or before is None or after is None:
        return True
    if text[-1] == "\u00ad":
        return False
    first, second = before.group(), after.group()
    if first + second in page_text:
        return False
    if f"{first}-{second}" in page_text or len(first) == 1:
        return True
    return is_compound(first, second) and detect_language(page_text or text) in (None, "en")
