"""Styled texts in Telegram's form: plain text and a list of entities, so that no content is parsed as markup.

Telegram counts UTF-16 units and accepts 4,096 of them per message; longer texts are split at the ends of sentences.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from citewell.text.sentences import sentence_spans

MAX_UNITS = 4_096
MAX_CAPTION_UNITS = 1_024
MAX_ENTITIES = 100
"""Entities per message; Telegram ignores any beyond these."""
_HIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters and those that change the writing direction, with which one name could pose as another."""
_MARKUP = re.compile(r"\*\*([^*\n]{1,400})\*\*|^#{1,6}[ \t]+([^\n]{1,400})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RichStyle:
    """A span of characters with one of Telegram's styles: `bold`, `italic`, `code`, `pre`, `blockquote`."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class RichPart:
    """One message: its text, and styles with offset and length in UTF-16 units, as (kind, offset, length)."""

    text: str
    styles: tuple[tuple[str, int, int], ...] = ()


@dataclass(slots=True)
class Rich:
    """A text built piece by piece."""

    _pieces: list[str] = field(default_factory=list[str])
    _styles: list[RichStyle] = field(default_factory=list[RichStyle])
    _length: int = 0

    def add(self, text: str, kind: str | None = None) -> Rich:
        """Add text, in a style if one is named."""
        shown = _HIDDEN.sub("", text)
        if kind is not None and shown.strip():
            self._styles.append(RichStyle(self._length, self._length + len(shown), kind))
        self._pieces.append(shown)
        self._length += len(shown)
        return self

    def join(self, other: Rich) -> Rich:
        """Add another text with its styles."""
        self._styles += [RichStyle(s.start + self._length, s.end + self._length, s.kind) for s in other._styles]
        self._pieces += other._pieces
        self._length += other._length
        return self

    @property
    def text(self) -> str:
        """The text without styles."""
        return "".join(self._pieces)

    def parts(self, limit: int = MAX_UNITS) -> list[RichPart]:
        """The text as messages of at most `limit` UTF-16 units each, split where sentences end; none if it is blank."""
        text = self.text
        units = [0, *accumulate(2 if ord(character) > 0xFFFF else 1 for character in text)]
        return [_part(text, units, self._styles, start, end) for start, end in _cuts(text, units, limit)]


def rich_answer(text: str) -> Rich:
    """An answer with a chat model's `**bold**` and `# headings` as styles; everything else stays unchanged."""
    rich, place = Rich(), 0
    for match in _MARKUP.finditer(text):
        rich.add(text[place : match.start()]).add(match[1] or match[2] or "", "bold")
        place = match.end()
    return rich.add(text[place:])


def one_line(text: str, limit: int) -> str:
    """A name or label on one line, shortened in the middle to `limit` characters."""
    line = " ".join(_HIDDEN.sub("", text[: 8 * limit]).split())
    if len(line) <= limit:
        return line
    tail = limit // 3
    return f"{line[: limit - tail - 1]}…{line[-tail:]}"


def _cuts(text: str, units: Sequence[int], limit: int) -> Iterator[tuple[int, int]]:
    start, end, length = _skip_space(text, 0), 0, len(text)
    stops = [*(stop for _, stop in sentence_spans(text)), length]
    while start < length:
        fits = bisect_right(units, units[start] + limit) - 1  # how far this message can go
        if fits >= length:
            end = length
        else:
            stop = bisect_right(stops, fits)
            end = stops[stop - 1] if stop and stops[stop - 1] > start else _word_end(text, start, fits)
        if text[start:end].strip():
            yield start, end
        start = _skip_space(text, end)


def _word_end(text: str, start: int, fits: int) -> int:
    """Cut a sentence that is longer than a message between lines or words, or anywhere if it has neither."""
    for separator in ("\n", " "):
        found = text.rfind(separator, start + (fits - start) // 2, fits)
        if found > start:
            return found
    return fits


def _skip_space(text: str, place: int) -> int:
    while place < len(text) and text[place].isspace():
        place += 1
    return place


def _part(text: str, units: Sequence[int], styles: Iterable[RichStyle], start: int, end: int) -> RichPart:
    while end > start and text[end - 1].isspace():
        end -= 1
    found: list[tuple[str, int, int]] = []
    for style in styles:
        first, last = max(start, style.start), min(end, style.end)
        while first < last and text[first].isspace():
            first += 1
        while last > first and text[last - 1].isspace():
            last -= 1
        if first < last and len(found) < MAX_ENTITIES:
            found.append((style.kind, units[first] - units[start], units[last] - units[first]))
    return RichPart(text[start:end], tuple(found))
