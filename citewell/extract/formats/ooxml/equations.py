"""Office equations (OMML, ECMA-376 part 1 §22.1) as LaTeX text."""

from __future__ import annotations

from citewell.extract.core.safexml import XmlElement, local_name
from citewell.extract.formats.ooxml.package import attribute, child, value

_OPERATORS = {
    "∑": r"\sum",
    "∏": r"\prod",
    "∐": r"\coprod",
    "∫": r"\int",
    "∬": r"\iint",
    "∭": r"\iiint",
    "∮": r"\oint",
    "⋃": r"\bigcup",
    "⋂": r"\bigcap",
    "⋁": r"\bigvee",
    "⋀": r"\bigwedge",
}
_ACCENTS = {
    "\u0302": r"\hat",
    "\u0303": r"\tilde",
    "\u0304": r"\bar",
    "\u0305": r"\overline",
    "\u0307": r"\dot",
    "\u0308": r"\ddot",
    "\u20d7": r"\vec",
    "\u030c": r"\check",
    "\u0306": r"\breve",
}
# Invisible function application, times, separator and plus.
_INVISIBLE = {0x2061: " ", 0x2062: " ", 0x2063: ",", 0x2064: " "}
_FUNCTIONS = frozenset(
    (
        "sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "log", "ln",
        "lim", "max", "min", "exp", "det", "dim", "gcd", "inf", "sup",
    )
)  # fmt: skip


def equation_text(element: XmlElement) -> str:
    """Returns an `oMath` or `oMathPara` element as LaTeX between dollar signs; empty if it has no content."""
    if local_name(element) == "oMathPara":
        inner = r" \\ ".join(_all(math) for math in element if local_name(math) == "oMath")
    else:
        inner = _all(element)
    inner = " ".join(inner.split())
    return f"${inner}$" if inner else ""


def _all(element: XmlElement | None) -> str:
    return "".join(_one(inner) for inner in element) if element is not None else ""


def _part(element: XmlElement, name: str) -> str:
    return _all(child(element, name)).strip()


def _one(element: XmlElement) -> str:
    """Converts one construct; a construct without its own rule yields its contents."""
    name = local_name(element)
    rule = _RULES.get(name)
    if rule is not None:
        return rule(element)
    if name.endswith("Pr") or name in ("del", "moveFrom"):
        return ""
    return _all(element)


def _run(element: XmlElement) -> str:
    text = "".join(inner.text or "" for inner in element if local_name(inner) == "t")
    return text.translate(_INVISIBLE)


def _fraction(element: XmlElement) -> str:
    top, bottom = _part(element, "num"), _part(element, "den")
    if value(element, "fPr", "type") in ("lin", "skw"):
        return f"{{{top}}}/{{{bottom}}}"
    command = r"\genfrac{}{}{0pt}{}" if value(element, "fPr", "type") == "noBar" else r"\frac"
    return f"{command}{{{top}}}{{{bottom}}}"


def _radical(element: XmlElement) -> str:
    degree = _part(element, "deg")
    return rf"\sqrt[{degree}]{{{_part(element, 'e')}}}" if degree else rf"\sqrt{{{_part(element, 'e')}}}"


def _scripts(element: XmlElement) -> str:
    base, low, high = _part(element, "e"), _part(element, "sub"), _part(element, "sup")
    marks = (f"_{{{low}}}" if low else "") + (f"^{{{high}}}" if high else "")
    return f"{marks}{base}" if local_name(element) == "sPre" else f"{base}{marks}"


def _operator(element: XmlElement) -> str:
    sign = value(element, "naryPr", "chr")
    command = _OPERATORS.get(sign or "∫", sign or r"\int")
    low, high = _part(element, "sub"), _part(element, "sup")
    return command + (f"_{{{low}}}" if low else "") + (f"^{{{high}}}" if high else "") + f" {_part(element, 'e')}"


def _delimiters(element: XmlElement) -> str:
    properties = child(element, "dPr")
    begin = _sign(properties, "begChr", "(")
    end = _sign(properties, "endChr", ")")
    separator = _sign(properties, "sepChr", "|")
    return begin + separator.join(_all(inner).strip() for inner in element if local_name(inner) == "e") + end


def _sign(properties: XmlElement | None, name: str, default: str) -> str:
    found = child(properties, name)
    return default if found is None else (attribute(found, "val") or "")


def _function(element: XmlElement) -> str:
    name = _part(element, "fName")
    return (rf"\{name}" if name in _FUNCTIONS else name) + f" {_part(element, 'e')}"


def _limit(element: XmlElement) -> str:
    base = _part(element, "e")
    base = rf"\{base}" if base in _FUNCTIONS else base
    return f"{base}{'_' if local_name(element) == 'limLow' else '^'}{{{_part(element, 'lim')}}}"


def _accent(element: XmlElement) -> str:
    return f"{_ACCENTS.get(value(element, 'accPr', 'chr') or chr(0x302), chr(92) + 'hat')}{{{_part(element, 'e')}}}"


def _bar(element: XmlElement) -> str:
    command = r"\overline" if value(element, "barPr", "pos") == "top" else r"\underline"
    return f"{command}{{{_part(element, 'e')}}}"


def _group(element: XmlElement) -> str:
    command = r"\overbrace" if value(element, "groupChrPr", "pos") == "top" else r"\underbrace"
    return f"{command}{{{_part(element, 'e')}}}"


def _matrix(element: XmlElement) -> str:
    rows = (
        " & ".join(_all(cell).strip() for cell in row if local_name(cell) == "e")
        for row in element
        if local_name(row) == "mr"
    )
    return r"\begin{matrix}" + r" \\ ".join(rows) + r"\end{matrix}"


def _array(element: XmlElement) -> str:
    return (
        r"\begin{array}{l}"
        + r" \\ ".join(_all(line).strip() for line in element if local_name(line) == "e")
        + r"\end{array}"
    )


_RULES = {
    "r": _run,
    "f": _fraction,
    "rad": _radical,
    "sSub": _scripts,
    "sSup": _scripts,
    "sSubSup": _scripts,
    "sPre": _scripts,
    "nary": _operator,
    "d": _delimiters,
    "func": _function,
    "limLow": _limit,
    "limUpp": _limit,
    "acc": _accent,
    "bar": _bar,
    "groupChr": _group,
    "m": _matrix,
    "eqArr": _array,
}
