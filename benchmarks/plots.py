"""Bar and line charts as SVG, with no library: readable on light and dark pages."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

_INK, _GREY, _OURS, _OTHERS = "#59636e", "#d0d7de", "#1f7a5c", "#9aa7b0"
_COLOURS = ("#1f7a5c", "#d98e4a", "#4a7fd9", "#a05195", "#9aa7b0")
_FONT = 'font-family="system-ui, sans-serif" font-size="13"'


def bars(title: str, names: Sequence[str], values: Sequence[float], unit: str, highlight: str) -> str:
    """Horizontal bars, shorter is better; the system `highlight` stands out."""
    left, width, height, top = 160, 440, 26, 40
    most = max(values)
    body = []
    for i, (name, value) in enumerate(zip(names, values, strict=True)):
        y = top + i * (height + 10)
        length = max(2.0, width * value / most)
        colour = _OURS if name == highlight else _OTHERS
        weight = ' font-weight="bold"' if name == highlight else ""
        body += [
            f'<text x="{left - 10}" y="{y + 18}" text-anchor="end" fill="{_INK}"{weight}>{escape(name)}</text>',
            f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{height}" rx="3" fill="{colour}"/>',
            f'<text x="{left + length + 8:.1f}" y="{y + 18}" fill="{_INK}"{weight}>{_number(value)} {unit}</text>',
        ]
    return _svg(left + width + 110, top + len(names) * (height + 10) + 6, title, body)


def lines(title: str, x_label: str, y_label: str, series: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Lines over two logarithmic axes: how cost grows."""
    left, top, width, height = 70, 44, 470, 260
    xs = [x for points in series.values() for x, _ in points]
    ys = [y for points in series.values() for _, y in points]
    low, high = 10 ** math.floor(math.log10(min(ys))), 10 ** math.ceil(math.log10(max(ys)))

    def place(x: float, y: float) -> tuple[float, float]:
        across = math.log(x / min(xs)) / math.log(max(xs) / min(xs))
        up = math.log(y / low) / math.log(high / low)
        return left + width * across, top + height * (1 - up)

    body = []
    for x in sorted(set(xs)):
        across = place(x, low)[0]
        body += [
            f'<line x1="{across:.1f}" y1="{top}" x2="{across:.1f}" y2="{top + height}" stroke="{_GREY}"/>',
            f'<text x="{across:.1f}" y="{top + height + 18}" text-anchor="middle" fill="{_INK}">{x:,.0f}</text>',
        ]
    value = low
    while value <= high:
        y = place(min(xs), value)[1]
        body += [
            f'<line x1="{left}" y1="{y:.1f}" x2="{left + width}" y2="{y:.1f}" stroke="{_GREY}"/>',
            f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end" fill="{_INK}">{_number(value)}</text>',
        ]
        value *= 10
    for colour, (name, points) in zip(_COLOURS, series.items(), strict=False):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in sorted(points)))
        end_x, end_y = place(*max(points))
        body += [
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5"/>',
            f'<text x="{end_x + 8:.1f}" y="{end_y + 4:.1f}" fill="{colour}" font-weight="bold">{escape(name)}</text>',
        ]
    body += [
        f'<text x="{left + width / 2}" y="{top + height + 38}" text-anchor="middle" fill="{_INK}">{escape(x_label)}</text>',
        f'<text x="{left - 8}" y="{top - 10}" text-anchor="end" fill="{_INK}">{escape(y_label)}</text>',
    ]
    return _svg(left + width + 150, top + height + 50, title, body)


def curves(title: str, x_label: str, y_label: str, series: Mapping[str, Sequence[tuple[float, float]]]) -> str:
    """Lines over two axes from 0 to 1."""
    left, top, side = 70, 44, 300
    body = []
    for step in range(6):
        at = side * step / 5
        body += [
            f'<line x1="{left + at}" y1="{top}" x2="{left + at}" y2="{top + side}" stroke="{_GREY}"/>',
            f'<line x1="{left}" y1="{top + at}" x2="{left + side}" y2="{top + at}" stroke="{_GREY}"/>',
            f'<text x="{left + at}" y="{top + side + 18}" text-anchor="middle" fill="{_INK}">{step / 5:.1f}</text>',
            f'<text x="{left - 8}" y="{top + side - at + 4}" text-anchor="end" fill="{_INK}">{step / 5:.1f}</text>',
        ]
    for number, (colour, (name, points)) in enumerate(zip(_COLOURS, series.items(), strict=False)):
        path = " ".join(f"{left + side * x:.1f},{top + side * (1 - y):.1f}" for x, y in sorted(points))
        line = f'<text x="{left + side + 16}" y="{top + 20 + 22 * number}" fill="{colour}" font-weight="bold">{escape(name)}</text>'
        body += [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5"/>', line]
    body += [
        f'<text x="{left + side / 2}" y="{top + side + 38}" text-anchor="middle" fill="{_INK}">{escape(x_label)}</text>',
        f'<text x="{left - 8}" y="{top - 10}" text-anchor="end" fill="{_INK}">{escape(y_label)}</text>',
    ]
    return _svg(left + side + 230, top + side + 50, title, body)


def _svg(width: float, height: float, title: str, body: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" role="img" {_FONT}>'
    heading = f'<text x="8" y="22" fill="{_INK}" font-size="15" font-weight="bold">{escape(title)}</text>'
    return "\n".join([head, f"<title>{escape(title)}</title>", heading, *body, "</svg>"]) + "\n"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:,.1f}" if value >= 10 else f"{value:.2g}"
