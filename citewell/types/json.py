"""The shape of JSON, so that no untyped value travels through the code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, Union

JsonValue: TypeAlias = Union[bool, int, float, str, Sequence["JsonValue"], Mapping[str, "JsonValue"], None]  # noqa: UP007
JsonObject: TypeAlias = Mapping[str, JsonValue]
