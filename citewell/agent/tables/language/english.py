"""A reading in English: what it takes a question to ask for, and the answer that it gives. A model reads both beside the question."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.agent.tables.language.cells import Grid
from citewell.agent.tables.language.evidence import QuestionEvidence, ValueLink
from citewell.agent.tables.language.interpretation import FoundRows, Interpretation
from citewell.agent.tables.query.typed import Comparator

_SAYS = {
    Comparator.EQ: "is", Comparator.IN: "is", Comparator.NE: "is not", Comparator.NOT_IN: "is not", Comparator.LT: "is below",
    Comparator.LTE: "is at most", Comparator.GT: "is above", Comparator.GTE: "is at least", Comparator.CONTAINS: "has",
    Comparator.STARTS_WITH: "begins with", Comparator.EMPTY: "is empty", Comparator.NOT_EMPTY: "is not empty",
}  # fmt: skip
_MAX_CHARACTERS, _MAX_EXAMPLE, _MAX_VALUE, _MAX_LEAD, _MAX_SHARED = 36, 24, 40, 60, 80


def in_english(evidence: QuestionEvidence, reading: Interpretation) -> tuple[str, str]:
    """What it asks for (`Venue of the row with the highest Attendance where Opponent is Boston`), and its answer (`Fenway Park`)."""
    return _asks(reading, evidence.texts), _values(reading)


def nothing_in_english(grid: Grid) -> tuple[str, str]:
    """The reading that means nothing of the table; it gives no answer."""
    return f"nothing of the table, whose columns are {', '.join(column.name for column in grid.columns)}", ""


def _asks(reading: Interpretation, texts: Sequence[str]) -> str:
    links = reading.selection.links
    asked = _short(reading.asked.column.name) if reading.asked is not None else ""
    names = [_short(link.column.texts[min(link.rows)]) if link.rows else "" for link in links]
    if reading.found is not None:
        return _of_rows(reading, reading.found, asked, names, texts)
    column, both = _short(reading.column.name) if reading.column is not None else "", " and ".join(names)
    match reading.form:
        case "count":
            return f"number of rows{_where(links, texts)}"
        case "distinct":
            return f"number of different {column}{_where(links, texts)}"
        case "sum" | "avg":
            return f"{'total' if reading.form == 'sum' else 'average'} of {column}{_where(links, texts)}"
        case "span":
            return f"from the lowest to the highest {column}{_where(links, texts)}"
        case "difference":
            return f"difference in {column} between {both}"
        case "ahead":
            return f"which of {both} has the {'lower' if reading.least else 'higher'} {column}"
        case "most rows":
            return f"{asked} that {'the fewest' if reading.least else 'most'} rows have{_where(links, texts)}"
        case "more rows":
            return f"which {column} of {both} has more rows"
        case "difference of rows":
            return f"how many more rows for one {column} of {both}"
        case "run":
            return f"most rows one after another{_where(links, texts)}"
        case _:
            return _counted(reading, names) or f"{reading.form} {asked or column}{_where(links, texts)}"


def _of_rows(reading: Interpretation, found: FoundRows, asked: str, names: Sequence[str], texts: Sequence[str]) -> str:
    links = reading.selection.links
    metric = _short(found.metric.name) if found.metric is not None else ""
    several = f" ({len(reading.rows)} rows)" if len(reading.rows) > 1 else ""
    # What names the row that others are beside is said already.
    rest = [
        link for link, name in zip(links, names, strict=True) if not (found.beside and name and name in _short(found.lead, 99))
    ]  # fmt: skip
    match reading.form:
        case "rows":
            return f"{asked}{_where(links, texts)}{several}"
        case "first" | "last":
            return f"{asked} {found.lead}{_where(links, texts)}"
        case "after" | "before":
            return f"{asked} of the row {_short(found.lead, _MAX_LEAD)}{_where(rest, texts)}"
        case "same" | "beyond":
            return f"{asked} of rows with {_short(found.lead, _MAX_SHARED)}"
        case _:
            return f"{asked} of the row with the {found.lead} {metric}{_where(links, texts)}{several}"


def _counted(reading: Interpretation, names: Sequence[str]) -> str:
    """How many other rows have the same, more or less than the one that is named."""
    compared = reading.compared
    if compared is None:
        return ""
    same = compared.comparison is Comparator.EQ
    than = "the same" if same else "more" if compared.comparison is Comparator.GT else "less"
    return f"number of rows with {than} {_short(compared.ref.column)} {'as' if same else 'than'} {names[0] if names else ''}"


def _where(links: Sequence[ValueLink], texts: Sequence[str]) -> str:
    by_column: dict[tuple[str, bool], list[str]] = {}
    for link in links:
        by_column.setdefault((link.column.name, link.compares), []).append(_condition(link, texts))
    parts: list[str] = []
    for same in by_column.values():
        starts = {one.split(" is ")[0] for one in same}
        if len(same) > 1 and same[0].count(" is ") == 1 and len(starts) == 1:
            parts.append(same[0] + "".join(f" or {one.split(' is ', 1)[1]}" for one in same[1:]))
        else:
            parts.append(" and ".join(same))
    return f" where {' and '.join(parts)}" if parts else ""


def _condition(link: ValueLink, texts: Sequence[str]) -> str:
    """Whole cells as they are; cells in part, codes and spans by the question's words, with one of the cells."""
    condition, name = link.condition, _short(link.column.name)
    says = _SAYS[condition.comparison]
    if condition.value is None:
        return f"{name} {says}"
    in_part = link.share < 1 or link.coded or (link.compares and isinstance(condition.value, tuple))
    if says in ("is", "is not") and in_part:
        words = " ".join(texts[link.first : link.last])
        cells = list(dict.fromkeys(link.column.texts[row] for row in sorted(link.rows)))
        others = "" if len(cells) == 1 else f" and {len(cells) - 1} others"
        example = f" ({_short(cells[0], _MAX_EXAMPLE)}{others})" if cells and says == "is" else ""
        return f"{name} {'has' if says == 'is' else 'has not'} {words}{example}"
    values = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    told = [f"{value:.12g}" if isinstance(value, float) else str(value) for value in values]
    more = f" and {len(told) - 2} others" if len(told) > 2 else ""
    return f"{name} {says} {' or '.join(_short(value) for value in told[:2])}{more}"


def _values(reading: Interpretation) -> str:
    if reading.rows and reading.asked is not None:
        values = list(dict.fromkeys(reading.asked.column.texts[row] for row in sorted(reading.rows)))
    else:
        values = sorted(map(_plain, reading.answer))
    more = f" and {len(values) - 3} more" if len(values) > 3 else ""
    return "; ".join(_short(value, _MAX_VALUE) for value in values[:3]) + more


def _plain(value: str) -> str:
    try:
        return f"{float(value):.12g}"
    except ValueError:
        return value


def _short(text: str, most: int = _MAX_CHARACTERS) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[:most].rsplit(" ", 1)[0]
