"""E-books: chapters in order, titles from the table of contents, pictures, protection."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.errors import CorruptFile, ExtractionError
from citewell.types import ElementType
from tests.extract.documents.office import package, picture
from tests.extract.documents.reading import read_bytes

CONTAINER = '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
OPF = """<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>My book</dc:title><dc:creator>Ann</dc:creator><dc:language>de</dc:language></metadata>
<manifest><item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/><item id="b" href="text/two%20b.xhtml" media-type="application/xhtml+xml"/>
<item id="a" href="text/one.xhtml" media-type="application/xhtml+xml"/><item id="p" href="img/map.png" media-type="image/png"/><item id="m" href="text/gone.xhtml" media-type="application/xhtml+xml"/></manifest>
<spine><itemref idref="n"/><itemref idref="a"/><itemref idref="b"/><itemref idref="m"/></spine></package>"""
NAV = '<html><body><nav><ol><li><a href="text/one.xhtml#x">Chapter One</a></li><li><a href="text/two%20b.xhtml">Chapter Two</a></li></ol></nav></body></html>'


def book(**changes: str | bytes | None) -> bytes:
    parts: dict[str, str | bytes | None] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OPS/book.opf": OPF,
        "OPS/nav.xhtml": NAV,
        "OPS/text/one.xhtml": '<html><body><h1>The first</h1><p>Words &amp; more.</p><img src="../img/map.png" alt="A map"/></body></html>',
        "OPS/text/two b.xhtml": "<html><body><p>No heading here.</p></body></html>",
        "OPS/img/map.png": picture(40),
        **changes,
    }
    return package({name: content for name, content in parts.items() if content is not None})


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
