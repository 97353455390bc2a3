"""Pairs the fields of a form with the labels printed beside them: people know these, not the names in the file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.extract.core.symbols import TICKED, UNTICKED
from citewell.extract.formats.pdf.annotations import Field
from citewell.extract.formats.pdf.geometry import Rect
from citewell.extract.formats.pdf.lines import Line

_TAIL = re.compile(r"[\s:._…]+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class FormThresholds:
    """Thresholds for pairing fields with labels, set by hand on forms of the development documents.

    touch:      points by which a label and its field may overlap
    same_row:   share of a label's height that must lie beside the field
    above:      heights of a label between it and the field below it
    box_gap:    heights of a label between it and the box that it explains
    line_gap:   heights of a line between the lines of one label
    max_lines:  lines of the longest label
    """

    touch: float = 3.0
    same_row: float = 0.5
    above: float = 1.5
    box_gap: float = 3.0
    line_gap: float = 0.6
    max_lines: int = 4


THRESHOLDS = FormThresholds()


@dataclass(frozen=True, slots=True)
class LabelledField:
    """A filled field with the lines of its label; none if no text is beside it.

    question: of a ticked box, the text before it and its row's other boxes
    """

    field: Field
    lines: Sequence[Line] = ()
    question: str = ""

    @property
    def text(self) -> str:
        """Label and value as one statement."""
        field = self.field
        printed = _TAIL.sub("", " ".join(line.text for line in self.lines))
        label = _joined(printed, field.tooltip) or field.name
        if field.checked is not None and printed:
            return f"{self.question} {TICKED if field.checked else UNTICKED} {label}".strip()
        return f"{label}: {field.value}" if label else field.value

    @property
    def rect(self) -> Rect:
        """The rectangle around the field and its label."""
        rect = self.field.rect
        for line in self.lines:
            rect = rect.union(line.rect)
        return rect


def labelled(fields: Sequence[Field], runs: Sequence[Line]) -> list[LabelledField]:
    """Returns the filled fields, and the boxes that have a label, from top to bottom; `runs` are all text of the page."""
    ordered = sorted(fields, key=lambda field: (field.rect.y0, field.rect.x0))
    first: dict[int, tuple[Line, bool]] = {}
    for field in ordered:
        found = _nearest(field, runs, ordered)
        if found is None:
            # The rows of fields below a heading share it.
            over = next((other for other in ordered if id(other) in first and _right_below(field, other)), None)
            found = first[id(over)] if over is not None and first[id(over)][1] else None
        if found is not None:
            first[id(field)] = found
    taken = {id(run) for run, _ in first.values()}
    return [
        LabelledField(
            field,
            _whole(first[id(field)][0], runs, taken) if id(field) in first else (),
            _question(field, runs, taken) if field.checked else "",
        )
        for field in ordered
        if field.value or (field.checked is not None and id(field) in first)
    ]


def _nearest(field: Field, runs: Sequence[Line], fields: Sequence[Field]) -> tuple[Line, bool] | None:
    """Returns the first line of a field's label, and whether it is above the field."""
    rect = field.rect
    beside = [run for run in runs if _beside(run, rect)]
    left = max((run for run in beside if run.x1 <= rect.x0 + THRESHOLDS.touch), key=lambda run: run.x1, default=None)
    right = min((run for run in beside if run.x0 >= rect.x1 - THRESHOLDS.touch), key=lambda run: run.x0, default=None)
    if field.checked is not None:
        if right is not None and right.x0 - rect.x1 <= THRESHOLDS.box_gap * (right.y1 - right.y0):
            return right, False
        return None if left is None or _between(left.x1, rect.x0, field, fields) else (left, False)
    inside = [run for run in runs if rect.contains((run.x0 + run.x1) / 2, (run.y0 + run.y1) / 2)]
    if inside:
        return min(inside, key=lambda run: run.y0), False
    above = _above(field, runs, fields)
    if left is None or _between(left.x1, rect.x0, field, fields):
        return None if above is None else (above, True)
    # A label right above the field, and further ones far to the left, are those of a row of fields.
    if above is not None and rect.y0 - above.y1 < rect.x0 - left.x1 and abs(above.x0 - rect.x0) <= rect.height:
        return above, True
    return left, False


def _question(field: Field, runs: Sequence[Line], taken: set[int]) -> str:
    rect = field.rect
    left = [run for run in runs if id(run) not in taken and run.x1 <= rect.x0 and _beside(run, rect)]
    return max(left, key=lambda run: run.x1).text if left else ""


def _above(field: Field, runs: Sequence[Line], fields: Sequence[Field]) -> Line | None:
    rect = field.rect
    over = [
        run
        for run in runs
        if run.x0 < rect.x1
        and run.x1 > rect.x0
        and -THRESHOLDS.touch <= rect.y0 - run.y1 <= THRESHOLDS.above * (run.y1 - run.y0)
    ]
    run = max(over, key=lambda run: run.y1, default=None)
    if run is None or any(
        other is not field and other.rect.y0 >= run.y0 and _right_below(field, other) for other in fields
    ):
        return None
    return run


def _beside(run: Line, rect: Rect) -> bool:
    common = min(run.y1, rect.y1) - max(run.y0, rect.y0)
    return common >= THRESHOLDS.same_row * (run.y1 - run.y0)


def _between(start: float, end: float, field: Field, fields: Sequence[Field]) -> bool:
    """Whether another field of the same row begins between a label and a field."""
    rect = field.rect
    return any(
        other is not field
        and start - THRESHOLDS.touch <= other.rect.x0 < end - THRESHOLDS.touch
        and min(other.rect.y1, rect.y1) - max(other.rect.y0, rect.y0) > 0
        for other in fields
    )


def _right_below(field: Field, other: Field) -> bool:
    """Whether a field is below another of the same column, at most a row apart."""
    upper, lower = other.rect, field.rect
    common = min(upper.x1, lower.x1) - max(upper.x0, lower.x0)
    return other is not field and common > 0 and 0 <= lower.y0 - upper.y1 + THRESHOLDS.touch <= upper.height


def _whole(first: Line, runs: Sequence[Line], taken: set[int]) -> list[Line]:
    """Returns the lines of a label that ends with this line, without those that are labels of other fields."""
    lines = [first]
    while len(lines) < THRESHOLDS.max_lines:
        last = lines[0]
        height = last.y1 - last.y0
        above = [
            run
            for run in runs
            if id(run) not in taken
            and 0 <= last.y0 - run.y1 + THRESHOLDS.touch <= THRESHOLDS.line_gap * height + THRESHOLDS.touch
            and abs(run.x0 - last.x0) <= THRESHOLDS.touch
            and run.size == last.size
            and run.bold == last.bold
        ]
        if len(above) != 1:
            break
        lines.insert(0, above[0])
    return lines


def _joined(printed: str, tooltip: str) -> str:
    """Returns the printed label, with the author's description unless one says what the other does."""
    if not printed or printed.casefold() in tooltip.casefold():
        return tooltip or printed
    return printed if not tooltip or tooltip.casefold() in printed.casefold() else f"{printed} ({tooltip})"
