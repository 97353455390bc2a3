"""Headings in text without markup: a short line above others, numbered, underlined, in capitals, or a question."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MAX_HEADING = 80  # characters of the longest heading line
_NUMBERED = re.compile(r"(?:§{1,2}[ \t]*)?(\d{1,3}(?:\.\d{1,3}){0,5})[.)]?[ \t]+(?=[^\W\d_a-zß-öø-ÿ])")
_UNDERLINE = re.compile(r"(=|-|~|\*|_)\1{2,}[ \t]*(?:\n|\Z)")
_ENDS = re.compile(r"[.!?:;,…。！？：；，)\]}>|]\s*\Z")
_QUESTION = re.compile(r"(?:Q(?:uestion)?[ \t]*\d{0,3}[:.)][ \t]*)?[A-ZÀ-ÖØ-Þ¿\"“„«][^:\n]*\?\s*\Z")
_FULL = 0.85  # share of the longest line at which a line counts as full, like a line of prose
_LETTERS_IN_CAPITALS = 4  # fewest letters for capitals not to be an abbreviation
_LEVEL_OF_NUMBERS = 2  # level of "3."; "3.1" is one deeper. A title in capitals ranks above both
_LEVEL_OF_QUESTIONS = 9


@dataclass(frozen=True, slots=True)
class TextHeading:
    """A heading at the start of a paragraph: `paragraph[:end]`; its text begins at `body`, or after the paragraph."""

    title: str
    level: int
    end: int
    body: int


def find_heading(paragraph: str, after: str) -> TextHeading | None:
    """Returns the heading that starts a paragraph; None if there is none.

    A heading needs text below it: more lines of its paragraph, or the next paragraph. One of several numbered lines is
    a list item.
    """
    line, _, rest = paragraph.partition("\n")
    end, rest_start = len(line.rstrip()), len(line) + 1
    title = line.strip()
    if not 0 < len(title) <= _MAX_HEADING:
        return None
    underline = _UNDERLINE.match(rest)
    if underline is not None:
        body = rest_start + underline.end()
        return TextHeading(title, 1 if underline[1] == "=" else 2, end, _past_space(paragraph, body))
    below = rest or after
    level = _level(title)
    if level is None or not below or _level(below.partition("\n")[0].strip()) == level:
        return None
    if rest and not _was_ended(title, rest):
        return None
    return TextHeading(title, level, end, _past_space(paragraph, rest_start))


def _level(title: str) -> int | None:
    """Returns a line's level as a heading; None if it does not have the form of one."""
    if len(title) > _MAX_HEADING:
        return None
    numbered = _NUMBERED.match(title)
    if numbered is not None and (title.endswith("?") or not _ENDS.search(title)):
        return _LEVEL_OF_NUMBERS + numbered[1].count(".")
    if _QUESTION.match(title):
        return _LEVEL_OF_QUESTIONS
    if _ENDS.search(title):
        return None
    letters = sum(character.isalpha() for character in title)
    return 1 if letters >= _LETTERS_IN_CAPITALS and title.isupper() and 2 * letters > len(title) else None


def _was_ended(line: str, rest: str) -> bool:
    """Whether a line is complete: a question, in capitals, or with room for the next word, unlike wrapped prose."""
    below = [other.strip() for other in rest.splitlines()]
    word = below[0].partition(" ")[0]
    if line.isupper() or line.endswith("?"):
        return not word[:1].islower()
    return not word[:1].islower() and len(line) + 1 + len(word) <= _FULL * max(map(len, (line, *below)))


def _past_space(text: str, position: int) -> int:
    return min(len(text), position + len(text[position:]) - len(text[position:].lstrip()))
