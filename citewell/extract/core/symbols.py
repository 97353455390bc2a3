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


def symbol_character(code: int, font: str = "Symbol") -> str:
    """Returns the Unicode character of a symbol font's code (with or without F000); empty for other fonts' pictures."""
    byte = code - 0xF000 if 0xF000 <= code <= 0xF0FF else code
    if font.lower() == "symbol":
        return SYMBOL.get(byte, chr(byte) if 0x20 <= byte < 0x41 else "")
    return ""


def without_private_use(text: str) -> str:
    """Replaces private-use characters of symbol fonts with Symbol's Unicode equivalents, and drops the others."""
    if not any("\uf000" <= character <= "\uf0ff" for character in text):
        return text
    return "".join(symbol_character(ord(c)) if "\uf000" <= c <= "\uf0ff" else c for c in text)
