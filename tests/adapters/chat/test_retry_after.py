"""How long a provider asks to wait, whatever its headers say."""

from __future__ import annotations

from email.utils import formatdate
from time import time

import pytest

from citewell.adapters.chat.errors import from_status, retry_after
from citewell.errors import ProviderRateLimited

DAY = 86_400.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        pytest.param({}, None, id="none"),
        pytest.param({"retry-after": "7"}, 7.0, id="seconds"),
        pytest.param({"retry-after": " 0.5 "}, 0.5, id="a-fraction"),
        pytest.param({"retry-after-ms": "250", "retry-after": "7"}, 0.25, id="milliseconds"),
        pytest.param({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0, id="a-date-that-is-past"),
        pytest.param({"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"}, DAY, id="a-date-far-away"),
        pytest.param({"retry-after": "999999999"}, DAY, id="years"),
        pytest.param({"retry-after": "9" * 400}, DAY, id="more-than-a-float-holds"),
        pytest.param({"retry-after-ms": "9" * 400}, DAY, id="as-many-milliseconds"),
        pytest.param({"retry-after": "\u00b2"}, None, id="a-digit-that-is-no-number"),
        pytest.param({"retry-after-ms": "\u00b2"}, None, id="such-milliseconds"),
        pytest.param({"retry-after": "."}, None, id="a-point"),
        pytest.param({"retry-after": "-5"}, None, id="less-than-nothing"),
        pytest.param({"retry-after": "soon"}, None, id="a-word"),
    ],
)
def test_what_the_headers_ask_for_is_a_number_of_at_most_a_day(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_date_is_seconds_from_now() -> None:
    asked = retry_after({"retry-after": formatdate(time() + 30, usegmt=True)})
    assert asked is not None
    assert 28 <= asked <= 30


def test_words_ask_for_at_most_a_day_too() -> None:
    error = from_status(429, f"Please retry in {'9' * 40}s.")
    assert isinstance(error, ProviderRateLimited)
    assert error.retry_after == DAY
