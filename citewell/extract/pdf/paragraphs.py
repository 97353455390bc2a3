"""Lines of a column to paragraphs, by leading, indentation, size, weight and list markers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from citewell.extract.pdf.lines import MARKER, Line
from citewell.extract.pdf.words import HYPHEN

SENTENCE_END = re.compile(r"[.!?:。！？…][\"'”’»)\]]*$")
BULLET = re.compile(r"^[•‣⁃◦∙·●○◘▪▫■□◆◇❖➢➤►▶▸✓✔★☆\uf0b7\uf0a7\uf0d8\uf076\uf0fc]")
_ITEM_BEFORE = re.compile(r"(?:[.!?:;,。；：]|^and|^or)$")
_SAME_EDGE = 2.0
_SIZE_STEP = 0.12
_LEADING_SLACK = 0.25
_LONE_LEADING = 1.75
_INDENT = 0.8
_DEEPEST_INDENT = 6.0
_SHORT_LINE = 0.5


def paragraphs(lines: Sequence[Line]) -> list[list[Line]]:
    """The lines of one column, grouped; the order stays."""
    if not lines:
        return []
    leading = _usual_leading(lines)
    right = max(line.x1 for line in lines)
    groups = [[lines[0]]]
    for i in range(1, len(lines)):
        below = lines[i + 1] if i + 1 < len(lines) else None
        if _starts(groups[-1], lines[i], below, leading, right):
            groups.append([])
        groups[-1].append(lines[i])
    return groups


def opens_item(line: Line) -> bool:
    """Whether the line begins with a bullet or an enumerator and goes on after it."""
    first = line.words[0].text
    if BULLET.match(first):
        return True
    return len(line.words) > 1 and MARKER.match(first) is not None and first not in ("a.", "I.")


def runs_on(group: Sequence[Line], following: Sequence[Line]) -> bool:
    """Whether a paragraph of the next column carries on a sentence that broke off at the foot of this one."""
    last, first = group[-1], following[0]
    if abs(last.size - first.size) > 0.5 or last.bold != first.bold or opens_item(first):
        return False
    ending, beginning = last.words[-1].text, first.words[0].text
    if ending.endswith((HYPHEN, "-")):
        return beginning[:1].islower()
    return len(group) > 1 and SENTENCE_END.search(ending) is None and beginning[:1].islower()


def _usual_leading(lines: Sequence[Line]) -> dict[float, float]:
    """Most frequent distance of baselines between neighbours, by font size."""
    seen: dict[float, Counter[float]] = {}
    for above, below in pairwise(lines):
        pitch = below.baseline - above.baseline
        if above.size == below.size and 0.8 * above.size < pitch < 3 * above.size:
            seen.setdefault(above.size, Counter())[round(2 * pitch) / 2] += 1
    return {size: _smallest_frequent(counts) for size, counts in seen.items()}


def _smallest_frequent(counts: Counter[float]) -> float:
    enough = max(counts.values()) / 2
    return min(pitch for pitch, count in counts.items() if count >= enough)


def _starts(group: list[Line], line: Line, below: Line | None, leading: dict[float, float], right: float) -> bool:
    """Whether `line` begins a paragraph after `group`."""
    above = group[-1]
    size = max(above.size, line.size)
    if abs(above.size - line.size) > _SIZE_STEP * size:
        return True
    pitch = line.baseline - above.baseline
    usual = leading.get(above.size, 0.0) or _LONE_LEADING * size / (1 + _LEADING_SLACK)
    if pitch > (1 + _LEADING_SLACK) * usual or pitch < 0:
        return True
    if opens_item(line) and _is_item(group, line, right):
        return True
    if above.bold != line.bold and _is_closed(above, line, right):
        return True
    if _is_indented(group, line, below, size):
        return True
    return _is_closed(above, line, right) and SENTENCE_END.search(above.words[-1].text) is not None


def _is_item(group: list[Line], line: Line, right: float) -> bool:
    """Whether the marker opens an item here, rather than standing first on a line by chance ("section 5 / (a) of")."""
    above = group[-1]
    if BULLET.match(line.words[0].text) or _is_closed(above, line, right) or _ITEM_BEFORE.search(above.words[-1].text):
        return True
    return opens_item(group[0]) and abs(line.x0 - group[0].x0) < _SAME_EDGE


def _is_indented(group: list[Line], line: Line, below: Line | None, size: float) -> bool:
    """A first line set in from the lines around it."""
    above = group[-1]
    if opens_item(group[0]):
        return False
    inset = line.x0 - above.x0
    if not _INDENT * size < inset < _DEEPEST_INDENT * size:
        return False
    return below is None or below.x0 < line.x0 - _INDENT * size


def _is_closed(above: Line, line: Line, right: float) -> bool:
    """Whether the first word of `line` would have fitted on the line above, so that the break was meant."""
    first = line.words[0]
    return above.x1 + (first.x1 - first.x0) + _SHORT_LINE * above.size < right
