"""Signs and codes of currencies and words for powers of ten: one list of each, which all that read them agree on."""

from __future__ import annotations

import re

import pytest

from citewell.agent.tables.language.amounts import CURRENCY
from citewell.text.quantities import CURRENCY_CODES, CURRENCY_SIGNS, SCALES
from citewell.types.figures import UNIT


@pytest.mark.parametrize("unit", [*CURRENCY_SIGNS, *CURRENCY_CODES.split("|"), "US$", "zł", "kr", "Rs."])
def test_every_currency_is_a_unit_of_columns_and_money_to_questions(unit: str) -> None:
    assert re.fullmatch(UNIT, unit)
    assert CURRENCY.fullmatch(unit)


def test_words_for_one_power_of_ten_have_one_exponent() -> None:
    assert SCALES["k"] == SCALES["tsd"] == SCALES["thousand"] == 3
    assert SCALES["m"] == SCALES["mio"] == SCALES["million"] == SCALES["millionen"] == 6
    assert SCALES["bn"] == SCALES["mrd"] == SCALES["billion"] == SCALES["milliarden"] == 9
    assert all(re.fullmatch(r"[a-z]+", word) for word in SCALES)
