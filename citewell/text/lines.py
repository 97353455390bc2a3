"""Which line breaks of a text end something: those of notes, lists and forms do, those of prose that was wrapped to a width do not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby, pairwise

_LINE = re.compile(r"[^\n]*+(?:\n|\Z)")
_LABEL = re.compile(r"[^\W\d_][\w '’/&()-]{0,30}+:(?:\s|\Z)")
_FIRST_WORD = re.compile(r"\S{1,40}")
# A row of dots, close or apart, with the blanks around it.
_DOTS = re.compile(r"(?<![ \t])[ \t]*+(?<![.·…])(?:(?:[.·](?:[ \t]{1,2}(?=[.·]))?+){2,}+|(?:…[ \t]?+)++)[ \t]*+")
_CLOSE_DOTS = 5  # right after a word; four end a sentence that was broken off
_FEW_DOTS = 3  # up to which they are an ellipsis, unless blanks are on both sides and a figure follows
_FIGURE = re.compile(r"[$€£¥]?\d")
_MAX_VALUE = 60  # characters after a row of dots: `300 EUR`, `15 EUR per day`, a page
_OPENING = "\"'“‘«„([¿¡"
_FULL = 0.85  # of the longest line, from which a line has no room for the next word; lines in proportional type differ by so much
_SHORT = 0.6  # of the longest line, up to which a line of wrapped prose was ended by hand
_NARROWEST = 20  # characters of the longest line of wrapped prose
_PAGE_WIDTH = 50  # the same, from which lines none of which has room for the next word are no coincidence


def line_ends(text: str) -> list[int]:
    """The offsets of the line breaks of `text` that end something, in order; empty lines always do, and are left out.

    Prose that was wrapped to a width breaks where the next word has no room. A line that had room for it was ended by its author,
    and so was one with a value after a row of dots, one before a label (`Present: …`), and each of three or more that all begin with a capital or a figure, unless none
    of these had room: German has capitals everywhere.
    """
    if "\n" not in text:
        return []
    lines: list[tuple[int, str]] = [(m.start(), m[0].rstrip()) for m in _LINE.finditer(text) if m[0]]
    ends: list[int] = []
    for filled, block in groupby(lines, key=lambda line: bool(line[1].strip())):
        if filled:
            ends += _ends_of(list(block))
    return ends


def leaders(text: str) -> list[tuple[int, int]]:
    """The spans of the rows of dots that lead from a label to its value on the same line, blanks included.

    Price lists and tables of contents are written so: `Deposit ........ 300 EUR`, `Index . . . . 27`.
    """
    found: list[tuple[int, int]] = []
    for match in _DOTS.finditer(text):
        start, end = match.span()
        dots = match[0].count(".") + match[0].count("·") + 3 * match[0].count("…")
        before, after = match[0][0].isspace(), match[0][-1].isspace()
        if dots <= _FEW_DOTS:
            leads = before and after and _FIGURE.match(text, end) is not None
        else:
            leads = before or dots >= _CLOSE_DOTS
        if leads and start > 0 and text[start - 1] != "\n" and text[end : end + 1] not in ("", "\n", "\r"):
            found.append((start, end))
    return found


def leads_to_value(line: str) -> bool:
    """Whether a line ends with the value that a row of dots leads to."""
    found = leaders(line.rstrip())
    return bool(found) and len(line.rstrip()) - found[-1][1] <= _MAX_VALUE


def _ends_of(block: list[tuple[int, str]]) -> Iterator[int]:
    """The breaks, within lines without an empty one between them, that end something."""
    breaks = list(pairwise(block))
    width = max(len(line.strip()) for _, line in block)
    filled = [_length_with_next_word(line, after) for (_, line), (_, after) in breaks]
    wrapped = _is_wrapped(block, filled, width)
    for ((start, line), (_, after)), length in zip(breaks, filled, strict=True):
        if (
            not wrapped
            or leads_to_value(line)
            or (not _goes_on(after) and (_LABEL.match(after.strip()) or length <= _SHORT * width))
        ):
            yield start + len(line)


def _is_wrapped(block: list[tuple[int, str]], filled: list[int], width: int) -> bool:
    """Whether most lines end where the next word has no room, as those of prose do."""
    if len(filled) == 1 and _goes_on(block[1][1]):
        return True
    if len(filled) > 1 and width >= _PAGE_WIDTH and min(filled) > width:
        return True
    if len(filled) > 1 and all(_begins_large(line) for _, line in block):
        return False
    full = sum(length > _FULL * width for length in filled)
    return width >= _NARROWEST and 2 * full > len(filled)


def _length_with_next_word(line: str, after: str) -> int:
    word = _FIRST_WORD.match(after.strip())
    return len(line.strip()) + 1 + len(word[0] if word else "")


def _begins_large(line: str) -> bool:
    first = line.strip().lstrip(_OPENING)[:1]
    return first.isupper() or first.isdigit()


def _goes_on(line: str) -> bool:
    return line.strip()[:1].islower()
