"""A small table to show whole: grid, HTML and Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from citewell.extract.tabular.values import line_of

Grid = tuple[tuple[str, ...], ...]


def grid_of(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Grid:
    """Header row and body, each cell on one line, all rows as long as the header."""
    body = [tuple(line_of(text) for text in [*row, *[""] * (len(names) - len(row))]) for row in rows]
    return (tuple(names), *body)


def html_of(grid: Grid) -> str:
    """The grid as an HTML table whose first row is the header."""
    head, *body = ["".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) for tag, row in _tagged(grid)]
    rows = "".join(f"<tr>{row}</tr>" for row in body)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def markdown_of(grid: Grid) -> str:
    """The grid as a Markdown table."""
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in grid]
    return "\n".join([lines[0], "|" + " --- |" * len(grid[0]), *lines[1:]])


def _tagged(grid: Grid) -> list[tuple[str, tuple[str, ...]]]:
    return [("th" if index == 0 else "td", row) for index, row in enumerate(grid)]
