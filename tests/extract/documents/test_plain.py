"""Plain text: encodings, paragraphs, and exact character spans."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from citewell.extract.core.decode import decode_bytes, detect_encoding
from citewell.extract.core.sink import ELEMENTS_FILE, Sink
from citewell.extract.formats import plain
from citewell.extract.formats.plain import MAX_PARAGRAPH, paragraphs
from citewell.types import Element, ElementType, ExtractOptions
from tests.depth import examples
from tests.extract.documents.reading import read_bytes

RUSSIAN = "Однажды, в студёную зимнюю пору, я из лесу вышел; был сильный мороз. Гляжу, поднимается медленно в гору."
JAPANESE = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。何でも薄暗いじめじめした所で泣いていた。"
GERMAN = "Die Größe der Übung überrascht: fünf Äpfel für Jürgen, süße Öle und weiße Blüten auf der Straße."
POLISH = "Zażółć gęślą jaźń. Wątek o źródłach i żółwiach, których nikt nie widział w Łodzi ani w Gdańsku."


def test_what_is_in_a_text_is_counted(tmp_path: Path) -> None:
    metadata = read_bytes(tmp_path, "a.txt", b"One line\nand another.\n\nThe second paragraph.\n").summary.metadata
    counted = {name: metadata[f"{name}_count"] for name in ("line", "paragraph", "word", "character", "table", "image")}
    assert counted == {"line": 4, "paragraph": 2, "word": 7, "character": 42, "table": 0, "image": 0}
    assert read_bytes(tmp_path, "b.md", b"# Title\n\n- one\n- two\n").summary.metadata["line_count"] == 4
    assert read_bytes(tmp_path, "c.py", b"a = 1\nb = 2\n").summary.metadata["line_count"] == 2


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "utf-8"),
        (GERMAN, "utf-8-sig"),
        (GERMAN, "utf-16"),
        ("Plain words in sixteen bits.\nAnd more of them.", "utf-16-le"),
        ("Plain words in sixteen bits.\nAnd more of them.", "utf-16-be"),
        (GERMAN, "utf-32"),
        (GERMAN, "latin-1"),
        (POLISH, "cp1250"),
        (RUSSIAN, "cp866"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        ("人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。", "gb18030"),
    ],
)
def test_text_in_any_common_encoding_is_read(text: str, encoding: str, tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "note.txt", text.encode(encoding))
    assert reading.text.replace("ё", "е") == text.replace("ё", "е")


def test_a_short_western_text_is_not_taken_for_an_eastern_european_one() -> None:
    assert decode_bytes("können\n\näöüß\n".encode("latin-1")).encoding == "cp1252"


def test_a_declared_encoding_is_used_only_where_it_fits() -> None:
    assert decode_bytes(RUSSIAN.encode("cp1251"), "cp1251").text == RUSSIAN
    assert decode_bytes(RUSSIAN.encode("utf-8"), "ascii").text == RUSSIAN
    assert decode_bytes(b"abc", "no-such-encoding").text == "abc"
    assert decode_bytes(b"abc", "rot13").text == "abc"


def test_a_byte_that_is_not_utf8_far_behind_the_beginning_decides_the_encoding(tmp_path: Path) -> None:
    data = b"plain words of the first part\n" * 20_000 + (GERMAN + "\n").encode("latin-1") * 40
    reading = read_bytes(tmp_path, "note.txt", data)
    assert "fünf Äpfel für Jürgen" in reading.text
    assert "\ufffd" not in reading.text


def test_a_few_damaged_bytes_leave_the_rest_as_it_is_and_are_reported(tmp_path: Path) -> None:
    data = (RUSSIAN * 5).encode("utf-8") + b"\xff" + (RUSSIAN * 5).encode("utf-8")
    reading = read_bytes(tmp_path, "note.txt", data)
    assert RUSSIAN in reading.text
    assert "could not be decoded" in reading.notes()


def test_utf16_without_a_mark_is_recognised_by_its_zeros() -> None:
    assert detect_encoding("some words".encode("utf-16-le")) == "utf-16-le"
    assert detect_encoding("some words".encode("utf-16-be")) == "utf-16-be"


def test_paragraphs_are_parted_by_empty_lines_and_keep_their_own_line_breaks(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "note.txt", "First line\r\nsecond line\r\n\r\n \t\r\n  Other paragraph  \r\n")
    assert reading.texts() == ["First line\r\nsecond line", "Other paragraph"]


def test_a_long_line_is_a_paragraph_of_its_own(tmp_path: Path) -> None:
    lines = [f"Line {number} " + "word " * 60 for number in range(3)]
    assert len(read_bytes(tmp_path, "note.txt", "\n".join(lines)).elements) == 3


def test_a_text_without_any_break_is_parted_into_bounded_pieces(tmp_path: Path) -> None:
    text = "x" * 300_000
    reading = read_bytes(tmp_path, "note.txt", text)
    assert all(len(element.text) <= MAX_PARAGRAPH for element in reading.elements)
    assert "".join(reading.texts()) == text


_LINES = st.lists(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\x00"), max_size=40), max_size=30)


@given(
    lines=_LINES,
    separator=st.sampled_from(["\n", "\r\n", "\n\n", " \n\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
@settings(
    max_examples=examples(80),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
def test_every_paragraph_stands_at_its_span_of_the_decoded_text(
    lines: list[str], separator: str, encoding: str, tmp_path: Path
) -> None:
    text = separator.join(lines)
    data = text.encode(encoding)
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    (folder / "note.txt").write_bytes(data)
    with Sink(folder, ExtractOptions()) as sink:
        plain.extract(folder / "note.txt", sink)
    elements = [Element.from_json(json.loads(line)) for line in (folder / ELEMENTS_FILE).read_bytes().splitlines()]
    decoded = data.decode(str(sink.metadata["encoding"]), "replace")
    for element in elements:
        assert element.text == decoded[element.locator.char_start : element.locator.char_end]
    covered = "".join(element.text for element in elements)
    assert "".join(covered.split()) == "".join(decoded.removeprefix("\ufeff").split())


@given(st.text(alphabet="ab. \n。", max_size=3 * MAX_PARAGRAPH))
@settings(max_examples=examples(60), deadline=None)
def test_no_character_but_white_space_is_lost_between_paragraphs(text: str) -> None:
    found = list(paragraphs(text.splitlines(keepends=True)))
    assert all(text[start : start + len(piece)] == piece for start, piece in found)
    assert "".join("".join(piece.split()) for _, piece in found) == "".join(text.split())


MINUTES = (
    "MINUTES OF THE BOARD\nDate: 14 April\n\n1. Reports\nThe chair read the report of the year.\n\n2. To do\n- Ada signs the lease\n"
    "- Ben books the hall\n"
)


def test_numbered_lines_and_lines_in_capitals_over_others_are_headings(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.txt", MINUTES)
    assert [(e.text, e.level) for e in reading.of(ElementType.TITLE)] == [
        ("MINUTES OF THE BOARD", 1),
        ("1. Reports", 2),
        ("2. To do", 2),
    ]
    last = reading.elements[-1]
    assert last.locator.headings == ("MINUTES OF THE BOARD", "2. To do")
    assert all(e.text == MINUTES[e.locator.char_start : e.locator.char_end] for e in reading.elements)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("How often should I clean it?\nEvery two months, or after 200 cups.\n", "How often should I clean it?"),
        ("§ 4 Kaution\nDer Mieter zahlt eine Kaution von drei Mieten.\n", "§ 4 Kaution"),
        ("Opening hours\n-------------\nFrom eight to five.\n", "Opening hours"),
        ("3. Storage\n\nKeep it dry and away from the light.\n", "3. Storage"),
    ],
)
def test_what_is_over_a_text_is_its_heading(text: str, title: str, tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.txt", text)
    assert reading.texts(ElementType.TITLE) == [title]
    assert reading.elements[-1].locator.headings == (title,)


@pytest.mark.parametrize(
    "text",
    [
        "1. Buy milk\n2. Call Ben\n",
        "1. Buy milk\n\n2. Call Ben\n",
        "3. Storage\n",
        "1. Fill the tank with one litre of\nwater\n",
        "Ada: did the plumber come?\nBen: yes\n",
        "Dear Ben,\nthank you for the map.\n",
        "But would they come?\nnobody knew\n",
    ],
)
def test_items_of_lists_and_lines_of_prose_are_no_headings(text: str, tmp_path: Path) -> None:
    assert read_bytes(tmp_path, "a.txt", text).texts(ElementType.TITLE) == []
