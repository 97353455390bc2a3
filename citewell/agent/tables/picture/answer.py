"""An answer that is a picture, in words: what it shows, its ends with their rows cited, and what is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from citewell.agent.citations.safe_text import safe_text
from citewell.agent.tables.picture.choose import picture_of
from citewell.agent.tables.picture.picture import Datum, Form, Picture, highest, lowest
from citewell.agent.tables.picture.planner import PlannedPicture
from citewell.agent.tables.run.engine import ResultRow, TableResult
from citewell.agent.tables.run.results import bin_words, format_number


@dataclass(frozen=True, slots=True)
class PictureAnswer:
    """The words, with `[1]`, `[2]` … for `rows` of the result."""

    text: str
    rows: tuple[ResultRow, ...]


def answer_with_picture(planned: PlannedPicture, result: TableResult) -> PictureAnswer | None:
    """The answer; None where the rows make no picture. Each line says of its rows what their passage says, word by word."""
    picture = picture_of(result, {}, planned.wish)
    if picture is None:
        return None
    by_facts = {id(row.rows): row for row in result.rows}
    lines: list[str] = []
    rows: list[ResultRow] = []
    for series in dict.fromkeys(point.series for point in picture.points):
        # A list ends only at an empty line.
        lines += ["", _lead(picture, series)] if lines else [_lead(picture, series)]
        for point, word in _ends(picture, [point for point in picture.points if point.series == series]):
            rows.append(by_facts[id(point.rows)])
            lines.append(f"- {_name(picture, point)}: {format_number(point.y)} [{len(rows)}]{word}")
    if planned.left_out:
        numbers = ", ".join(map(str, planned.left_out))
        lines.append(f"\nRow {numbers} is left out: it is a total of the others.")
    return PictureAnswer("\n".join(lines), tuple(rows))


def _lead(picture: Picture, series: str) -> str:
    if picture.form is Form.HISTOGRAM:
        return f"{safe_text(picture.x)}, by how many rows lie in each range:"
    named = series if picture.y_is_series else f"{picture.y}, {series}" if series else picture.y
    return f"{safe_text(named)} by {safe_text(picture.x)}:"


def _ends(picture: Picture, points: Sequence[Datum]) -> list[tuple[Datum, str]]:
    """The points that are said in words, and what they are: the most common range, the only one, the ends in their order."""
    high = highest(points)
    if picture.form is Form.HISTOGRAM:
        return [(high, ", the most common")]
    if picture.total > len(picture.points):
        return [(high, ", the highest")]
    low = lowest(points)
    if low.y == high.y:
        return [(high, "" if len(points) == 1 else ", as all others")]
    ends = {id(low): ", the lowest", id(high): ", the highest"}
    return [(point, ends[id(point)]) for point in points if id(point) in ends]


def _name(picture: Picture, point: Datum) -> str:
    if picture.bin is not None:
        return bin_words(float(point.x), picture.bin)
    return safe_text(str(point.x))
