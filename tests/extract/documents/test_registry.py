"""One way into extraction: types, passwords, summaries, and nothing left behind."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msoffcrypto.format.ooxml import OOXMLFile

from citewell.errors import CorruptFile, PasswordRequired, WrongPassword
from citewell.extract.core.sink import ELEMENTS_FILE, TITLE_FILE, Sink
from citewell.extract.registry import summary
from citewell.types import Category, DetectedType, ElementType, ExtractionSummary, ExtractOptions, Locator
from tests.extract.documents.compound import compound_file
from tests.extract.documents.office import docx, paragraph, picture
from tests.extract.documents.office97 import Doc
from tests.extract.documents.reading import read_bytes

SECRET = docx(paragraph("The secret"), {"media/noise.png": picture(20)})


def encrypted(data: bytes, password: str = "tika") -> bytes:
    out = io.BytesIO()
    OOXMLFile(io.BytesIO(data)).encrypt(password, out)
    return out.getvalue()


def test_an_encrypted_document_opens_with_its_password_only(tmp_path: Path) -> None:
    data = encrypted(SECRET)
    with pytest.raises(PasswordRequired):
        read_bytes(tmp_path, "a.docx", data)
    with pytest.raises(WrongPassword):
        read_bytes(tmp_path, "b.docx", data, password="guess")
    reading = read_bytes(tmp_path, "c.docx", data, password="tika")
    assert reading.texts() == ["The secret"]
    assert reading.summary.detected.label == "docx"
    assert {path.name for path in reading.folder.iterdir()} == {ELEMENTS_FILE, TITLE_FILE}


def test_a_file_that_opens_with_the_default_password_needs_none(tmp_path: Path) -> None:
    assert read_bytes(tmp_path, "a.docx", encrypted(SECRET, "VelvetSweatshop")).texts() == ["The secret"]


def test_a_needless_password_does_no_harm(tmp_path: Path) -> None:
    assert read_bytes(tmp_path, "a.docx", docx(paragraph("Open")), password="x").texts() == ["Open"]
    assert read_bytes(tmp_path, "a.doc", Doc([("Open\r", 0, b"")]).build(), password="x").texts() == ["Open"]


def test_damaged_encryption_has_a_reason(tmp_path: Path) -> None:
    data = compound_file({"EncryptionInfo": b"\x04\0\x04\0\x40\0\0\0<not xml", "EncryptedPackage": b"\0" * 100})
    with pytest.raises((CorruptFile, PasswordRequired)):
        read_bytes(tmp_path, "a.docx", data, password="x")


def test_a_type_without_reader_yields_no_element(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.db", b"SQLite format 3\0" + b"\0" * 100)
    assert reading.summary.detected == DetectedType("application/vnd.sqlite3", "sqlite", Category.BINARY, None)
    assert not reading.elements


def test_the_summary_can_be_written_as_json_and_read_again(tmp_path: Path) -> None:
    with Sink(tmp_path, ExtractOptions()) as sink:
        sink.metadata.update({"when": datetime(2026, 1, 2, tzinfo=UTC), "odd": "\ud800\x00x", "list": [1, None]})
        sink.add_child("a.txt").write_text("x")
        found = summary(DetectedType("text/plain", "txt", Category.RAG, "plain"), sink)
    again = ExtractionSummary.from_json(json.loads(json.dumps(found.to_json())))
    assert again == found
    assert found.metadata["when"] == "2026-01-02 00:00:00+00:00"


def test_the_totals_of_the_coverage_report_add_up_to_the_elements(tmp_path: Path) -> None:
    body = "".join(paragraph(f"Paragraph {number} with words") for number in range(20))
    reading = read_bytes(tmp_path, "a.docx", docx(body))
    coverage = reading.summary.coverage
    assert coverage.elements == len(reading.elements)
    assert coverage.characters == sum(len(element.text) for element in reading.elements)
    assert coverage.characters == sum(unit.characters for unit in coverage.units)


def test_a_page_that_ocr_was_unsure_of_is_reported(tmp_path: Path) -> None:
    with Sink(tmp_path, ExtractOptions()) as sink:
        for number, confidence in ((1, 0.95), (2, 0.6)):
            sink.start_unit("page", number)
            sink.emit(ElementType.PARAGRAPH, "read by OCR", Locator(page=number), confidence=confidence)
        sure, unsure = sink.coverage().units
    assert sure.warnings == ()
    assert unsure.warnings == ("OCR was unsure of the text of this page (mean confidence 0.60).",)
    assert (unsure.ocr_share, unsure.ocr_confidence) == (1.0, 0.6)
