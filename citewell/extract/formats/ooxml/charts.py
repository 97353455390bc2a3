"""Charts as tables: one row per category, one column per series, from the values cached in the chart."""

from __future__ import annotations

from dataclasses import dataclass

from citewell.extract.core.cells import Cell, Table, build_table
from citewell.extract.core.safexml import XmlElement, local_name
from citewell.extract.formats.ooxml.package import attribute, child

_MAX_POINTS = 20_000


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart's title (may be empty) and its data; `table` is None if there is no data."""

    title: str
    table: Table | None


@dataclass(frozen=True, slots=True)
class _Series:
    name: str
    categories: dict[int, str]
    values: dict[int, str]


def read_chart(root: XmlElement) -> Chart:
    """Reads the chart of a `chartSpace` part."""
    chart = child(root, "chart")
    title = _all_text(child(chart, "title")) if chart is not None else ""
    series = [_series(element) for element in root.iter() if local_name(element) == "ser"]
    return Chart(title, _table([entry for entry in series if entry.values]))


def _series(element: XmlElement) -> _Series:
    name = _all_text(child(element, "tx"))
    categories = _points(child(element, "cat")) or _points(child(element, "xVal"))
    return _Series(name, categories, _points(child(element, "val")) or _points(child(element, "yVal")))


def _points(element: XmlElement | None) -> dict[int, str]:
    """Returns cached values by index; several levels of category labels are joined from the outermost inward."""
    out: dict[int, str] = {}
    if element is None:
        return out
    levels = [
        level for level in element.iter() if local_name(level) in ("lvl", "strCache", "numCache", "strLit", "numLit")
    ]
    for level in reversed([level for level in levels if any(local_name(inner) == "pt" for inner in level)]):
        for point in level:
            index = attribute(point, "idx") or ""
            if local_name(point) == "pt" and index.isdigit() and len(out) < _MAX_POINTS:
                text = _all_text(point)
                out[int(index)] = f"{out[int(index)]} / {text}" if int(index) in out else text
    return out


def _table(series: list[_Series]) -> Table | None:
    if not series:
        return None
    rows = sorted(set().union(*(entry.values for entry in series), series[0].categories))
    cells = [Cell(0, 0, "", header=True)]
    cells += [Cell(0, column, entry.name or f"Series {column}", header=True) for column, entry in enumerate(series, 1)]
    labels = next((entry.categories for entry in series if entry.categories), {})
    for number, index in enumerate(rows, 1):
        cells.append(Cell(number, 0, labels.get(index, str(index + 1))))
        cells += [Cell(number, column, entry.values.get(index, "")) for column, entry in enumerate(series, 1)]
    return build_table(cells, header_rows=1)


def _all_text(element: XmlElement | None) -> str:
    """Returns the text of rich text runs (`a:t`) and cached values (`c:v`)."""
    if element is None:
        return ""
    parts = [inner.text or "" for inner in element.iter() if local_name(inner) in ("t", "v")]
    return " ".join(" ".join(parts).split())
