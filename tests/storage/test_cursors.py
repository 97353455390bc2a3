"""Cursors: pages follow each other without gap or repetition, and a foreign cursor is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.errors import InvalidCursor
from citewell.storage.cursors import decode_cursor, encode_cursor


@given(st.floats(allow_nan=False, allow_infinity=False), st.text())
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


def test_a_cursor_of_another_list_is_refused() -> None:
    with pytest.raises(InvalidCursor):
        decode_cursor(encode_cursor(3), float, str)


@given(st.lists(st.integers(1 - 2**63, 2**63 - 1), unique=True), st.integers(min_value=1, max_value=7))
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
