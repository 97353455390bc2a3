"""State that an RTF group inherits from the enclosing one, and the tables at the head of a document (fonts, styles)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum, auto

from citewell.extract.core.decode import is_usable

_CHARSETS = {
    0: "cp1252",
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gb18030",
    136: "cp950",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    254: "cp437",
    255: "cp850",
}
SYMBOL_CHARSET = 2
_HEADING = re.compile(r"heading ([1-9])")


class Place(Enum):
    """Where the text of a group goes."""

    BODY = auto()
    SKIPPED = auto()
    HEADER = auto()
    FOOTER = auto()
    FOOTNOTE = auto()
    COMMENT = auto()
    LABEL = auto()
    FIELD = auto()
    FONTS = auto()
    STYLES = auto()
    INFO = auto()
    PICTURE = auto()
    OBJECT = auto()
    TEXT_BOX = auto()


DESTINATIONS = {
    "header": Place.HEADER, "headerl": Place.HEADER, "headerr": Place.HEADER, "headerf": Place.HEADER,
    "footer": Place.FOOTER, "footerl": Place.FOOTER, "footerr": Place.FOOTER, "footerf": Place.FOOTER,
    "footnote": Place.FOOTNOTE, "annotation": Place.COMMENT, "listtext": Place.LABEL, "pntext": Place.LABEL, "fldinst": Place.FIELD,
    "fonttbl": Place.FONTS, "stylesheet": Place.STYLES, "pict": Place.PICTURE, "objdata": Place.OBJECT,
    "title": Place.INFO, "author": Place.INFO, "subject": Place.INFO, "keywords": Place.INFO, "doccomm": Place.INFO,
    "shptxt": Place.TEXT_BOX, "ud": Place.BODY,
    "colortbl": Place.SKIPPED, "info": Place.SKIPPED, "nonshppict": Place.SKIPPED, "shpinst": Place.SKIPPED, "shprslt": Place.SKIPPED, "upr": Place.SKIPPED,
    "object": Place.SKIPPED, "result": Place.SKIPPED, "xe": Place.SKIPPED, "tc": Place.SKIPPED, "rxe": Place.SKIPPED, "pgptbl": Place.SKIPPED,
    "listtable": Place.SKIPPED, "listoverridetable": Place.SKIPPED, "nesttableprops": Place.SKIPPED, "nonesttables": Place.SKIPPED,
    "ftnsep": Place.SKIPPED, "ftnsepc": Place.SKIPPED, "ftncn": Place.SKIPPED, "aftnsep": Place.SKIPPED, "aftnsepc": Place.SKIPPED, "aftncn": Place.SKIPPED,
    "do": Place.SKIPPED, "background": Place.SKIPPED, "template": Place.SKIPPED, "pnseclvl": Place.SKIPPED, "bkmkstart": Place.SKIPPED, "bkmkend": Place.SKIPPED,
}  # fmt: skip


# Destinations whose text goes where the surrounding text goes.
TRANSPARENT = frozenset(("fldrslt", "shppict"))


@dataclass(slots=True)
class State:
    """The relevant formatting of the current group. Copied when a group opens."""

    place: Place = Place.BODY
    destination: str = ""
    encoding: str = "cp1252"
    symbol: bool = False
    after_unicode: int = 1
    hidden: bool = False
    deleted: bool = False
    raised: bool = False
    style: int = 0
    outline: int | None = None
    listed: bool = False
    level: int = 0
    in_table: bool = False
    nesting: int = 1
    collected: list[str] = field(default_factory=list[str])

    def reset_paragraph(self) -> None:
        """Resets paragraph properties to their defaults (`\\pard`)."""
        self.style, self.outline, self.listed, self.level, self.in_table, self.nesting = 0, None, False, 0, False, 1


@dataclass(slots=True)
class Head:
    """The fonts' encodings and the styles' names and outline levels, filled while the head is read."""

    default: str = "cp1252"
    fonts: dict[int, str] = field(default_factory=dict[int, str])
    symbol_fonts: set[int] = field(default_factory=set[int])
    style_names: dict[int, str] = field(default_factory=dict[int, str])
    style_levels: dict[int, int] = field(default_factory=dict[int, int])
    font: int = 0
    style: int = 0

    def set_codepage(self, number: int) -> None:
        """Sets the document's own code page (`\\ansicpg`)."""
        self.default = codepage(number) or self.default

    def set_charset(self, number: int) -> None:
        """Sets the charset of the font being defined."""
        if number == SYMBOL_CHARSET:
            self.symbol_fonts.add(self.font)
        elif number in _CHARSETS and number not in (0, 1):
            self.fonts[self.font] = _CHARSETS[number]

    def heading_level(self, style: int) -> int | None:
        """Returns a style's heading level, from its name or else its outline level; None for body text."""
        match = _HEADING.fullmatch(self.style_names.get(style, ""))
        if match:
            return int(match.group(1))
        level = self.style_levels.get(style, 9)
        return level + 1 if level < 9 else None


def codepage(number: int) -> str | None:
    """Returns the Python encoding for a Windows code page; None for an unknown one."""
    name = {65001: "utf-8", 10000: "mac_roman", 936: "gb18030"}.get(number, f"cp{number}")
    return name if is_usable(name) else None
