"""Checks a request's JSON against an SDK's own parameter types, unknown keys included."""

from __future__ import annotations

import collections.abc
import types
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin

from typing_extensions import get_type_hints, is_typeddict


def problems(value: Any, kind: Any, path: str = "") -> list[str]:
    """What is wrong with `value` as a `kind`; empty when nothing is."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any or kind is object:
        return []
    if origin in (Annotated, Required, NotRequired):
        return problems(value, arguments[0], path)
    if is_typeddict(kind):
        return _object(value, kind, path)
    if origin in (Union, types.UnionType):
        return _union(value, arguments, path)
    if origin is Literal:
        return [] if value in arguments else [f"{path}: {value!r} is none of {arguments}"]
    if origin in (list, collections.abc.Iterable, collections.abc.Sequence) or "SequenceNotStr" in str(kind):
        return _array(value, arguments, path)
    if origin in (dict, collections.abc.Mapping):
        return [] if isinstance(value, dict) else [f"{path}: not an object"]
    return _plain(value, kind, path)


def _object(value: Any, kind: Any, path: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{path}: not an object"]
    hints = get_type_hints(kind, include_extras=True)
    found = [f"{path}.{key}: Extra inputs are not permitted" for key in value if key not in hints]
    found += [f"{path}.{key}: Field required" for key in kind.__required_keys__ if key not in value]
    for key, item in value.items():
        if key in hints:
            found += problems(item, hints[key], f"{path}.{key}")
    return found


def _union(value: Any, kinds: tuple[Any, ...], path: str) -> list[str]:
    """The problems with the alternative that fits best; that is the one which agrees on `type` or `role`."""
    each = [problems(value, kind, path) for kind in kinds]
    if any(not found for found in each):
        return []
    named = [found for found in each if not any(p.startswith((f"{path}.type:", f"{path}.role:")) for p in found)]
    return min(named or each, key=len)


def _array(value: Any, arguments: tuple[Any, ...], path: str) -> list[str]:
    if not isinstance(value, list):
        return [f"{path}: not an array"]
    kind = arguments[0] if arguments else Any
    return [problem for index, item in enumerate(value) for problem in problems(item, kind, f"{path}[{index}]")]


def _plain(value: Any, kind: Any, path: str) -> list[str]:
    if kind is type(None):
        return [] if value is None else [f"{path}: not null"]
    if kind is float:
        return [] if isinstance(value, int | float) and not isinstance(value, bool) else [f"{path}: not a number"]
    if kind is int:
        return [] if isinstance(value, int) and not isinstance(value, bool) else [f"{path}: not an integer"]
    if isinstance(kind, type) and not isinstance(value, kind):
        return [f"{path}: not a {kind.__name__}"]
    return []
