from __future__ import annotations

import base64
import io
import struct
import zlib
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from citewell.errors import CorruptFile, LimitExceeded
from citewell.types import ElementType
from tests.extract.documents.reading import read_bytes

RED_HEIC = (
    "AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAX1tZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAACJpbG9jAA"
    "AAAERAAAEAAQAAAAABoQABAAAAAAAAABgAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABodmMxAAAAAA5waXRtAAAAAAABAAAA/WlwcnAA"
    "AADdaXBjbwAAAHZodmNDAQNwAAAAkAAAAAAAHvAA/P34+AAADwNgAAEAGEABDAH//wNwAAADAJAAAAMAAAMAHroCQGEAAQAqQgEBA3AAAAMAkA"
    "AAAwAAAwAeoCCBBZbq5Ka5uAhoMCAAAAMDIAAAAwAhYgABAAZEAcFzwIkAAAATY29scm5jbHgAAQANAAaAAAAAFGlzcGUAAAAAAAAAQAAAAEAA"
    "AAAoY2xhcAAAADAAAAABAAAAIAAAAAH////wAAAAAv///+AAAAACAAAAEHBpeGkAAAAAAwgICAAAABhpcG1hAAAAAAAAAAEAAQWBAgMFhAAAAC"
    "BtZGF0AAAAFCgBrwQY+Mpx1//zIR+fgLhh0hHn"
)


def picture(format: str, image: Image.Image | None = None, **options: object) -> bytes:
    out = io.BytesIO()
    (image or Image.effect_noise((60, 40), 60).convert("RGB")).save(out, format, **options)
    return out.getvalue()


def written(text: str) -> Image.Image:
    image = Image.new("RGB", (600, 120), "white")
    ImageDraw.Draw(image).text((30, 30), text, fill="black", font=ImageFont.load_default(48))
    return image


@pytest.mark.parametrize("format", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "AVIF", "JPEG2000"])
def test_size_format_and_mode_are_read(tmp_path: Path, format: str) -> None:
    reading = read_bytes(tmp_path, f"a.{format.lower()}", picture(format))
    (image,) = reading.of(ElementType.IMAGE)
    metadata = reading.summary.metadata
    assert (metadata["format"], metadata["width"], metadata["height"]) == (format, 60, 40)
    assert metadata["mode"] in ("RGB", "P", "L")
    assert image.metadata == {"width": 60, "height": 40}
    assert reading.summary.coverage.images == 1


def test_heic_is_read(tmp_path: Path) -> None:
    reading = read_bytes(tmp_path, "a.heic", base64.b64decode(RED_HEIC))
    metadata = reading.summary.metadata
    assert (metadata["format"], metadata["width"], metadata["height"]) == ("HEIF", 48, 32)
    assert len(reading.of(ElementType.IMAGE)) == 1


@pytest.mark.parametrize(
    ("fields", "date"),
    [
        ({0x9003: "2024:05:03 12:30:01"}, "2024-05-03T12:30:01"),
        ({0x9003: "2024:05:03 12:30:01", 0x9011: "+02:00"}, "2024-05-03T12:30:01+02:00"),
        ({0x9003: "2024:05:03 12:30:01", 0x9011: "local"}, "2024-05-03T12:30:01"),
        ({0x9003: "0000:00:00 00:00:00", 0x9004: "2023-01-02 03:04:05"}, "2023-01-02T03:04:05"),
        ({0x9003: "0000:00:00 00:00:00"}, None),
        ({0x9003: "yesterday"}, None),
    ],
)
def test_a_picture_has_the_date_at_which_it_was_taken(tmp_path: Path, fields: dict[int, str], date: str | None) -> None:
    exif = Image.Exif()
    exif.get_ifd(0x8769).update(fields)
    metadata = read_bytes(tmp_path, "a.jpg", picture("JPEG", exif=exif)).summary.metadata
    assert metadata.get("date") == date


def test_a_picture_is_turned_as_its_camera_says(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010F] = "Cam\x00era"
    exif[0x8825] = {1: "S", 2: (5.0, 30.0, 0.0), 3: "W", 4: (0.0, 12.0, 36.0)}
    reading = read_bytes(tmp_path, "a.jpg", picture("JPEG", exif=exif))
    metadata = reading.summary.metadata
    assert (metadata["width"], metadata["height"]) == (40, 60)
    assert metadata["location"] == {"latitude": -5.5, "longitude": -0.21}
    assert metadata["camera"] == "Cam era"
    assert "date" not in metadata


def test_notes_in_a_picture_are_plain_text(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x010E] = "<script>alert(1)</script>\x07" + "x" * 5_000
    reading = read_bytes(tmp_path, "a.jpg", picture("JPEG", exif=exif, comment="taken\x1bby me"))
    notes = reading.summary.metadata
    assert len(notes["exif"]["ImageDescription"]) == 1_000  # type: ignore[index, arg-type, call-overload]
    assert notes["comments"] == {"comment": "taken by me"}


@pytest.mark.full
def test_text_is_read_line_by_line_with_its_place_and_confidence(tmp_path: Path) -> None:
    image = Image.new("RGB", (700, 260), "white")
    image.paste(written("Loan ceiling 5000"), (0, 0))
    image.paste(written("Second quarter"), (0, 120))
    (element,) = read_bytes(tmp_path, "a.png", picture("PNG", image), ocr=True).of(ElementType.IMAGE)
    assert element.text.splitlines() == ["Loan ceiling 5000", "Second quarter"]
    assert element.span_starts == (0, len("Loan ceiling 5000\n"))
    first, second = element.locator.boxes
    assert (element.locator.page, first.page) == (None, 1)
    assert 20 <= first.x0 < first.x1 <= 640
    assert first.y1 <= 130 <= second.y0 + 20
    assert element.confidence is not None
    assert 0.8 < element.confidence <= 1


def test_every_page_of_a_tiff_is_a_unit(tmp_path: Path) -> None:
    pages = [Image.new("L", (80 + n, 50)) for n in range(3)]
    data = picture("TIFF", pages[0], save_all=True, append_images=pages[1:])
    reading = read_bytes(tmp_path, "a.tif", data)
    assert [image.locator.page for image in reading.of(ElementType.IMAGE)] == [1, 2, 3]
    assert [image.metadata["width"] for image in reading.of(ElementType.IMAGE)] == [80, 81, 82]
    assert [unit.unit for unit in reading.summary.coverage.units] == ["page"] * 3
    fewer = read_bytes(tmp_path, "b.tif", data, max_pages=2)
    assert len(fewer.of(ElementType.IMAGE)) == 2
    assert "1 of 3 pages" in fewer.notes()


def test_an_animation_is_one_picture(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (30, 30), color) for color in ("red", "green", "blue", "white")]
    reading = read_bytes(tmp_path, "a.gif", picture("GIF", frames[0], save_all=True, append_images=frames[1:]))
    assert len(reading.of(ElementType.IMAGE)) == 1
    assert reading.summary.metadata["animated"] is True
    assert reading.summary.metadata["frames"] == 4
    assert "first of 4 frames" in reading.notes()


def test_a_cut_off_picture_is_read_in_part_with_a_warning(tmp_path: Path) -> None:
    whole = picture("JPEG", Image.effect_noise((300, 300), 80).convert("RGB"), quality=90)
    reading = read_bytes(tmp_path, "a.jpg", whole[: len(whole) // 2])
    assert reading.of(ElementType.IMAGE)[0].metadata == {"width": 300, "height": 300}
    assert "read in part" in reading.notes()


def test_a_damaged_page_does_not_cost_the_others(tmp_path: Path) -> None:
    pages = [Image.new("L", (80, 50)), Image.new("L", (81, 50))]
    data = bytearray(picture("TIFF", pages[0], save_all=True, append_images=pages[1:]))
    width_of_second = data.index(struct.pack("<HHLL", 256, 4, 1, 81))
    data[width_of_second : width_of_second + 2] = b"\xff\xff"
    reading = read_bytes(tmp_path, "a.tif", bytes(data))
    assert [image.locator.page for image in reading.of(ElementType.IMAGE)] == [1]
    assert "damaged" in " ".join(reading.summary.coverage.units[1].skipped)


def test_what_is_no_picture_inside_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(CorruptFile):
        read_bytes(tmp_path, "a.png", b"\x89PNG\r\n\x1a\n" + b"garbage" * 50)
    with pytest.raises(CorruptFile):
        read_bytes(tmp_path, "a.jpg", picture("JPEG")[:20])


def test_more_pixels_than_allowed_are_refused_before_they_are_unpacked(tmp_path: Path) -> None:
    with pytest.raises(LimitExceeded, match="exceeds the limit of 89,000,000 pixels"):
        read_bytes(tmp_path, "a.png", giant_png(30_000, 30_000))
    with pytest.raises(LimitExceeded):
        read_bytes(tmp_path, "b.png", picture("PNG"), max_pixels=2_399)
    assert Image.MAX_IMAGE_PIXELS == 89_478_485


def giant_png(width: int, height: int) -> bytes:
    """A PNG that claims a size, with next to no data."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")
    )
