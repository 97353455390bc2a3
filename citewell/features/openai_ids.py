"""OpenAI's names for Citewell's things: files are resources, vector stores are projects, responses are answers in threads; and its filters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from citewell.errors import InvalidInput, NotFound, named
from citewell.filters.language import parse_filters
from citewell.types import Expression, JsonValue

FILE, STORE, BATCH, RESPONSE, MESSAGE, SEARCH_CALL = "file-", "vs_", "vsfb_", "resp_", "msg_", "fs_"
_MAX_DEPTH = 10
_OPERATORS = {name: name for name in ("eq", "ne", "gt", "gte", "lt", "lte", "in")} | {"nin": "not_in"}
_GROUPS = {"and": "all", "or": "any"}


def own_id(prefix: str, id: str) -> str:
    """Citewell's id in one of OpenAI's. Raises `NotFound` for an id of another kind."""
    if not id.startswith(prefix) or len(id) == len(prefix) or "\x00" in id:
        raise NotFound(f"There is no {named(id)} here. Ids of this kind begin with {prefix}")
    return id.removeprefix(prefix)


def attribute_filters(filters: Any) -> tuple[Expression, ...]:
    """A comparison or compound filter on attributes as Citewell's filter on metadata. Raises `InvalidInput`."""
    return () if filters is None else parse_filters([_expression(filters, 0)])


def _expression(given: Any, depth: int) -> JsonValue:
    if not isinstance(given, Mapping) or depth > _MAX_DEPTH:
        raise InvalidInput("`filters` must be a comparison or a compound filter.")
    kind = given.get("type")
    if kind in _GROUPS and isinstance(given.get("filters"), list):
        return {_GROUPS[kind]: [_expression(one, depth + 1) for one in given["filters"]]}
    if kind not in _OPERATORS or not isinstance(given.get("key"), str) or "value" not in given:
        raise InvalidInput(
            f"`filters` takes `type` ({', '.join([*_OPERATORS, *_GROUPS])}), with `key` and `value`, or `filters` for `and` and `or`."
        )
    return {"field": f"metadata.{given['key']}", "operator": _OPERATORS[kind], "value": given["value"]}
