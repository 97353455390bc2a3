"""Checks the types in a parser's report, which is JSON from a process that may have been compromised."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from citewell.types import Box, Element


def parsed(raw: bytes) -> Any:
    """The value of a JSON text. Raises `ValueError` if it is not JSON, or contains characters that UTF-8 cannot encode."""
    value = json.loads(raw)
    if b"\\u" in raw:
        json.dumps(value, ensure_ascii=False).encode()
    return value


def sound_element(element: Element) -> bool:
    """Whether every field of an element matches its annotation. Written by hand for speed, since there may be millions."""
    place = element.locator
    return (
        _all((element.id, element.text), str)
        and _optional((element.html, element.blob, place.sheet, place.cell, place.page_label), str)
        and _optional((element.level, place.page, place.row, place.row_end), int)
        and _optional((place.slide, place.char_start, place.char_end), int)
        and type(element.header_rows) is int
        and _all(element.span_starts, int)
        and _all(place.pages, int)
        and _all(place.headings, str)
        and (element.grid is None or all(_all(row, str) for row in element.grid))
        and (element.values is None or isinstance(element.values, dict))
        and type(element.confidence) in (NoneType, int, float)
        and isinstance(element.metadata, dict)
        and all(type(box.page) is int and _numbers(box) for box in place.boxes)
    )


def well_typed(value: object) -> bool:
    """Whether every field of a dataclass, and of dataclasses in it, matches its annotation.

    In mappings, only the keys are checked: they must be text.
    """
    return all(check(getattr(value, name)) for name, check in _checks(type(value)))


@cache
def _checks(kind: type) -> tuple[tuple[str, Callable[[Any], bool]], ...]:
    hints = get_type_hints(kind)
    return tuple((field.name, _check(hints[field.name])) for field in fields(kind))


def _check(hint: Any) -> Callable[[Any], bool]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        options = [_check(option) for option in arguments]
        return lambda value: any(option(value) for option in options)
    if origin is tuple:
        return _check_tuple(arguments)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _is_mapping
    if is_dataclass(hint):
        return lambda value: type(value) is hint and well_typed(value)
    return _SIMPLE.get(hint) or (lambda value: isinstance(value, hint))


def _check_tuple(arguments: tuple[Any, ...]) -> Callable[[Any], bool]:
    item = _check(arguments[0])
    return lambda value: isinstance(value, tuple) and all(map(item, value))


def _all(values: tuple[object, ...], kind: type) -> bool:
    return not values or set(map(type, values)) == {kind}


def _optional(values: tuple[object, ...], kind: type) -> bool:
    return set(map(type, values)) <= {kind, NoneType}


def _numbers(box: Box) -> bool:
    return {type(box.x0), type(box.y0), type(box.x1), type(box.y1)} <= {int, float}


def _is_mapping(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(key, str) for key in value)


def _is_integer(value: object) -> bool:
    return type(value) is int and abs(value) < 2**63


_SIMPLE: dict[Any, Callable[[Any], bool]] = {
    str: lambda value: type(value) is str,
    int: _is_integer,
    float: lambda value: type(value) in (int, float) and value == value and abs(value) < 1e300,
    bool: lambda value: type(value) is bool,
    NoneType: lambda value: value is None,
}
