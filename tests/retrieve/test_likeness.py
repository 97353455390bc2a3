"""Copies, details and scaled versions of a picture are like it, other pictures are not."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from PIL import Image, ImageDraw, ImageFont, ImageOps

from citewell.extract.core.likeness import likeness_of
from citewell.retrieve.likeness import MIN_SCORE, Likeness, alike
from tests.drawings import as_file, drawing

COPY = 0.9


def _likeness(image: Image.Image) -> Likeness:
    found = likeness_of(image)
    assert found is not None
    return Likeness.read(found)


def _recompressed(image: Image.Image) -> Image.Image:
    return Image.open(io.BytesIO(as_file(image, "JPEG", quality=20)))


def _on_a_page(image: Image.Image) -> Image.Image:
    page = Image.new("RGB", (image.width * 2, image.height * 2), "white")
    page.paste(image, (image.width // 3, image.height // 2))
    return page


def _with_a_banner(image: Image.Image) -> Image.Image:
    ImageDraw.Draw(image).rectangle((0, image.height // 3, image.width, image.height // 2), fill="red")
    return image


VERSIONS: dict[str, tuple[Callable[[Image.Image], Image.Image], float]] = {
    "the same": (lambda image: image, 1.0),
    "compressed to a tenth": (_recompressed, COPY),
    "smaller": (lambda image: image.resize((image.width // 3, image.height // 3)), COPY),
    "larger": (lambda image: image.resize((image.width * 2, image.height * 2)), COPY),
    "in gray": (lambda image: image.convert("L"), COPY),
    "with a palette": (lambda image: image.convert("P"), COPY),
    "half of it": (lambda image: image.crop((0, 0, image.width // 2, image.height)), MIN_SCORE),
    "its middle": (
        lambda image: image.crop((image.width // 4, image.height // 4, image.width * 3 // 4, image.height * 3 // 4)),
        MIN_SCORE,
    ),
    "turned": (lambda image: image.rotate(90, expand=True), MIN_SCORE),
    "askew": (lambda image: image.rotate(8, fillcolor="white"), MIN_SCORE),
    "on a page": (_on_a_page, MIN_SCORE),
    "with a banner": (_with_a_banner, MIN_SCORE),
    "with a wide margin": (lambda image: ImageOps.expand(image, 120, "white"), MIN_SCORE),
}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_of_a_picture_is_like_it(version: str) -> None:
    change, least = VERSIONS[version]
    for seed in (1, 2, 3):
        image = drawing(seed)
        score = alike(_likeness(change(image.copy())), _likeness(image))
        assert least <= score <= 1.0, (seed, score)


def test_different_pictures_are_not_alike() -> None:
    kept = [_likeness(drawing(seed)) for seed in range(20, 34)]
    pairs = [alike(one, other) for at, one in enumerate(kept) for other in kept[:at]]
    assert max(pairs) < MIN_SCORE


def test_pages_of_different_text_are_not_alike() -> None:
    def page(words: str) -> Image.Image:
        image = Image.new("L", (620, 877), "white")
        pen, font = ImageDraw.Draw(image), ImageFont.load_default(16)
        for line in range(30):
            pen.text((50, 60 + 24 * line), words[line * 40 : line * 40 + 55], fill=0, font=font)
        return image

    one = (
        "The tenant pays the rent on the third day of every month, and keeps the garden, the fence and the gate. " * 20
    )
    other = "Wool is washed twice in soft water, combed while damp, and left to dry for nine hours in moving air. " * 20
    assert alike(_likeness(page(one)), _likeness(page(other))) < MIN_SCORE


@pytest.mark.parametrize(
    "image",
    [
        Image.new("RGB", (300, 200), "white"),
        Image.new("RGBA", (300, 200)),
        Image.new("L", (1, 1)),
        Image.new("1", (9, 900)),
    ],
)
def test_a_blank_picture_is_like_nothing(image: Image.Image) -> None:
    assert likeness_of(image) is None


@pytest.mark.parametrize("size", [(2, 640), (640, 3), (8, 8), (31, 31)])
def test_small_and_narrow_pictures_have_a_likeness(size: tuple[int, int]) -> None:
    image = Image.effect_noise(size, 90)
    assert alike(_likeness(image), _likeness(image)) == 1.0


def test_transparent_parts_are_white() -> None:
    shape = drawing(5)
    clear = shape.convert("RGBA")
    clear.putalpha(Image.new("L", shape.size, 255))
    assert alike(_likeness(clear), _likeness(shape)) >= COPY
