"""A picture as a Vega-Lite 5 specification with its data inline, which Vega and the page's own renderer draw alike."""

from __future__ import annotations

from citewell.agent.tables.picture.picture import Datum, Form, Picture
from citewell.agent.tables.run.results import row_words
from citewell.types import JsonObject, JsonValue

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
_WIDE = 14  # characters: longer names stand beside bars that lie
_MANY = 12  # bars: names of more would overlap
_COLOUR = "#2f7d6b"
_PALE = "#b9d3cb"


def vega_lite(picture: Picture) -> JsonObject:
    """The specification. Its fields are `x`, `y` and `series` (a histogram's ranges go from `x` to `x_end`), named by titles; each
    value also says which rows are behind it, and `usermeta.citewell` which table and column."""
    table = picture.table
    own: dict[str, JsonValue] = {
        "resource_id": table.resource_id,
        "version": table.version,
        "filename": table.filename,
        "sheet": table.sheet,
        "column": picture.measured,
        "open": picture.is_open,
        "total": picture.total,
    }
    return {
        "$schema": SCHEMA,
        "title": picture.title,
        "description": picture.description,
        "data": {"values": [_value(picture, point) for point in picture.points]},
        "mark": _mark(picture),
        "encoding": _encoding(picture),
        "width": "container",
        "usermeta": {"citewell": own},
    }


def _value(picture: Picture, point: Datum) -> dict[str, JsonValue]:
    facts = point.rows
    return {
        "x": point.x,
        **({"x_end": float(point.x) + picture.bin} if picture.bin is not None else {}),
        "y": point.y,
        **({"text": point.text} if point.text else {}),
        **({"series": point.series} if picture.series else {}),
        "rows": row_words(facts),
        **({"row": facts.first, "row_end": facts.last} if facts.first is not None else {}),
        **({"cite": point.cite} if point.cite is not None else {}),
        **({"named": True} if point.named else {}),
    }


def _mark(picture: Picture) -> JsonValue:
    if picture.form is Form.LINE:
        return {"type": "line", "point": True, "tooltip": True}
    return {"type": "bar", "tooltip": True}


def _encoding(picture: Picture) -> JsonObject:
    amount: JsonObject = {"field": "y", "type": "quantitative", "title": picture.y}
    if picture.form is Form.HISTOGRAM:
        ranges: JsonObject = {"binned": True, "step": picture.bin}
        place: JsonObject = {"field": "x", "type": "quantitative", "bin": ranges, "title": picture.x}
        return {"x": place, "x2": {"field": "x_end"}, "y": amount}
    names: JsonObject = {
        "field": "x",
        "type": "ordinal" if picture.temporal else "nominal",
        "title": picture.x,
        "sort": None,
    }
    encoding: dict[str, JsonValue] = {"x": names, "y": amount}
    if _lies(picture):
        encoding = {"y": names, "x": amount}
    if picture.series:
        colour: JsonObject = {"field": "series", "type": "nominal", "title": picture.series, "sort": None}
        encoding["color"] = colour
        if picture.form is Form.BARS:
            encoding["yOffset" if _lies(picture) else "xOffset"] = {"field": "series", "type": "nominal", "sort": None}
    elif any(point.named for point in picture.points) and picture.form is Form.BARS:
        encoding["color"] = {"condition": {"test": "datum.named === true", "value": _COLOUR}, "value": _PALE}
    return encoding


def _lies(picture: Picture) -> bool:
    """Whether bars lie: names that are long, or many, need lines of their own."""
    if picture.form is not Form.BARS or picture.temporal:
        return False
    names = {str(point.x) for point in picture.points}
    return len(names) > _MANY or any(len(name) > _WIDE for name in names)
