"""The text right above a table: its title, the unit of its figures, and the line that announces it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.extract.formats.pdf.lines import Line, join_row, rows
from citewell.extract.formats.pdf.tables.model import FoundTable


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleThresholds:
    """Thresholds of finding a table's title; an em is the larger font size of the two lines compared. Set by hand on annual reports.

    max_lines:   lines of the longest title
    distance:    ems between the baselines of two lines, and from the last to the table's first row
    width:       share of the table's width that a title in regular type may take: wider lines are text
    characters:  characters of the longest line
    """

    max_lines: int = 5
    distance: float = 2.6
    width: float = 0.75
    characters: int = 140


THRESHOLDS = TitleThresholds()

_SENTENCE = re.compile(r"[.;!?]$")
_UNIT = re.compile(
    r"\b(?:thousand|million|billion|trillion|tsd|mio|mrd|mill(?:ier|iard|one|ione|ard|hõe|õe)|mil)\w{0,3}\b|[$€£¥%]|[千万億亿]",
    re.IGNORECASE,
)


def title_lines(runs: Sequence[Line], table: FoundTable) -> list[str]:
    """The lines of the title right above a table, from top to bottom; empty where text or nothing is there."""
    rect = table.rect
    above = [run for run in runs if run.y1 <= rect.y0 + 1 and run.x0 < rect.x1 and rect.x0 < run.x1]
    found: list[str] = []
    floor, size = rect.y0, 0.0
    for row in reversed(rows(above)):
        line = join_row(row)
        text = line.text
        reach = THRESHOLDS.distance * max(line.size, size)
        gap = floor - line.y1 if not found else floor - line.baseline
        if len(found) == THRESHOLDS.max_lines or len(row) > 1 or gap > reach or len(text) > THRESHOLDS.characters:
            break
        short = line.x1 - line.x0 <= THRESHOLDS.width * rect.width
        announces = not found and text.endswith(":")
        if _SENTENCE.search(text) or not (short or line.bold or announces) or not any(map(str.isalpha, text)):
            break
        found.insert(0, text)
        if announces and not short:
            break
        floor, size = line.baseline, line.size
    return found


def unit_of(texts: Sequence[str]) -> str:
    """The first of the texts above and in a table's first row that states a scale, a currency or a percentage; empty if none does."""
    return next((text.strip("()[] ") for text in texts if _UNIT.search(text)), "")
