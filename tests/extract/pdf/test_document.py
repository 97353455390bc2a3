"""PDFs as files: passwords, damage, limits, metadata, forms, comments, links, attachments, images."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pypdfium2
import pytest
from PIL import Image
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from citewell.errors import CorruptFile, LimitExceeded, PasswordRequired, WrongPassword
from citewell.extract.formats.pdf.document import iso_date
from citewell.types import ElementType
from citewell.types.extraction import LIKENESS
from tests.extract.pdf.drawing import HEIGHT, Draw, lines, pdf, prose, read_pdf


def two_lines(canvas: Canvas) -> None:
    lines(canvas, 60, 60, prose(2))


def test_an_encrypted_file_opens_with_its_password_only(tmp_path: Path) -> None:
    data = pdf(two_lines, encrypt=StandardEncryption("open sesame", strength=128))
    with pytest.raises(PasswordRequired):
        read_pdf(tmp_path, data)
    with pytest.raises(WrongPassword):
        read_pdf(tmp_path, data, password="open barley")
    assert read_pdf(tmp_path, data, password="open sesame").text == " ".join(prose(2))


def test_a_file_with_an_owner_password_alone_needs_none(tmp_path: Path) -> None:
    data = pdf(two_lines, encrypt=StandardEncryption("", ownerPassword="mine", canPrint=0))
    assert read_pdf(tmp_path, data).text == " ".join(prose(2))


def test_what_is_not_a_pdf_inside_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorruptFile):
        read_pdf(tmp_path, b"%PDF-1.7\n" + bytes(range(256)) * 8)


def test_too_many_pages_are_refused_before_any_is_read(tmp_path: Path) -> None:
    with pytest.raises(LimitExceeded, match="3 pages"):
        read_pdf(tmp_path, pdf(two_lines, two_lines, two_lines), max_pages=2)


def test_a_damaged_page_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    def numbered(n: int) -> Draw:
        return lambda canvas: lines(canvas, 60, 60, [f"This is page number {n}"])

    data = pdf(*map(numbered, (1, 2, 3)), pageCompression=0)
    first = data.index(b"/Type /Page\n")
    second = data.index(b"/Type /Page\n", first + 1)
    broken = data[:second] + b"/Type /Pork\n"[: len(b"/Type /Page\n")] + data[second + len(b"/Type /Page\n") :]
    reading = read_pdf(tmp_path, broken)
    assert "page number 1" in reading.text
    assert "page number 3" in reading.text
    assert len(reading.summary.coverage.units) == 3


def test_metadata_dates_language_and_page_labels(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        canvas.setTitle("Flood Register")
        canvas.setAuthor("R. Water")
        canvas.addPageLabel(0, style="ROMAN_LOWER", start=3)
        two_lines(canvas)

    def other(canvas: Canvas) -> None:
        lines(canvas, 60, 60, prose(2, 9))

    reading = read_pdf(tmp_path, pdf(page, other, lang="en-GB"))
    metadata = reading.summary.metadata
    assert (metadata["pages"], metadata["title"], metadata["author"]) == (2, "Flood Register", "R. Water")
    assert metadata["page_labels"] == ["iii", "iv"]
    assert reading.elements[1].locator.page_label == "iv"
    assert reading.summary.language == "en-GB"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("D:20240131120000+01'00'", "2024-01-31T12:00:00+01:00"),
        ("D:20240131", "2024-01-31"),
        ("D:20240131120000Z", "2024-01-31T12:00:00+00:00"),
        ("yesterday", "yesterday"),
    ],
)
def test_pdf_dates_become_iso_dates(written: str, expected: str) -> None:
    assert iso_date(written) == expected


def test_filled_form_fields_are_read_with_their_names(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        form = canvas.acroForm
        form.textfield(name="surname", tooltip="Surname", value="Okafor", x=100, y=600)
        form.textfield(name="empty", value="", x=100, y=550)
        form.checkbox(name="member", tooltip="Member", checked=True, x=100, y=500)
        form.checkbox(name="donor", tooltip="Donor", checked=False, x=100, y=450)

    fields = read_pdf(tmp_path, pdf(page)).of(ElementType.FORM_FIELD)
    assert [field.text for field in fields] == ["Surname: Okafor", "Member: Yes"]
    assert fields[0].locator.boxes[0].y0 == pytest.approx(HEIGHT - 600 - 36, abs=2)


def put_fields(canvas: Canvas, fields: list[tuple[str, str]], labels_above: bool) -> None:
    """Fields with names of a machine: each beside its label in one column, or under it in one row."""
    for i, (label, value) in enumerate(fields):
        x, y = (60 + 170 * i, 600) if labels_above else (260, 600 - 30 * i)
        canvas.drawString(x if labels_above else 60, y + (22 if labels_above else 4), label)
        canvas.acroForm.textfield(name=f"Text{i}", value=value, x=x, y=y, width=150, height=18, borderWidth=0)


@pytest.mark.parametrize("labels_above", [False, True])
def test_fields_are_read_with_the_labels_printed_beside_or_above_them(tmp_path: Path, labels_above: bool) -> None:
    fields = [("Owner of the boat:", "Rolf Haan"), ("Email ......", ""), ("Deposit paid", "250 EUR")]
    reading = read_pdf(tmp_path, pdf(lambda canvas: put_fields(canvas, fields, labels_above)))
    assert reading.texts(ElementType.FORM_FIELD) == ["Owner of the boat: Rolf Haan", "Deposit paid: 250 EUR"]
    assert reading.text.count("Deposit paid") == 1
    assert len(reading.of(ElementType.FORM_FIELD)[0].locator.boxes) == 1


def test_boxes_keep_their_state_with_their_labels(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        canvas.drawString(60, 700, "Do you own a boat?")
        for x, label, checked in ((200, "Yes", False), (280, "No", True)):
            canvas.acroForm.checkbox(name=label, checked=checked, x=x, y=696, size=14)
            canvas.drawString(x + 20, 700, label)

    fields = read_pdf(tmp_path, pdf(page)).texts(ElementType.FORM_FIELD)
    assert fields == ["☐ Yes", "Do you own a boat? ☑ No"]


def test_fields_of_one_column_share_the_heading_above_them(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        for column, heading in enumerate(("Item", "Price")):
            canvas.drawString(60 + 150 * column, 722, heading)
            for row, value in enumerate((("Rope", "4.50"), ("Anchor", "80.00"))):
                form, y = canvas.acroForm, 700 - 20 * row
                form.textfield(
                    name=f"F{row}{column}", value=value[column], x=60 + 150 * column, y=y, width=140, height=16
                )

    fields = read_pdf(tmp_path, pdf(page)).texts(ElementType.FORM_FIELD)
    assert fields == ["Item: Rope", "Price: 4.50", "Item: Anchor", "Price: 80.00"]


def test_comments_and_links_are_kept(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        two_lines(canvas)
        canvas.textAnnotation("Check this figure", Rect=[300, 700, 320, 720], name="Note")
        canvas.linkURL("https://example.org/floods", (60, HEIGHT - 82, 200, HEIGHT - 60))
        canvas.linkURL("file:///etc/passwd", (60, HEIGHT - 82, 200, HEIGHT - 60))

    reading = read_pdf(tmp_path, pdf(page))
    assert reading.texts(ElementType.COMMENT) == ["Check this figure"]
    (paragraph,) = reading.of(ElementType.PARAGRAPH)
    assert paragraph.metadata == {"links": ["https://example.org/floods"]}


def test_attachments_become_files_of_their_own_down_to_the_depth_allowed(tmp_path: Path) -> None:
    data = with_attachment(pdf(two_lines), "../../notes.txt", b"the attached notes")
    reading = read_pdf(tmp_path, data)
    assert reading.child("notes.txt") == b"the attached notes"
    deep = read_pdf(tmp_path, data, depth=2)
    assert deep.summary.children == ()
    assert "attachments beyond the limits" in deep.notes()


def test_images_are_kept_once_as_png_the_way_the_page_shows_them(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (120, 200, 3), dtype=np.uint8)
    noise[:40, :, :] = 255
    picture = ImageReader(Image.fromarray(noise))

    def page(canvas: Canvas) -> None:
        two_lines(canvas)
        canvas.saveState()
        canvas.translate(400, 300)
        canvas.rotate(90)
        canvas.drawImage(picture, 0, 0, 200, 120)
        canvas.restoreState()

    reading = read_pdf(tmp_path, pdf(page, page))
    first, second = reading.of(ElementType.IMAGE)
    assert (first.blob, second.blob) == ("image-1.png", "image-1.png")
    blob, likeness = reading.summary.blobs
    assert (likeness.kind, likeness.metadata) == (LIKENESS, {"of": "image-1.png"})
    with Image.open(reading.folder / blob.path) as kept:
        assert kept.size == (120, 200)
        assert np.asarray(kept)[:, :40].min() == 255
    assert [round(v) for v in (first.locator.boxes[0].x0, first.locator.boxes[0].x1)] == [280, 400]
    assert "Text in images: OCR is off" in reading.notes()


def test_small_images_are_not_kept(tmp_path: Path) -> None:
    icon = ImageReader(Image.new("RGB", (64, 64), "red"))

    def page(canvas: Canvas) -> None:
        two_lines(canvas)
        canvas.drawImage(icon, 100, 100, 64, 64)

    assert read_pdf(tmp_path, pdf(page)).of(ElementType.IMAGE) == []


def test_a_page_that_is_only_drawn_is_reported_when_ocr_is_off(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (200, 200, 3), dtype=np.uint8)

    def page(canvas: Canvas) -> None:
        canvas.drawImage(ImageReader(Image.fromarray(noise)), 0, 0, 595, 842)

    notes = read_pdf(tmp_path, pdf(page)).notes()
    assert "Page 1 has no text, and it was not scanned: OCR is off." in notes


def with_attachment(data: bytes, name: str, content: bytes) -> bytes:
    document = pypdfium2.PdfDocument(data)
    document.new_attachment(name).set_data(content)
    buffer = io.BytesIO()
    document.save(buffer)
    document.close()
    return buffer.getvalue()
