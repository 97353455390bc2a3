"""JSON types, which keep untyped values out of the code, and checks that every store accepts a value."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias, Union

JsonValue: TypeAlias = Union[bool, int, float, str, Sequence["JsonValue"], Mapping[str, "JsonValue"], None]  # noqa: UP007
JsonObject: TypeAlias = Mapping[str, JsonValue]

MAX_DEPTH = 64  # nested lists and objects; serializers give up at 255
_SURROGATE = re.compile("[\ud800-\udfff]")


def well_formed(text: str) -> str:
    """Text that UTF-8 can encode: surrogate pairs become their character, lone surrogates U+FFFD."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def sound(value: JsonValue, deepest: int = MAX_DEPTH, *, finite: bool = True) -> JsonValue:
    """`value` with all texts well formed. Raises `ValueError` if it is nested too deeply or, with `finite`, if it contains numbers that
    JSON does not have (infinity, NaN)."""
    if isinstance(value, str):
        return well_formed(value)
    if finite and isinstance(value, float) and not math.isfinite(value):
        raise ValueError("It contains a number that is too large or not finite.")
    if not isinstance(value, Mapping | Sequence):
        return value
    if not deepest:
        raise ValueError(f"It is nested more than {MAX_DEPTH} levels deep.")
    if isinstance(value, Mapping):
        return {well_formed(key): sound(item, deepest - 1, finite=finite) for key, item in value.items()}
    return [sound(item, deepest - 1, finite=finite) for item in value]
