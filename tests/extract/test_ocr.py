"""OCR of images: order, place and confidence, for skewed and turned ones too."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from citewell.extract.core.ocr import mean_confidence, read_image
from tests.extract.scanning import scan

SENTENCES = ["Water stood in the cellar", "for eleven days in spring", "until the pumps arrived"]


@pytest.mark.full
@pytest.mark.parametrize("angle", [0, 8, -8, 90, 180, 270])
def test_lines_come_in_order_whichever_way_the_page_lies(angle: int) -> None:
    turned = scan(SENTENCES).rotate(angle, expand=True, fillcolor="white", resample=Image.Resampling.BICUBIC)
    found = read_image(turned)
    assert [line.text for line in found] == SENTENCES
    assert mean_confidence(found) > 0.85
    assert found[0].angle == pytest.approx(-angle % 360, abs=1.5)


def test_boxes_are_in_pixels_of_the_image_given() -> None:
    (line,) = read_image(scan(["Water level"]))
    x0, y0, x1, y1 = line.box
    assert (x0, y0) == pytest.approx((60, 60), abs=14)
    assert 30 < y1 - y0 < 60
    assert 190 < x1 - x0 < 260


def test_a_blank_image_has_no_lines() -> None:
    assert read_image(Image.new("RGB", (300, 200), "white")) == []


@pytest.mark.full
def test_transparent_and_sixteen_bit_images_are_read_like_others() -> None:
    page = scan(["Water level"])
    ink = np.asarray(page.convert("L"))
    clear = np.zeros((*ink.shape, 4), dtype=np.uint8)
    clear[..., 3] = 255 - ink
    deep = Image.fromarray(ink.astype(np.uint16) * 257)
    assert [line.text for line in read_image(Image.fromarray(clear))] == ["Water level"]
    assert [line.text for line in read_image(deep)] == ["Water level"]


@pytest.mark.full
def test_work_is_reported_while_it_goes_on() -> None:
    beats: list[None] = []
    read_image(scan(SENTENCES), lambda: beats.append(None))
    assert len(beats) >= 2
