"""The language of files: of documents by their prose, of data by the words in cells, never by headers, codes and names."""

from __future__ import annotations

import pytest

from citewell.ingest.language import language_of
from citewell.types import Element, ElementType, Locator


def rows(*cells: str) -> list[Element]:
    return [
        Element(id=f"e{n}", type=ElementType.ROW, text=f"Tema: {cell}", values={"Tema": cell}, locator=Locator(row=n))
        for n, cell in enumerate(cells)
    ]


def test_a_document_is_in_the_language_of_its_prose() -> None:
    prose = Element(
        id="e0", type=ElementType.PARAGRAPH, text="Der Kredit wird nach der Prüfung gewährt.", locator=Locator()
    )
    assert language_of([prose], is_data=False) == "de"
    assert language_of([], is_data=False) is None


@pytest.mark.parametrize(
    ("cells", "language"),
    [
        (("Tema", "T-2", "Los Angeles", "Sale Monte"), None),
        (("Tema", "loans of the branch", "paid by the borrower"), "en"),
        (("Ratenzahlung für das Gerät", "noch nicht bezahlt"), "de"),
        (("佐藤太郎の店", "三木英子の町", "大阪"), "ja"),
        (("12", "2024-05-01"), None),
        (("'col-2', 'col-3', 'col-4' by 'col-1'",), None),
        (("salt and pepper", "bread and butter"), "en"),
    ],
)
def test_data_is_in_the_language_of_the_words_in_its_cells(cells: tuple[str, ...], language: str | None) -> None:
    assert language_of(rows(*cells), is_data=True) == language


def test_a_note_beside_a_table_tells_the_language_of_data_too() -> None:
    note = Element(id="n", type=ElementType.NOTE, text="Amounts are in cedis, as of the last day.", locator=Locator())
    assert language_of([*rows("Tema", "Osu"), note], is_data=True) == "en"
