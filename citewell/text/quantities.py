"""How texts write quantities: the signs and codes of currencies, and the words for powers of ten."""

from __future__ import annotations

CURRENCY_SIGNS = "$€£¥₵₦₹"
"""For a character class of a regular expression."""

CURRENCY_CODES = "USD|EUR|GBP|GHS|NGN|KES|ZAR|CHF|INR|JPY|CNY|CAD|AUD"
"""Those of ISO 4217 that prose is searched for, as alternatives of a regular expression: three capitals may be anything."""

SCALES = {
    "k": 3, "thousand": 3, "tsd": 3, "m": 6, "mn": 6, "mio": 6, "million": 6, "millions": 6, "millionen": 6, "bn": 9,
    "billion": 9, "billions": 9, "mrd": 9, "milliarden": 9, "trillion": 12, "hundred": 2,
}  # fmt: skip
"""The exponents of ten that words and letters after a number stand for, in lower case: `5k`, `5 Mio`."""
