"""E-books: chapters in order, titles from the table of contents, pictures, protection."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.errors import CorruptFile, ExtractionError
from citewell.types import ElementType
from tests.extract.documents.books import OPF, book
from tests.extract.documents.reading import read_bytes


def test_what_the_book_says_of_itself_comes_before_its_chapters_in_reading_order_with_titles_from_the_contents(
    tmp_path: Path,
) -> None:
    reading = read_bytes(tmp_path, "a.epub", book())
    assert [(e.type.value, e.text, e.locator.headings) for e in reading.elements] == [
        ("title", "My book", ()),
        ("paragraph", "Author: Ann", ("My book",)),
        ("title", "The first", ("My book",)),
        ("paragraph", "Words & more.", ("My book", "The first")),
        ("image", "A map", ("My book", "The first")),
        ("title", "Chapter Two", ("My book",)),
        ("paragraph", "No heading here.", ("My book", "Chapter Two")),
    ]
    assert reading.of(ElementType.IMAGE)[0].blob is not None
    units = [(u.unit, u.number, u.name) for u in reading.summary.coverage.units]
    assert units == [
        ("front", 1, None),
        ("chapter", 1, "Chapter One"),
        ("chapter", 2, "Chapter Two"),
        ("chapter", 3, None),
    ]
    assert "missing from the file" in reading.notes()
    assert (reading.summary.metadata["title"], reading.summary.language) == ("My book", "de")


def test_an_older_table_of_contents_is_used_too(tmp_path: Path) -> None:
    opf = OPF.replace(
        '<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>',
        '<item id="n" href="toc.ncx" media-type="application/x-dtbncx+xml"/>',
    )
    ncx = '<ncx><navMap><navPoint><navLabel><text>Two by NCX</text></navLabel><content src="text/two%20b.xhtml"/></navPoint></navMap></ncx>'
    reading = read_bytes(tmp_path, "a.epub", book(**{"OPS/book.opf": opf, "OPS/toc.ncx": ncx}))
    assert "Two by NCX" in reading.texts(ElementType.TITLE)


def test_a_damaged_chapter_costs_only_itself(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.epub", book(**{"OPS/text/one.xhtml": ""}))
    assert "No heading here." in reading.texts()
    assert "damaged" in reading.notes()


def test_a_protected_book_says_so_and_scrambled_fonts_do_not_matter(tmp_path: Path) -> None:
    def encryption(*paths: str) -> str:
        return (
            "<encryption>"
            + "".join(f'<CipherData><CipherReference URI="{path}"/></CipherData>' for path in paths)
            + "</encryption>"
        )

    fonts = book(**{"META-INF/encryption.xml": encryption("OPS/font.otf")})
    assert "No heading here." in read_bytes(tmp_path, "a.epub", fonts).texts()
    locked = book(
        **{"META-INF/encryption.xml": encryption("OPS/text/one.xhtml", "OPS/text/two b.xhtml", "OPS/text/gone.xhtml")}
    )
    with pytest.raises(ExtractionError, match="DRM"):
        read_bytes(tmp_path, "b.epub", locked)


@pytest.mark.parametrize("opf", [None, "", "plain words"])
def test_a_book_without_usable_package_is_refused(opf: str | None, tmp_path: Path) -> None:
    with pytest.raises(CorruptFile):
        read_bytes(tmp_path, "a.epub", book(**{"OPS/book.opf": opf}))


def test_a_book_whose_package_is_cut_off_is_read_as_far_as_it_says(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.epub", book(**{"OPS/book.opf": OPF[: OPF.index("<spine>")]}))
    assert "Words & more." in reading.texts()
