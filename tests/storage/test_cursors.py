"""Cursors: pages follow each other without gap or repetition, and a foreign cursor is refused."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.errors import InvalidCursor
from citewell.storage.cursors import decode_cursor, encode_cursor


@given(st.floats(allow_nan=False, allow_infinity=False), st.text(st.characters(exclude_characters="\0")))
def test_a_cursor_gives_its_key_back(number: float, text: str) -> None:
    assert decode_cursor(encode_cursor(number, text), float, str) == (number, text)


@given(st.text())
def test_any_other_text_is_refused_or_decodes_to_the_right_types(text: str) -> None:
    try:
        key = decode_cursor(text, float, str)
    except InvalidCursor:
        return
    assert isinstance(key[0], int | float)
    assert isinstance(key[1], str)


@pytest.mark.parametrize(
    ("json", "kind"),
    [
        ("[1e999]", float),
        ("[NaN]", float),
        (f"[{10**400}]", float),
        (f"[{2**31}]", int),
        ("[true]", int),
        ("[1.5]", int),
        ('["a\\u0000b"]', str),
        ('["\\ud800"]', str),
        ('{"a": 1}', int),
        ("[" * 100_000, int),
    ],
)
def test_a_value_that_no_column_holds_is_refused(json: str, kind: type[int | float | str]) -> None:
    cursor = base64.urlsafe_b64encode(json.encode()).decode().rstrip("=")
    with pytest.raises(InvalidCursor):
        decode_cursor(cursor, kind)


def test_a_cursor_of_another_list_is_refused() -> None:
    with pytest.raises(InvalidCursor):
        decode_cursor(encode_cursor(3), float, str)


@given(st.lists(st.integers(-(2**31) + 1, 2**31 - 1), unique=True), st.integers(min_value=1, max_value=7))
def test_paging_by_cursor_visits_everything_once_in_order(keys: list[int], limit: int) -> None:
    ordered, seen, cursor = sorted(keys), [], None
    while True:
        start = decode_cursor(cursor, int)[0] if cursor else None
        rest = [key for key in ordered if start is None or key > start]
        seen += rest[:limit]
        if len(rest) <= limit:
            break
        cursor = encode_cursor(rest[limit - 1])
    assert seen == ordered
