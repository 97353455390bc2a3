"""Flattens nested JSON values to paths and leaves: `{"a": {"b": [1]}}` becomes `a.b[0]: 1`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TypeAlias

from citewell.errors import LimitExceeded
from citewell.extract.formats.tabular.values import Cell, tidy

MAX_DEPTH = 200
"""Levels of nested data read."""
_MAX_LIST_LENGTH = 20
"""Plain values of the longest list shown in one cell."""
_CONTAINERS = (dict, list)
JsonData: TypeAlias = "dict[str, JsonData] | list[JsonData] | str | int | float | bool | None"


def leaves(value: JsonData, path: str = "") -> Iterator[tuple[str, Cell]]:
    """Yields every leaf under `value` with its path, in order; a list of more than 20 plain values is one leaf, its
    JSON text.

    Raises `LimitExceeded` beyond 200 levels.
    """
    if not _opens(value):
        yield path or "value", leaf(value)
        return
    stack = [_members(value, path)]
    while stack:
        for here, item in stack[-1]:
            if item.__class__ in _CONTAINERS and _opens(item):
                stack.append(_members(item, here))
                break
            yield here, leaf(item)
        else:
            stack.pop()
        if len(stack) > MAX_DEPTH:
            raise LimitExceeded(f"The data is nested deeper than {MAX_DEPTH} levels.")


def leaf(value: JsonData) -> Cell:
    """Returns a plain value as a cell; a list or object as its JSON text, an empty one as None."""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False) if value else None
    return tidy(value)


def join(path: str, key: str) -> str:
    """Returns the path of a member."""
    return f"{path}.{key}" if path else key or '""'


def is_records(value: JsonData) -> bool:
    """Whether a value is a list of at least two objects, and of nothing else."""
    return isinstance(value, list) and len(value) > 1 and all(isinstance(item, dict) for item in value)


def _opens(value: JsonData) -> bool:
    """Whether a value is shown by its members rather than as one leaf."""
    if isinstance(value, dict):
        return bool(value)
    return (
        isinstance(value, list)
        and bool(value)
        and (len(value) <= _MAX_LIST_LENGTH or any(isinstance(item, dict | list) for item in value))
    )


def _members(value: JsonData, path: str) -> Iterator[tuple[str, JsonData]]:
    if isinstance(value, dict):
        prefix = f"{path}." if path else ""
        for key, item in value.items():
            yield prefix + key if prefix or key else '""', item
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield f"{path}[{index}]", item
