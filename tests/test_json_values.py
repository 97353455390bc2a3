"""What JSON may hold, and what of it is made sound before it goes any further."""

from __future__ import annotations

import json
import math

import pytest

from citewell.features.json_bodies import dumped
from citewell.types.json import MAX_DEPTH, JsonValue, sound, well_formed


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("plain", "plain"),
        ("é", "é"),
        ("a\ud83d", "a\ufffd"),
        ("\ude00a", "\ufffda"),
        ("\ud83d\ude00", "😀"),
        ("😀", "😀"),
    ],
)
def test_halves_of_surrogate_pairs_are_joined_or_replaced(sent: str, kept: str) -> None:
    assert well_formed(sent) == kept
    assert sound({sent: [sent]}) == {kept: [kept]}


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_numbers_that_are_none_are_refused(number: float) -> None:
    with pytest.raises(ValueError, match="too large"):
        sound([{"a": number}])


def test_what_is_nested_too_deeply_is_refused() -> None:
    value: JsonValue = 1
    for _ in range(MAX_DEPTH):
        value = [value]
    assert sound(value) == value
    with pytest.raises(ValueError, match="nested"):
        sound([value])


@pytest.mark.parametrize(
    "value", [{"a": math.nan}, ["\ud800"], {"\udfff": (1, 2)}, 10**60, {"a": {"b": -(10**30)}}, "plain"]
)
def test_whatever_a_file_held_is_answered_as_json(value: object) -> None:
    read = json.loads(dumped(value).decode("utf-8"), parse_constant=lambda name: pytest.fail(name))
    assert dumped(read) == dumped(value)
