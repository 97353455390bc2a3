"""Nested JSON values as paths and leaves: `{"a": {"b": [1]}}` becomes `a.b[0]: 1`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TypeAlias

from citewell.errors import LimitExceeded
from citewell.extract.tabular.values import Cell, tidy

MAX_DEPTH = 200
_LONGEST_LIST = 20
JsonData: TypeAlias = "dict[str, JsonData] | list[JsonData] | str | int | float | bool | None"


def leaves(value: JsonData, path: str = "", long_lists: bool = False) -> Iterator[tuple[str, Cell]]:
    """Every leaf under `value` with its path, in order.

    A list of more than 20 plain values is one leaf, its JSON text, unless `long_lists` asks for each.
    Raises `LimitExceeded` beyond 200 levels.
    """
    work: list[tuple[str, JsonData, int]] = [(path, value, 0)]
    while work:
        here, item, depth = work.pop()
        if depth > MAX_DEPTH:
            raise LimitExceeded(f"The data are nested deeper than {MAX_DEPTH} levels.")
        if isinstance(item, dict) and item:
            work.extend((join(here, key), item[key], depth + 1) for key in reversed(item))
        elif isinstance(item, list) and item and (long_lists or not _is_long(item)):
            work.extend((f"{here}[{index}]", item[index], depth + 1) for index in reversed(range(len(item))))
        else:
            yield here or "value", leaf(item)


def leaf(value: JsonData) -> Cell:
    """A plain value as a cell; a list or object as its JSON text, an empty one as nothing."""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False) if value else None
    return tidy(value)


def join(path: str, key: str) -> str:
    """The path of a member."""
    return f"{path}.{key}" if path else key or '""'


def is_records(value: JsonData) -> bool:
    """Whether a value is a list of at least two objects, and of nothing else."""
    return isinstance(value, list) and len(value) > 1 and all(isinstance(item, dict) for item in value)


def _is_long(items: list[JsonData]) -> bool:
    return len(items) > _LONGEST_LIST and not any(isinstance(item, dict | list) for item in items)
