"""Which line breaks of a text end something: those of notes, lists and forms do, those of prose that was wrapped to a width do not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby, pairwise

_LINE = re.compile(r"[^\n]*+(?:\n|\Z)")
_LABEL = re.compile(r"[^\W\d_][\w '’/&()-]{0,30}+:(?:\s|\Z)")
_FIRST_WORD = re.compile(r"\S{1,40}")
_OPENING = "\"'“‘«„([¿¡"
_FULL = 0.85  # of the longest line, from which a line has no room for the next word; lines in proportional type differ by so much
_SHORT = 0.6  # of the longest line, up to which a line of wrapped prose was ended by hand
_NARROWEST = 20  # characters of the longest line of wrapped prose
_PAGE_WIDTH = 50  # the same, from which lines none of which has room for the next word are no coincidence


def line_ends(text: str) -> list[int]:
    """The offsets of the line breaks of `text` that end something, in order; empty lines always do, and are left out.

    Prose that was wrapped to a width breaks where the next word has no room. A line that had room for it was ended by its author,
    and so was one before a label (`Present: …`), and each of three or more that all begin with a capital or a figure, unless none
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


def _ends_of(block: list[tuple[int, str]]) -> Iterator[int]:
    """The breaks, within lines without an empty one between them, that end something."""
    breaks = list(pairwise(block))
    width = max(len(line.strip()) for _, line in block)
    filled = [_length_with_next_word(line, after) for (_, line), (_, after) in breaks]
    wrapped = _is_wrapped(block, filled, width)
    for ((start, line), (_, after)), length in zip(breaks, filled, strict=True):
        if not wrapped or (not _goes_on(after) and (_LABEL.match(after.strip()) or length <= _SHORT * width)):
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
