"""The content tells the type; the name is checked against it."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from pathlib import Path
from random import Random

import pytest

from citewell.extract.catalogue import BY_EXTENSION, FORMATS, extension_of
from citewell.extract.detect import detect
from citewell.extract.registry import READERS, load_reader
from citewell.types import Category, DetectedType
from tests.extract.documents.compound import compound_file

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 20
MAIL = b"From: Ann <ann@example.com>\r\nTo: Bob <bob@example.com>\r\nSubject: Hello\r\nDate: Fri, 1 May 2026 10:00:00 +0000\r\n\r\nText\r\n"


def archive(*names: str, **contents: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as out:
        for name in names:
            out.writestr(name, contents.get(name, b"x"))
        for name, data in contents.items():
            if name not in names:
                out.writestr(name, data)
    return buffer.getvalue()


def detected(folder: Path, name: str, data: bytes | str) -> DetectedType:
    path = folder / "upload"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return detect(path, name)


@pytest.mark.parametrize(
    ("name", "data", "label"),
    [
        ("a.pdf", b"%PDF-1.7\n...", "pdf"),
        ("a.pdf", b"\n\n junk %PDF-1.4", "pdf"),
        ("a.png", PNG, "png"),
        ("a.jpg", b"\xff\xd8\xff\xe0" + b"\0" * 40, "jpeg"),
        ("a.heic", b"\0\0\0\x18ftypheic" + b"\0" * 40, "heif"),
        ("a.avif", b"\0\0\0\x18ftypavif" + b"\0" * 40, "avif"),
        ("a.webp", b"RIFF\0\0\0\0WEBPVP8 ", "webp"),
        ("a.parquet", b"PAR1....PAR1", "parquet"),
        ("a.db", b"SQLite format 3\0" + b"\0" * 50, "sqlite"),
        ("a.7z", b"7z\xbc\xaf\x27\x1c" + b"\0" * 50, "7z"),
        ("a.gz", b"\x1f\x8b\x08" + b"\0" * 50, "gzip"),
        ("a.rtf", rb"{\rtf1\ansi Hello}", "rtf"),
        ("a.docx", archive("[Content_Types].xml", "word/document.xml"), "docx"),
        ("a.docm", archive("[Content_Types].xml", "word/document2.xml", "word/vbaProject.bin"), "docx"),
        ("a.pptx", archive("[Content_Types].xml", "ppt/presentation.xml"), "pptx"),
        ("a.xlsx", archive("[Content_Types].xml", "xl/workbook.xml"), "xlsx"),
        ("a.xlsm", archive("[Content_Types].xml", "xl/workbook.xml", "xl/vbaProject.bin"), "xlsm"),
        ("a.xlsb", archive("[Content_Types].xml", "xl/workbook.bin"), "xlsb"),
        ("a.odt", archive(mimetype=b"application/vnd.oasis.opendocument.text"), "odt"),
        ("a.odp", archive(mimetype=b"application/vnd.oasis.opendocument.presentation"), "odp"),
        ("a.ods", archive(mimetype=b"application/vnd.oasis.opendocument.spreadsheet"), "ods"),
        ("a.epub", archive(mimetype=b"application/epub+zip"), "epub"),
        ("a.zip", archive("readme.txt"), "zip"),
        ("a.doc", compound_file({"WordDocument": b"x" * 5000}), "doc"),
        ("a.xls", compound_file({"Workbook": b"x" * 5000}), "xls"),
        ("a.ppt", compound_file({"PowerPoint Document": b"x" * 5000}), "ppt"),
        ("a.msg", compound_file({"__properties_version1.0": b"x" * 50}), "msg"),
        ("a.html", "<!DOCTYPE html><html><body><p>Hi</p></body></html>", "html"),
        ("a.html", "<p>A fragment with <b>bold</b> text</p>", "html"),
        ("a.html", "<html><body>Sixteen bits</body></html>".encode("utf-16"), "html"),
        (
            "a.svg",
            '<?xml version="1.0"?><!-- drawn --><svg xmlns="http://www.w3.org/2000/svg"><text>Hi</text></svg>',
            "svg",
        ),
        ("a.xml", '<?xml version="1.0"?><root><a>1</a></root>', "xml"),
        ("a.xml", "<root><a>1</a></root>\n", "xml"),
        ("a.eml", MAIL, "eml"),
        ("a.mbox", b"From ann@example.com Fri May  1 10:00:00 2026\n" + MAIL, "mbox"),
        ("a.json", '{"a": 1}', "json"),
        ("a.ndjson", '{"a": 1}\n{"a": 2}\n', "ndjson"),
        ("a.ipynb", json.dumps({"cells": [], "nbformat": 4}), "ipynb"),
        ("a.csv", "name,age\nAnn,30\nBob,40\n", "csv"),
        ("a.tsv", "name\tage\nAnn\t30\nBob\t40\n", "tsv"),
        ("a.md", "# Title\n\nSome *text*.\n", "markdown"),
        ("a.txt", "Just some words, and a comma.\n", "txt"),
        ("a.py", "import os\n\nprint(os.name)\n", "code"),
        ("Dockerfile", "FROM debian\nRUN true\n", "code"),
        ("a.log", "started\n", "txt"),
    ],
)
def test_each_format_is_recognised_under_its_own_name(name: str, data: bytes | str, label: str, tmp_path: Path) -> None:
    found = detected(tmp_path, name, data)
    assert (found.label, found.mismatch) == (label, None)
    assert found.extractor == FORMATS[label].extractor


@pytest.mark.parametrize(
    ("name", "data", "label"),
    [
        ("report.pdf", "<!DOCTYPE html><html><body>Not found</body></html>", "html"),
        ("picture.jpg", PNG, "png"),
        ("table.csv", archive("[Content_Types].xml", "xl/workbook.xml"), "xlsx"),
        ("letter.docx", rb"{\rtf1\ansi Hello}", "rtf"),
        ("notes.txt", b"%PDF-1.7\n", "pdf"),
    ],
)
def test_content_wins_over_the_name_and_the_mismatch_is_noted(
    name: str, data: bytes | str, label: str, tmp_path: Path
) -> None:
    found = detected(tmp_path, name, data)
    assert found.label == label
    assert found.mismatch is not None
    assert BY_EXTENSION[extension_of(name)].name in found.mismatch


def test_a_name_without_extension_is_no_mismatch(tmp_path: Path) -> None:
    assert detected(tmp_path, "upload", PNG).mismatch is None


def test_an_empty_file_and_random_bytes_have_no_reader(tmp_path: Path) -> None:
    assert detected(tmp_path, "a.txt", b"").label == "empty"
    noise = detected(tmp_path, "a.bin", bytes(range(256)) * 8)
    assert noise.extractor is None
    assert noise.category in (Category.UNKNOWN, Category.BINARY)


def test_bytes_that_are_no_text_are_not_read_whatever_the_model_takes_them_for(tmp_path: Path) -> None:
    random = Random(7)
    for number in range(150):  # the model takes some of these for texts
        found = detected(tmp_path, f"{number}.bin", bytes(range(256)) * 40 + random.randbytes(16))
        assert found.extractor is None, found


def test_a_cut_off_container_keeps_its_type_so_that_its_reader_reports_the_damage(tmp_path: Path) -> None:
    whole = archive("[Content_Types].xml", "_rels/.rels", "word/document.xml", "word/styles.xml", "docProps/core.xml")
    assert detected(tmp_path, "a.docx", whole[: len(whole) // 2]).extractor in ("docx", "archive")


def test_broken_json_in_a_text_file_is_text(tmp_path: Path) -> None:
    assert detected(tmp_path, "a.txt", '{"a": [1, 2, {"b"').label == "txt"


def test_rows_in_a_text_file_are_text_unless_every_row_has_the_same_columns(tmp_path: Path) -> None:
    assert detected(tmp_path, "poem.txt", "One, two,\nthree and four,\nfive, six, and seven\n").label == "txt"


def test_rows_under_a_text_name_are_rows_where_every_line_has_the_same_columns(tmp_path: Path) -> None:
    rows = "name,age,city\n" + "".join(f"Person {n},{20 + n},Town {n}\n" for n in range(40))
    assert detected(tmp_path, "export.txt", rows).label == "csv"


@pytest.mark.parametrize(("name", "text"), [("a.txt", "Just words, and a comma.\n"), ("a.md", "# A title\n\nText.\n")])
def test_the_model_is_not_asked_about_a_note_that_its_name_tells(
    name: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []
    monkeypatch.setattr("citewell.extract.detect._model_guess", asked.append)
    assert detected(tmp_path, name, text).extractor is not None
    assert not asked


def test_a_tar_is_told_by_its_header(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as out:
        out.addfile(tarfile.TarInfo("a.txt"))
    assert detected(tmp_path, "a.tar", buffer.getvalue()).label == "tar"


@pytest.mark.parametrize(
    ("filename", "extension"),
    [
        ("a.PDF", "pdf"),
        ("archive.tar.gz", "gz"),
        ("Makefile", "makefile"),
        (".env", ""),
        ("no", ""),
        ("dir\\a.txt", "txt"),
    ],
)
def test_the_extension_is_the_last_one_in_lower_case(filename: str, extension: str) -> None:
    assert extension_of(filename) == extension


def test_every_format_names_a_reader_that_can_be_loaded() -> None:
    for known in FORMATS.values():
        if known.extractor is not None:
            assert known.extractor in READERS
    for name in READERS:
        assert callable(load_reader(name).extract)


def test_no_extension_belongs_to_two_formats() -> None:
    extensions = [extension for known in FORMATS.values() for extension in known.extensions]
    assert sorted(extensions) == sorted(set(extensions))
