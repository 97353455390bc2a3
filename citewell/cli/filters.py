"""Filters on the command line: a short form such as `page>=3`, or JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from citewell.errors import InvalidFilter
from citewell.filters.language import FIELDS, parse_filters, to_json
from citewell.ports.points import FieldKind
from citewell.types import JsonValue, Operator
from citewell.types.metadata_values import from_text

_COMPARED = re.compile(r"[<>!^]=|[=<>~]")
_OPERATORS = {
    "=": Operator.EQ,
    "!=": Operator.NE,
    "<": Operator.LT,
    "<=": Operator.LTE,
    ">": Operator.GT,
    ">=": Operator.GTE,
    "~": Operator.CONTAINS,
    "^=": Operator.PREFIX,
}
_FOR_MANY = {Operator.EQ: Operator.IN, Operator.NE: Operator.NOT_IN}


def typed_filters(texts: Iterable[str]) -> list[JsonValue]:
    """Typed filters in the API's form; a result must match all of them.

    Each is JSON (a filter or a list of filters), a field alone (the field exists), or `field=value` with one of `= != < <= > >= ~` (contains)
    and `^=` (begins with). A JSON list as the value matches any of its items. Raises `InvalidFilter`.
    """
    return [to_json(one) for text in texts for one in parse_filters(_read(text.strip()))]


def _read(text: str) -> object:
    if text.startswith(("{", "[")):
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidFilter("The filter is not valid JSON.") from error
    compared = _COMPARED.search(text)
    if compared is None:
        return {"field": text, "operator": Operator.EXISTS}
    field, typed = text[: compared.start()].strip(), text[compared.end() :].strip()
    operator, value = _OPERATORS[compared[0]], from_text(typed)
    if isinstance(value, list):
        operator = _FOR_MANY.get(operator, operator)
    elif FIELDS.get(field) is FieldKind.KEYWORD and not typed.startswith('"'):
        value = typed  # `filename=2024` is a name
    return {"field": field, "operator": operator, "value": value}
