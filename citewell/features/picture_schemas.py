"""Schemas of the pictures that answers have: a chart as a Vega-Lite specification, and the table it was computed from."""

from __future__ import annotations

from typing import Any, NotRequired

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict


@with_config(ConfigDict(extra="allow"))
class PictureValueOut(TypedDict):
    """A point of a chart: its position (`x`, to `x_end` in a histogram), its height (`text`: as answers show it), and its source rows (`cite`: as `[n]`)."""

    x: float | str
    y: float
    text: NotRequired[str]
    x_end: NotRequired[float]
    series: NotRequired[str]
    rows: str
    row: NotRequired[int]
    row_end: NotRequired[int]
    cite: NotRequired[int]
    named: NotRequired[bool]


class PictureDataOut(TypedDict):
    """The inline data of a chart."""

    values: list[PictureValueOut]


class PictureSourceOut(TypedDict):
    """The table a chart was computed from; `open`: show it at once; `total`: all its points, drawn or not."""

    resource_id: str
    version: int
    filename: str
    sheet: str | None
    column: str | None
    open: bool
    total: int


class PictureUseOut(TypedDict):
    """Custom data that Vega-Lite ignores."""

    citewell: PictureSourceOut


@with_config(ConfigDict(extra="allow"))
class PictureOut(TypedDict):
    """A Vega-Lite 5 specification; `mark` and `encoding` follow its schema."""

    title: str
    description: str
    data: PictureDataOut
    mark: dict[str, Any]
    encoding: dict[str, Any]
    usermeta: PictureUseOut
