"""Errors for unknown names in requests, with the name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from citewell.errors import InvalidRequest, cut
from citewell.text.spelling import advice, nearest

MAX_PROBLEMS = 10
"""The most mistakes in one error, because finding the intended name takes a millisecond each."""


def unknown_names(kind: str, names: Iterable[str], known: Sequence[str]) -> list[dict[str, str]]:
    """Problems for the first few unknown names. kind: such as `query` or `body`."""
    wrong = (name for name in names if name not in known)
    return [unknown_field(f"{kind}.{name}", name, known) for name in islice(wrong, MAX_PROBLEMS)]


def unknown_field(field: str, name: str, known: Iterable[str]) -> dict[str, str]:
    """The message for an unknown field, parameter or argument, with the name that was probably meant."""
    known = sorted(known)
    near = nearest(name, known)
    problem = {"field": cut(field), "problem": f"There is no `{cut(name)}`. {advice(near, known)}"}
    return problem if near is None else problem | {"suggestion": near}


def invalid_request(fields: Sequence[dict[str, str]]) -> InvalidRequest:
    """The error with these fields; a 422."""
    return InvalidRequest("; ".join(f"{f['field']}: {f['problem']}" for f in fields), fields=list(fields))
