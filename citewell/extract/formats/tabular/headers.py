"""Column names: determines a table's header rows, and one distinct name per column."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from citewell.extract.formats.tabular.values import Cell, column_letter, is_data, is_marker, line_of
from citewell.types import ROW_COLUMN

MAX_HEADER_ROWS = 5
"""Rows of the tallest header. Set by hand on the development workbooks."""
_SAMPLE_ROWS = 60
"""Rows below whose types show whether the first ones are a header."""
_MAX_NAME_LENGTH = 300
"""Characters of the longest column name."""


def header_depth(rows: Sequence[Sequence[Cell]], group_rows: int = 0) -> int:
    """Returns how many leading rows of a table are its header: 0 if the data begin at once.

    rows:        the first rows of the table, all the same length, titles above it already removed
    group_rows:  rows at the top with merged group labels, so that the row below them is also a header
    """
    if not rows or not any(cell is not None for cell in rows[0]):
        return 0
    if len(rows) == 1:
        return 0 if any(is_data(cell) for cell in rows[0]) else 1
    data_columns = _data_columns(rows)
    if not data_columns:
        return _depth_of_text_table(rows, group_rows)
    depth, named = 0, False
    for row in rows[: min(MAX_HEADER_ROWS, len(rows) - 1)]:
        names = _names_most(row, data_columns)
        if not _is_header_row(row, data_columns) or (named and not names):
            break
        depth += 1
        named = named or (names and depth > group_rows)
    return depth if named else min(depth, group_rows + 1)


def join_names(rows: Sequence[Sequence[Cell]], first_column: int = 0) -> list[str]:
    """Returns one name per column from its header rows, top down: `2023 / Revenue`; `Column C` if they are empty."""
    width = max((len(row) for row in rows), default=0)
    names: list[str] = []
    for index in range(width):
        parts: list[str] = []
        for row in rows:
            part = line_of(row[index]) if index < len(row) else ""
            if part and part not in parts:
                parts.append(part)
        names.append(" / ".join(parts)[:_MAX_NAME_LENGTH] or f"Column {column_letter(first_column + index)}")
    return distinct(names)


def distinct(names: Sequence[str]) -> list[str]:
    """Returns the names, numbered where they repeat (ignoring case); never the reserved `_row`."""
    seen: set[str] = {ROW_COLUMN}
    taken = {name.casefold() for name in names}
    out: list[str] = []
    for name in names:
        candidate, n = name, 1
        while candidate.casefold() in seen or (n > 1 and candidate.casefold() in taken):
            n += 1
            candidate = f"{name} ({n})"
        seen.add(candidate.casefold())
        out.append(candidate)
    return out


def free_name(name: str, taken: set[str]) -> str:
    """Returns `name`, numbered if it is `taken` (ignoring case), and marks it as taken."""
    candidate, n = name, 1
    while candidate.casefold() in taken:
        n += 1
        candidate = f"{name} ({n})"
    taken.add(candidate.casefold())
    return candidate


def _data_columns(rows: Sequence[Sequence[Cell]]) -> list[int]:
    """Returns columns whose cells below the first row are mostly measurements."""
    body = rows[1:_SAMPLE_ROWS]
    if len(body) > 4:
        body = body[min(MAX_HEADER_ROWS, len(body) // 3) :]
    columns: list[int] = []
    for index in range(len(rows[0])):
        filled = [row[index] for row in body if row[index] is not None and not is_marker(row[index])]
        if filled and sum(map(is_data, filled)) * 2 > len(filled):
            columns.append(index)
    return columns


def _is_header_row(row: Sequence[Cell], data_columns: Sequence[int]) -> bool:
    """Whether no measurement is in a measurement column, apart from years and dates as column heads."""
    heads = [row[index] for index in data_columns if row[index] is not None]
    filled = [cell for cell in row if cell is not None]
    if not filled or all(is_data(cell) and not _is_period(cell) for cell in filled):
        return False
    values = [cell for cell in heads if is_data(cell)]
    if not values:
        return bool(heads) or len(filled) < len(row) or len(row) == 1
    labelled = row[0] is None or len(values) < len(filled)
    return len(values) > 1 and labelled and all(map(_is_period, values))


def _names_most(row: Sequence[Cell], data_columns: Sequence[int]) -> bool:
    named = sum(row[index] is not None and not is_marker(row[index]) for index in data_columns)
    return named * 2 > len(data_columns)


def _is_period(cell: Cell) -> bool:
    """Whether a cell is a year or a date, as at the head of a time-series column."""
    if isinstance(cell, bool):
        return False
    if isinstance(cell, int):
        return 1900 <= cell <= 2100
    if isinstance(cell, str):
        return cell.strip().isdigit() and 1900 <= int(cell) <= 2100 if len(cell.strip()) == 4 else False
    return isinstance(cell, date)


def _depth_of_text_table(rows: Sequence[Sequence[Cell]], group_rows: int) -> int:
    """Returns the header depth of a words-only table: its first row if it names nearly every column, each differently.

    No name may recur in its own column, and names are not longer than the values below them.
    """
    first = min(group_rows, len(rows) - 1)
    columns = [index for index in range(len(rows[0])) if any(row[index] is not None for row in rows)]
    named = [index for index in columns if rows[first][index] is not None]
    names = [line_of(rows[first][index]) for index in named]
    if len(columns) < 2 or len(named) * 4 < len(columns) * 3 or len(set(names)) != len(names):
        return 0
    body = [[line_of(row[index]) for index in named if row[index] is not None] for row in rows[first + 1 :]]
    texts = [text for row in body for text in row]
    if not texts or any(is_data(rows[first][index]) for index in named):
        return 0
    if any(rows[first][index] == row[index] for row in rows[first + 1 :] for index in named):
        return 0
    return first + 1 if sum(map(len, names)) / len(names) <= 2 * sum(map(len, texts)) / len(texts) + 10 else 0
