"""Signs and codes of currencies and words for powers of ten: one list of each, which all that read them agree on."""

from __future__ import annotations

import re

from citewell.agent.tables.language.amounts import CURRENCY
from citewell.extract.formats.tabular.column_types import UNIT
from citewell.text.quantities import CURRENCY_CODES, CURRENCY_SIGNS, SCALES


def test_every_currency_that_a_column_is_read_in_is_one_that_questions_about_money_find() -> None:
    """Readers may not import `text`, so the units of columns are written there again."""
    signs, codes = UNIT.strip("()").split("]|")
    read = [*signs.strip("[").replace("%", ""), *codes.split("|")]
    assert len(read) > 40
    assert all(CURRENCY.fullmatch(unit) for unit in read)
    assert {*CURRENCY_SIGNS, *CURRENCY_CODES.split("|")} <= set(read)


def test_words_for_one_power_of_ten_have_one_exponent() -> None:
    assert SCALES["k"] == SCALES["tsd"] == SCALES["thousand"] == 3
    assert SCALES["m"] == SCALES["mio"] == SCALES["million"] == SCALES["millionen"] == 6
    assert SCALES["bn"] == SCALES["mrd"] == SCALES["billion"] == SCALES["milliarden"] == 9
    assert all(re.fullmatch(r"[a-z]+", word) for word in SCALES)
