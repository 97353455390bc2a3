"""Groups the lines of a column into paragraphs, by leading, indentation, size, weight and list markers."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ParagraphThresholds:
    """Thresholds for grouping lines into paragraphs; an em is the larger font size of the two lines compared.

    Set by hand on the development documents.

    size_step:      share of the size by which two lines of one paragraph may differ
    leading_slack:  share by which a baseline distance may exceed the usual one: lower values cut paragraphs at lines
                    with formulas, higher ones join paragraphs separated only by white space
    lone_leading:   ems between baselines that are too many if the column has no usual distance
    min_leading:    ems between baselines at which a distance counts toward the usual one
    max_leading:    ems up to which it counts
    leading_step:   points to which distances are rounded for counting
    frequent:       share of the most frequent distance's count at which a smaller one becomes the usual one
    indent:         ems by which a first line is indented
    max_indent:     ems at which the line is something else (centered, a signature)
    short_line:     ems to spare, besides the next line's first word, that show a line was ended on purpose
    same_edge:      points within which the markers of one list begin
    same_size:      points of font size by which a paragraph may differ from its continuation in the next column
    """

    size_step: float = 0.12
    leading_slack: float = 0.25
    lone_leading: float = 1.75
    min_leading: float = 0.8
    max_leading: float = 3.0
    leading_step: float = 0.5
    frequent: float = 0.5
    indent: float = 0.8
    max_indent: float = 6.0
    short_line: float = 0.5
    same_edge: float = 2.0
    same_size: float = 0.5


THRESHOLDS = ParagraphThresholds()


@dataclass(frozen=True, slots=True)
class _Sides:
    """Where a line starts and ends, increasing in reading direction."""

    start: Callable[[Line], float]
    end: Callable[[Line], float]


_LEFT_TO_RIGHT = _Sides(lambda line: line.x0, lambda line: line.x1)
_RIGHT_TO_LEFT = _Sides(lambda line: -line.x1, lambda line: -line.x0)


def paragraphs(lines: Sequence[Line], right_to_left: bool = False) -> list[list[Line]]:
    """Groups the lines of one column in order. Lines begin at the left, or at the right if `right_to_left`."""
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
    """Whether the line begins with a bullet or an enumerator and continues after it."""
    first = line.words[0].text
    if BULLET.match(first):
        return True
    # “a.” and “I.” at the start of a line are abbreviations and pronouns more often than markers.
    return len(line.words) > 1 and MARKER.match(first) is not None and first not in ("a.", "I.")


def runs_on(group: Sequence[Line], following: Sequence[Line]) -> bool:
    """Whether a paragraph of the next column continues a sentence that broke off at the bottom of this one."""
    last, first = group[-1], following[0]
    if abs(last.size - first.size) > THRESHOLDS.same_size or last.bold != first.bold or opens_item(first):
        return False
    ending, beginning = last.words[-1].text, first.words[0].text
    if ending.endswith((HYPHEN, "-")):
        return beginning[:1].islower()
    return len(group) > 1 and SENTENCE_END.search(ending) is None and beginning[:1].islower()


def _usual_leading(lines: Sequence[Line]) -> dict[float, float]:
    """Returns the most frequent baseline distance between neighbors, by font size."""
    seen: dict[float, Counter[float]] = {}
    for above, below in pairwise(lines):
        pitch = below.baseline - above.baseline
        if (
            above.size == below.size
            and THRESHOLDS.min_leading * above.size < pitch < THRESHOLDS.max_leading * above.size
        ):
            seen.setdefault(above.size, Counter())[
                round(pitch / THRESHOLDS.leading_step) * THRESHOLDS.leading_step
            ] += 1
    return {size: _smallest_frequent(counts) for size, counts in seen.items()}


def _smallest_frequent(counts: Counter[float]) -> float:
    # The smallest of the frequent ones: in a list, the gap between items may be as frequent as the leading within them.
    enough = THRESHOLDS.frequent * max(counts.values())
    return min(pitch for pitch, count in counts.items() if count >= enough)


def _starts(
    group: list[Line], line: Line, below: Line | None, leading: dict[float, float], sides: _Sides, far: float
) -> bool:
    """Whether `line` begins a paragraph after `group`."""
    above = group[-1]
    size = max(above.size, line.size)
    if abs(above.size - line.size) > THRESHOLDS.size_step * size:
        return True
    pitch = line.baseline - above.baseline
    usual = leading.get(above.size, 0.0) or THRESHOLDS.lone_leading * size / (1 + THRESHOLDS.leading_slack)
    if pitch > (1 + THRESHOLDS.leading_slack) * usual or pitch < 0:
        return True
    if opens_item(line) and _is_item(group, line, sides, far):
        return True
    if above.bold != line.bold and _is_closed(above, line, sides, far):
        return True
    if _is_indented(group, line, below, size, sides):
        return True
    # Either alone happens inside paragraphs: before a long word, and at the end of most sentences.
    return _is_closed(above, line, sides, far) and SENTENCE_END.search(above.words[-1].text) is not None


def _is_item(group: list[Line], line: Line, sides: _Sides, far: float) -> bool:
    """Whether the marker opens an item here, rather than starting a line by chance ("section 5 / (a) of")."""
    above = group[-1]
    if (
        BULLET.match(line.words[0].text)
        or _is_closed(above, line, sides, far)
        or _ITEM_BEFORE.search(above.words[-1].text)
    ):
        return True
    return opens_item(group[0]) and abs(sides.start(line) - sides.start(group[0])) < THRESHOLDS.same_edge


def _is_indented(group: list[Line], line: Line, below: Line | None, size: float, sides: _Sides) -> bool:
    """Whether a first line is indented from the lines around it."""
    above = group[-1]
    if opens_item(group[0]):
        return False
    inset = sides.start(line) - sides.start(above)
    if not THRESHOLDS.indent * size < inset < THRESHOLDS.max_indent * size:
        return False
    return below is None or sides.start(below) < sides.start(line) - THRESHOLDS.indent * size


def _is_closed(above: Line, line: Line, sides: _Sides, far: float) -> bool:
    """Whether the first word of `line` would have fit on the line above, so that the break was intended."""
    first = line.words[0]
    return sides.end(above) + (first.x1 - first.x0) + THRESHOLDS.short_line * above.size < far
