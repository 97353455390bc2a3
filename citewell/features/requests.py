"""What all requests have in common: a name that does not exist is an error that says which one was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from citewell.errors import InvalidRequest, cut
from citewell.spelling import nearest, suggestion


def unknown_field(field: str, name: str, known: Iterable[str]) -> dict[str, str]:
    """What is said of a field, parameter or argument that does not exist, with the name that was probably meant."""
    known, field, shown = list(known), cut(field), cut(name)
    near = nearest(name, known)
    problem = {"field": field, "problem": f"There is no `{shown}`. {suggestion(name, known)}"}
    return problem if near is None else problem | {"suggestion": near}


def invalid_request(fields: Sequence[dict[str, str]]) -> InvalidRequest:
    """The error that names these fields; a 422."""
    return InvalidRequest("; ".join(f"{f['field']}: {f['problem']}" for f in fields), fields=list(fields))
