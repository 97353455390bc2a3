"""Lines of a column to paragraphs, by leading, indentation, size, weight and list markers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from citewell.extract.formats.pdf.lines import MARKER, Line
from citewell.extract.formats.pdf.words import HYPHEN

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


@dataclass(frozen=True, slots=True)
class _Sides:
    """Where a line starts and ends, growing in the direction of reading."""

    start: Callable[[Line], float]
    end: Callable[[Line], float]


_LEFT_TO_RIGHT = _Sides(lambda line: line.x0, lambda line: line.x1)
_RIGHT_TO_LEFT = _Sides(lambda line: -line.x1, lambda line: -line.x0)


def paragraphs(lines: Sequence[Line], right_to_left: bool = False) -> list[list[Line]]:
    """The lines of one column, grouped; the order stays. Lines begin at the left, or at the right where `right_to_left`."""
    if not lines:
        return []
    leading = _usual_leading(lines)
    sides = _RIGHT_TO_LEFT if right_to_left else _LEFT_TO_RIGHT
    far = max(map(sides.end, lines))
    groups = [[lines[0]]]
    for i in range(1, len(lines)):
        below = lines[i + 1] if i + 1 < len(lines) else None
        if _starts(groups[-1], lines[i], below, leading, sides, far):
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


def _starts(
    group: list[Line], line: Line, below: Line | None, leading: dict[float, float], sides: _Sides, far: float
) -> bool:
    """Whether `line` begins a paragraph after `group`."""
    above = group[-1]
    size = max(above.size, line.size)
    if abs(above.size - line.size) > _SIZE_STEP * size:
        return True
    pitch = line.baseline - above.baseline
    usual = leading.get(above.size, 0.0) or _LONE_LEADING * size / (1 + _LEADING_SLACK)
    if pitch > (1 + _LEADING_SLACK) * usual or pitch < 0:
        return True
    if opens_item(line) and _is_item(group, line, sides, far):
        return True
    if above.bold != line.bold and _is_closed(above, line, sides, far):
        return True
    if _is_indented(group, line, below, size, sides):
        return True
    return _is_closed(above, line, sides, far) and SENTENCE_END.search(above.words[-1].text) is not None


def _is_item(group: list[Line], line: Line, sides: _Sides, far: float) -> bool:
    """Whether the marker opens an item here, rather than standing first on a line by chance ("section 5 / (a) of")."""
    above = group[-1]
    if (
        BULLET.match(line.words[0].text)
        or _is_closed(above, line, sides, far)
        or _ITEM_BEFORE.search(above.words[-1].text)
    ):
        return True
    return opens_item(group[0]) and abs(sides.start(line) - sides.start(group[0])) < _SAME_EDGE


def _is_indented(group: list[Line], line: Line, below: Line | None, size: float, sides: _Sides) -> bool:
    """A first line set in from the lines around it."""
    above = group[-1]
    if opens_item(group[0]):
        return False
    inset = sides.start(line) - sides.start(above)
    if not _INDENT * size < inset < _DEEPEST_INDENT * size:
        return False
    return below is None or sides.start(below) < sides.start(line) - _INDENT * size


def _is_closed(above: Line, line: Line, sides: _Sides, far: float) -> bool:
    """Whether the first word of `line` would have fitted on the line above, so that the break was meant."""
    first = line.words[0]
    return sides.end(above) + (first.x1 - first.x0) + _SHORT_LINE * above.size < far
