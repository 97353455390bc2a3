"""Number formats as spreadsheet programs show them: `00000`, `"INV-"0000`, `000-00-0000`, `#,##0,` (ECMA-376 part 1, 18.8.31)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache

from citewell.types.figures import UNIT

_PART = re.compile(
    r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[\$(?P<currency>[^\]-]*)[^\]]*\]|\[(?P<sign><=|>=|<>|<|>|=)(?P<limit>-?[0-9]+(?:\.[0-9]+)?)\]'
    r"|\[[^\]]*\]|[_*].|(?P<general>General)|(?P<scientific>E[+-]0+)|(?P<digit>[0#?])|(?P<point>\.)|(?P<comma>,)"
    r"|(?P<percent>%)|(?P<plain>.)",
    re.DOTALL | re.IGNORECASE,
)
_SECTION = re.compile(r'(?:"[^"]*"|\\.|\[[^\]]*\]|[^;"\\\[])*', re.DOTALL)
_MEANS = {
    "<": Decimal.__lt__, "<=": Decimal.__le__, ">": Decimal.__gt__, ">=": Decimal.__ge__, "=": Decimal.__eq__, "<>": Decimal.__ne__,
}  # fmt: skip
_TIMES_AND_FRACTIONS = re.compile(r"[ymdhsb/@]", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]")
_LABEL_ENDS = frozenset(" .:\u00a0")
"""Signs between a label and its number; without one, both are one name: `INV-43`."""
_GROUPING = frozenset(" '’.\u00a0\u202f")
_MAX_CODE = 255
"""Characters of a format code that programs accept."""
_MIN_PADDED = 2
"""Digits that are always shown from which on a whole number is one that names something."""


@dataclass(frozen=True, slots=True)
class _Section:
    """What a code says of some numbers: the literal before and after them, and the places of their digits.

    whole: placeholders (`0`, `#`, `?`) and literals before the point, in order; places: placeholders behind it
    """

    before: str
    whole: Sequence[str]
    places: str
    after: str
    grouped: bool
    thousands: int
    percents: int
    general: bool
    condition: tuple[str, Decimal] | None

    @property
    def has_digits(self) -> bool:
        """Whether it shows the number at all."""
        return self.general or bool(self.whole or self.places)

    @property
    def names(self) -> bool:
        """Whether it makes a name of the number: padded with zeros, parted by signs, or behind a word."""
        if self.places or self.percents or self.thousands or self.grouped:
            return False
        parted = any(part not in "0#?" and not _GROUPING.issuperset(part) for part in self.whole)
        padded = sum(part == "0" for part in self.whole) >= _MIN_PADDED
        return parted or padded or (self.labelled and self.before[-1:] not in _LABEL_ENDS)

    @property
    def labelled(self) -> bool:
        """Whether a word that is no currency is in front of the number: `No. 12`, `INV-43`."""
        return self.has_digits and _WORD.search(self.before) is not None and re.search(UNIT, self.before) is None

    @property
    def unit(self) -> str:
        """The word or sign after the number, such as `kg`; empty if it is punctuation or several words."""
        unit = self.after.strip()
        return unit if _WORD.search(unit) and not re.search(r"[\d\s]", unit) else ""

    def shown(self, number: Decimal, sign: str) -> str:
        """Returns the number as text; `sign` goes in front."""
        if not self.has_digits:
            return self.before + self.after
        scaled = abs(number).scaleb(2 * self.percents - 3 * self.thousands)
        if self.general:
            return f"{sign}{self.before}{scaled.normalize():f}{self.after}"
        digits, _, places = f"{_rounded(scaled, len(self.places)):f}".partition(".")
        least = max((at + 1 for at, place in enumerate(self.places) if place == "0"), default=0)
        places = places.ljust(len(self.places), "0")
        places = places[:least] + places[least:].rstrip("0")
        whole = f"{int(digits):,}" if self.grouped else self._placed(digits if digits != "0" else "")
        if self.grouped and digits == "0" and "0" not in self.whole:
            whole = ""
        return f"{sign}{self.before}{whole}{'.' if places else ''}{places}{self.after}"

    def _placed(self, digits: str) -> str:
        """Returns digits in their places, from the right; those without a place go before the first."""
        out: list[str] = []
        left = sum(part in "0#?" for part in self.whole)
        for part in reversed(self.whole):
            if part in "0#?":
                left -= 1
                digit, digits = (digits[-1:], digits[:-1]) if left else (digits, "")
                out.append(digit or ("0" if part == "0" else ""))
            elif digits or "0" in self.whole[: len(self.whole) - len(out)]:
                out.append(part)
            else:
                out.append("")
        return "".join(reversed(out))


@dataclass(frozen=True, slots=True)
class FormatCode:
    """A format code. `names`: what it shows names something, and is text; `unit`: the word behind its numbers."""

    sections: Sequence[_Section]
    names: bool
    unit: str

    def shown(self, number: float) -> str:
        """Returns a number as the program shows it.

        >>> read_code("00000").shown(2134), read_code('"INV-"0000').shown(43), read_code("000-00-0000").shown(123456789)
        ('02134', 'INV-0043', '123-45-6789')
        >>> read_code("#,##0,").shown(1234567), read_code('0.0" kg";-0.0" kg"').shown(-2.25), read_code('"yes";;"no"').shown(0)
        ('1,235', '-2.3 kg', 'no')
        """
        exact = _exact(number)
        section, explicit = self._section(exact)
        return section.shown(exact, "-" if exact < 0 and not explicit else "")

    def value(self, number: float) -> str:
        """Returns the number that is shown, as plain digits: in thousands where the code shows thousands without saying so."""
        exact = _exact(number)
        section, _ = self._section(exact)
        if not section.thousands or _WORD.search(section.after):
            return f"{exact.normalize():f}"
        return f"{_rounded(exact.scaleb(-3 * section.thousands), len(section.places)):f}"

    def _section(self, number: Decimal) -> tuple[_Section, bool]:
        """Returns the section for a number, and whether the section itself says that it is negative."""
        for section in self.sections:
            if section.condition is not None and _MEANS[section.condition[0]](number, section.condition[1]):
                return section, False
        plain = [section for section in self.sections if section.condition is None]
        if len(plain) < len(self.sections) or len(plain) == 1:
            return plain[-1] if plain else self.sections[-1], False
        if number < 0:
            return plain[1], True
        return (plain[2], True) if number == 0 and len(plain) > 2 else (plain[0], False)


@lru_cache(maxsize=4_096)
def read_code(code: str) -> FormatCode | None:
    """Returns a code that shows more than digits, separators and the sign of a unit; None for others, and for dates."""
    parts = _sections(code[:_MAX_CODE])[:3]
    if not parts or any(section is None for section in parts):
        return None
    sections = [section for section in parts if section is not None]
    first = sections[0]
    words = [section for section in sections if not section.has_digits and _WORD.search(section.before)]
    names = first.names if first.has_digits else bool(words)
    units = {section.unit for section in sections if section.has_digits}
    unit = units.pop() if len(units) == 1 else ""
    shows_more = any((names, words, any(s.thousands or s.labelled for s in sections)))
    shows_more = shows_more or (bool(unit or units) and not re.fullmatch(UNIT, unit))
    return FormatCode(tuple(sections), names, unit) if shows_more else None


def _sections(code: str) -> list[_Section | None]:
    found: list[_Section | None] = []
    at = 0
    while at <= len(code):
        match = _SECTION.match(code, at)
        assert match is not None
        found.append(_section(match[0]))
        at = match.end() + 1 if match.end() < len(code) else len(code) + 1
    return found


def _section(code: str) -> _Section | None:
    """Reads one section; None where it shows a date, a fraction, a power or a text."""
    before, after, whole, places = "", "", list[str](), ""
    pending, commas, percents, point, general, grouped, thousands = "", 0, 0, False, False, False, 0
    condition: tuple[str, Decimal] | None = None
    for part in _PART.finditer(code):
        if part["scientific"] or (part["plain"] and _TIMES_AND_FRACTIONS.match(part["plain"])):
            return None
        if part["sign"]:
            condition = part["sign"], Decimal(part["limit"])
        elif part["general"]:
            general = True
        elif part["digit"]:
            if point:
                places += part["digit"]
            else:
                grouped, commas = grouped or commas > 0, 0
                whole += [pending, part["digit"]] if whole and pending else [part["digit"]]
                pending = "" if whole else pending
        elif part["point"]:
            point, thousands, commas = True, commas, 0
        elif part["comma"] and (whole or places):
            commas += 1
        else:
            percents += part["percent"] is not None
            literal = part["quoted"] or part["escaped"] or part["currency"] or part["percent"] or part["plain"] or ""
            if not (whole or places or general):
                before += literal
            elif point:
                after += literal
            else:
                pending += literal
    return _Section(
        before, tuple(whole), places, pending + after, grouped, thousands + commas, percents, general, condition
    )


def _rounded(number: Decimal, places: int) -> Decimal:
    return number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def _exact(number: float) -> Decimal:
    return Decimal(number) if isinstance(number, int) else Decimal(f"{number:.15g}")
