"""Where sentences begin and end, in any script, with no model: rules for terminators, abbreviations, initials and lists."""

from __future__ import annotations

import re

# Each alternative begins only where a run of its first characters begins, and gives nothing back: one look at each character.
_ENDS = re.compile(
    r"""
    (?P<wide>[。！？｡]++[”’」』）)\]"']*+)\s*+                            # full stop of Chinese and Japanese: no space needed
  | (?P<stop>(?<![.!?…।॥؟۔։።])[.!?…।॥؟۔։።]++[”’»)\]"']*+)(?=\s|$)\s*+    # full stop, then white space
  | (?P<block>(?<!\s)[^\S\n]*+\n[^\S\n]*+\n\s*+)                          # an empty line
  | (?P<item>(?<![ \t])[ \t]*+\n[ \t]*+(?=(?:[-*•‣▪]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s))  # a list item on the next line
    """,
    re.VERBOSE,
)
_LAST_WORD = re.compile(r"([^\s(\[\"'“‘«]+)\.$")
_ABBREVIATION_LIST = """
    mr mrs ms dr prof sr jr st mt ft gen col sgt lt capt rev hon gov sen rep pres messrs mme mlle
    no nos vol vols fig figs eq eqs sec secs ch chap p pp par art ref refs ed eds al cf ca approx est max min dept
    inc ltd co corp bros llc plc jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun
    vs viz etc e.g i.e eg ie a.m p.m am pm u.s u.k u.n e.u ph.d b.sc m.sc b.c a.d
    bzw ca d.h z.b u.a u.ä o.ä usw evtl ggf inkl zzgl abs nr str tel hr fr hrsg s.o s.u vgl bspw sog geb gest jh mio mrd
    mm env av bd éd cie sté dép réf n° sig sigg dott ing avv pag sra srta ud uds núm pág dña exc ex
    т.е т.д т.п др пр г гг ул стр рис см
"""
_ABBREVIATIONS = frozenset(_ABBREVIATION_LIST.split())
_MAX_LEAD_LENGTH = 64  # characters of indentation and bullets before a list number
_STARTS_SENTENCE = re.compile(r"[\"'“‘«(\[¿¡—–-]*\s*(?:[^\W\d_]|\d)")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Character spans of the sentences of `text`, in order, without the white space around them; never empty spans."""
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _ENDS.finditer(text):
        if match["stop"] is not None and not _is_end(text, start, match):
            continue
        end = match.end("wide") if match["wide"] is not None else match.end("stop") if match["stop"] is not None else -1
        _append(spans, text, start, end if end >= 0 else match.start())
        start = match.end()
    _append(spans, text, start, len(text))
    return spans


def sentences(text: str) -> list[str]:
    """The sentences of `text`, in order."""
    return [text[start:end] for start, end in sentence_spans(text)]


def _append(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        spans.append((start, end))


def _is_end(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether the full stop at `match` closes a sentence rather than an abbreviation, an initial or a list number."""
    rest = text[match.end() : match.end() + 8]
    if not rest:
        return True
    stop = match["stop"]
    if stop != ".":
        return not _begins_lower(rest)
    word = _LAST_WORD.search(text, max(start, match.start() - 24), match.start() + 1)
    name = word[1] if word else ""
    if name.lower() in _ABBREVIATIONS:
        return False
    if len(name) == 1 and name.isalpha() and name.isupper():
        return False
    if name.isdigit() and len(name) <= 3 and _nothing_before(text, start, match.start() - len(name)):
        return False
    return bool(_STARTS_SENTENCE.match(rest)) and not _begins_lower(rest)


def _begins_lower(rest: str) -> bool:
    letter = next((c for c in rest if c.isalnum()), "")
    return letter.islower()


def _nothing_before(text: str, start: int, end: int) -> bool:
    return end - start <= _MAX_LEAD_LENGTH and not text[start:end].strip(" \t\n-*•(")
