"""The bar chart on slide 7 of the pitch deck, drawn as a picture."""

from __future__ import annotations

from PIL import Image, ImageDraw, ImageFont

from sample_files.figures import QUARTERS

_SIZE = (1600, 900)
_LEFT, _TOP, _RIGHT, _BOTTOM = 150, 150, 1560, 790
_MAXIMUM, _STEP = 100_000, 20_000
_INK, _RULE = "#222B28", "#D0D7D3"
_REVENUE, _EXPENSES = "#1F7A5C", "#D98E4A"


def quarterly_chart() -> Image.Image:
    """Revenue and expenses of each quarter, side by side, in GHS; 1600 × 900 pixels."""
    image = Image.new("RGB", _SIZE, "white")
    draw = ImageDraw.Draw(image)
    draw.text((_LEFT, 30), "Revenue and expenses by quarter, GHS", _INK, font=_font(42))
    for i, (label, colour) in enumerate((("Revenue", _REVENUE), ("Expenses", _EXPENSES))):
        x = _LEFT + i * 230
        draw.rectangle((x, 100, x + 28, 128), colour)
        draw.text((x + 40, 96), label, _INK, font=_font(30))
    for value in range(0, _MAXIMUM + 1, _STEP):
        y = _height(value)
        draw.line((_LEFT, y, _RIGHT, y), _RULE, 2)
        draw.text((_LEFT - 16, y), f"{value:,}", _INK, font=_font(26), anchor="rm")
    width = (_RIGHT - _LEFT) / len(QUARTERS)
    for i, quarter in enumerate(QUARTERS):
        centre = _LEFT + (i + 0.5) * width
        _bar(draw, centre - 72, quarter.revenue, _REVENUE)
        _bar(draw, centre + 72, quarter.expenses, _EXPENSES)
        draw.text((centre, _BOTTOM + 24), quarter.name, _INK, font=_font(32), anchor="mt")
    return image


def _bar(draw: ImageDraw.ImageDraw, centre: float, value: int, colour: str) -> None:
    draw.rectangle((centre - 62, _height(value), centre + 62, _BOTTOM), colour)
    draw.text((centre, _height(value) - 10), f"{value:,}", _INK, font=_font(28), anchor="mb")


def _height(value: int) -> float:
    return _BOTTOM - (_BOTTOM - _TOP - 40) * value / _MAXIMUM


def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)
