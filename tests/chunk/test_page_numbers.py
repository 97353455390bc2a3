"""Running lines without their page numbers."""

from __future__ import annotations

import pytest

from citewell.types.page_numbers import without_page_number


@pytest.mark.parametrize(
    "text",
    [
        "3",
        "- 3 -",
        "iv",
        "Page 3",
        "Page 3 of 9",
        "3 / 9",
        "Seite 3 von 9",
        "Página 3 de 9",
        "p. 3",
        "第 3 页",
        "3 ページ",
        "стр. 3",
    ],
)
def test_a_page_number_alone_leaves_nothing(text: str) -> None:
    assert without_page_number(text) == ""


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Invoice RX-17 Page 1 of 2", "Invoice RX-17"),
        ("Annual Report 2023 | 57", "Annual Report 2023"),
        ("57 · Annual Report", "Annual Report"),
        ("Protokoll 12/2024  Seite 2 von 3", "Protokoll 12/2024"),
    ],
)
def test_a_page_number_beside_other_text_is_left_out(text: str, rest: str) -> None:
    assert without_page_number(text) == rest


@pytest.mark.parametrize(
    "text", ["Week 3", "Invoice 10045", "Budget | 2024", "IBAN XX12 3456", "Step 3", "Call 555 0199", "Homepage 3"]
)
def test_other_numbers_stay(text: str) -> None:
    assert without_page_number(text) == text
