"""A picture of a query's result: bars, a line or a histogram, with the rows behind every point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from citewell.agent.tables.run.engine import RowFacts
from citewell.agent.tables.run.results import bin_words, format_number
from citewell.types import TableInfo

MAX_POINTS = 200  # of a line or a histogram
MAX_BARS = 30  # more cannot be told apart on a screen; the highest are shown
MAX_SERIES = 6
MIN_POINTS = 3  # of a picture that nobody asked for: two values are read faster in words
MIN_LINE = 5  # fewer moments are bars, unless a line is asked for


class Form(StrEnum):
    """What a picture is drawn as."""

    BARS = "bars"
    LINE = "line"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True, kw_only=True)
class Datum:
    """A value of the picture.

    x: the group's name, or where the range of a histogram begins; moment: orders the names of times, else empty;
    cite: the `[n]` of the answer that names these rows; named: whether it is one that the answer is about; text: the value as an answer shows it.
    """

    x: str | float
    y: float
    rows: RowFacts
    series: str = ""
    moment: tuple[int, ...] = ()
    cite: int | None = None
    named: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What to draw. `x`, `y` and `series` are the names of what is on the axes and in the colours; `measured` the column behind `y`.

    y_is_series: whether the series are columns, each with a name of its own for what it measures;
    temporal: whether x are times; bin: the width of a histogram's ranges; total: how many points there are, shown or not;
    is_open: whether it is shown at once, not on request.
    """

    form: Form
    table: TableInfo
    x: str
    y: str
    points: tuple[Datum, ...]
    total: int
    series: str = ""
    y_is_series: bool = False
    measured: str | None = None
    temporal: bool = False
    bin: float | None = None
    is_open: bool = True

    @property
    def title(self) -> str:
        """`Expenses (GHS) by Quarter`."""
        if self.form is Form.HISTOGRAM:
            return f"{self.x}: distribution"
        some = f", the {len(self.points)} highest of {self.total}" if len(self.points) < self.total else ""
        return f"{self.y} by {self.x}{some}"

    @property
    def description(self) -> str:
        """What it shows, for those who do not see it."""
        count = f"{len(self.points)} {'value' if len(self.points) == 1 else 'values'}"
        if self.form is Form.HISTOGRAM:
            return (
                f"Histogram of {self.x} in {len(self.points)} ranges. Most rows: {self._range(highest(self.points))}."
            )
        kind = "Line" if self.form is Form.LINE else "Bars"
        high, low = highest(self.points), lowest(self.points)
        return f"{kind}: {self.title}, {count}. Highest: {_words(high)}. Lowest: {_words(low)}."

    def _range(self, point: Datum) -> str:
        return f"{bin_words(float(point.x), self.bin or 0)} ({format_number(point.y)})"


def highest(points: Sequence[Datum]) -> Datum:
    """The first of those with the highest value."""
    return max(points, key=lambda point: point.y)


def lowest(points: Sequence[Datum]) -> Datum:
    """The first of those with the lowest value."""
    return min(points, key=lambda point: point.y)


def _words(point: Datum) -> str:
    name = f"{point.x}, {point.series}" if point.series else str(point.x)
    return f"{name}, {point.text or format_number(point.y)}"
