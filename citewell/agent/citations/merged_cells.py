"""Writes a table with merged cells as Markdown, which models read in half the tokens of its HTML."""

from __future__ import annotations

from html.parser import HTMLParser

MAX_SPAN = 200
"""Rows or columns that one cell may cover; HTML allows 65,534 rows."""


def markdown_of(html: str) -> str:
    """The table as Markdown, a merged cell repeated in each row and column that it covers."""
    reader = _Cells()
    reader.feed(html)
    reader.close()
    reader.handle_endtag("table")
    grid = reader.grid
    width = max((column for _, column in grid), default=-1) + 1
    height = max((row for row, _ in grid), default=-1) + 1
    rows = [[grid.get((row, column), "") for column in range(width)] for row in range(height)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines[:1], f"|{' --- |' * width}", *lines[1:]]) if lines else ""


class _Cells(HTMLParser):
    """Collects the text of each place of a table."""

    def __init__(self) -> None:
        super().__init__()
        self.grid: dict[tuple[int, int], str] = {}
        self._row = -1
        self._column = 0
        self._span = (1, 1)
        self._text: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self._end_cell()
            self._row, self._column = self._row + 1, 0
        elif tag in ("td", "th"):
            self._end_cell()
            given = dict(attrs)
            self._span = (_span(given.get("rowspan")), _span(given.get("colspan")))
            self._text = []

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr", "table"):
            self._end_cell()

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def _end_cell(self) -> None:
        if self._text is None:
            return
        text = " ".join("".join(self._text).split()).replace("|", "\\|")
        while (self._row, self._column) in self.grid:
            self._column += 1
        for row in range(self._row, self._row + self._span[0]):
            for column in range(self._column, self._column + self._span[1]):
                self.grid.setdefault((row, column), text)
        self._column += self._span[1]
        self._text = None


def _span(value: str | None) -> int:
    return min(max(int(value), 1), MAX_SPAN) if value is not None and value.isdecimal() else 1
