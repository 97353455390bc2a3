"""Characters of the Symbol font in Unicode, as office files store them (code + F000, or a byte of a symbol charset)."""

from __future__ import annotations

_CODES = (
    *range(0x41, 0x5B),
    *range(0x61, 0x7B),
    0xA3,
    0xA5,
    0xAB,
    0xAC,
    0xAD,
    0xAE,
    0xAF,
    0xB0,
    0xB1,
    0xB2,
    0xB3,
    0xB4,
    0xB5,
    0xB6,
    0xB7,
    0xB8,
    0xB9,
    0xBA,
    0xBB,
    0xBC,
    0xC4,
    0xC5,
    0xC6,
    0xC7,
    0xC8,
    0xCC,
    0xCD,
    0xCE,
    0xCF,
    0xD0,
    0xD1,
    0xD5,
    0xD6,
    0xD7,
    0xD9,
    0xDA,
    0xDB,
    0xDC,
    0xDE,
    0xE5,
    0xF2,
)
_CHARACTERS = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖαβχδεφγηιϕκλμνοπθρστυϖωξψζ≤∞↔←↑→↓°±″≥×∝∂•÷≠≡≈…⊗⊕∅∩∪⊂⊆∈∉∠∇∏√⋅∧∨⇔⇐⇒∑∫"
SYMBOL = dict(zip(_CODES, _CHARACTERS, strict=True))


TICKED, UNTICKED = "☑", "☐"
_BOXES = {
    "wingdings": {
        0x6C: "●", 0x6E: "■", 0x6F: UNTICKED, 0x70: UNTICKED, 0x71: UNTICKED, 0x72: UNTICKED, 0x78: "☒", 0xA1: "○",
        0xA4: "◉", 0xA8: UNTICKED, 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: TICKED,
    },
    "wingdings 2": {
        0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: TICKED, 0x53: "☒", 0x54: "☒", 0x99: "○", 0x9E: "◉", 0xA3: UNTICKED,
    },
    "webdings": {0x61: "✓", 0x63: UNTICKED, 0x67: "■", 0x72: "✗"},
}  # fmt: skip
"""The boxes and ticks of forms in the symbol fonts, by Unicode's mapping of these (L2/11-052), as plain ballot boxes."""
_AMONG_SYMBOLS = {code: mark for code, mark in _BOXES["wingdings"].items() if code not in SYMBOL}


def is_symbol_font(font: str) -> bool:
    """Whether the letters of a font are other characters than their codes say."""
    return font.lower() == "symbol" or font.lower() in _BOXES


def symbol_character(code: int, font: str = "Symbol") -> str:
    """Returns the Unicode character of a symbol font's code (with or without F000); empty for other pictures.

    A code that Symbol does not have is a box or tick of Wingdings, as files often name no font.
    """
    byte = code - 0xF000 if 0xF000 <= code <= 0xF0FF else code
    if font.lower() == "symbol":
        return SYMBOL.get(byte) or (chr(byte) if 0x20 <= byte < 0x41 else _AMONG_SYMBOLS.get(byte, ""))
    return _BOXES.get(font.lower(), {}).get(byte, "")


def without_private_use(text: str) -> str:
    """Replaces private-use characters of symbol fonts with Symbol's Unicode equivalents, and drops the others."""
    if not any("\uf000" <= character <= "\uf0ff" for character in text):
        return text
    return "".join(symbol_character(ord(c)) if "\uf000" <= c <= "\uf0ff" else c for c in text)
