"""Where sentences begin and end, in any script, with no model: rules for terminators, abbreviations, initials and lists."""

from __future__ import annotations

import re

from citewell.text.lines import leaders, line_ends

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
_MAY_END_LIST = """
    sr jr st mt ft sen no nos ed eds al est max min dept univ assn assoc ave blvd hwy bldg
    inc ltd co corp bros llc plc jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun
    etc a.m p.m am pm u.s u.k u.n e.u ph.d b.sc m.sc b.c a.d lb lbs oz yr yrs hrs esq
    usw evtl ggf inkl zzgl abs nr str tel hr fr hrsg s.o s.u sog geb gest jh mio mrd okt dez mrz std
    mm cie sté dép réf n° sig sigg dott ing pag sra srta ud uds núm pág ex ee uu janv févr avr juil déc ene abr ago dic
    blz st art kl kr ul ust pkt godz čl odst
    т.е т.д т.п др пр г гг ул стр рис см ст тел
"""
# A title, a reference or a comparison: something comes after it in the same sentence.
_NEVER_END_LIST = """
    mr mrs ms dr prof gen col sgt lt capt maj cmdr cpl rev hon gov rep pres messrs mme mlle
    vol vols fig figs eq eqs sec secs ch chap p pp par para art ref refs cf op amdt ca approx
    v vs viz e.g i.e eg ie bzw d.h z.b u.a u.ä o.ä vgl bspw ziff kap tab mind env av bd éd avv dña exc bijv
"""
_MAY_END = frozenset(_MAY_END_LIST.split())
_NEVER_END = frozenset(_NEVER_END_LIST.split())
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")
_NAME_BEFORE = re.compile(r"[^\W\d_a-z][\w'’&-]*[.,]?\s+$")
# Words that begin a sentence where they are written large, and are no names: "It moved to the U.S. The firm …".
_OPENING_LIST = """
    the this these those that it its he she his they their we our you your there here in on at by for from with without as after before
    during since until when while where if because although though however but then thus also both each many most some such all another
    what why how who which is are was were has have
    der die dem des ein eine einen einem einer es er sie wir ihr ihre dies diese dieser dieses im auf bei mit nach seit von vor wenn weil
    als aber und oder dann auch hier
    le les un une il elle ils elles nous vous ce cette ces dans sur avec pour par depuis quand mais
    el las una ella ellos este esta estos con para por desde cuando pero
"""
_OPENING = frozenset(_OPENING_LIST.split())
# A German ordinal, whose noun is written large as a sentence is: after an article or a preposition, or before a month.
_ORDINAL = re.compile(r"\d{1,3}|[IVXLC]{2,7}")
_BEFORE_ORDINAL = re.compile(
    r"(?:(?<!\bI )\bam|\b(?:im|vom|zum|zur|beim|der|die|das|dem|des|den|ein|eine|einem|einen|einer|eines|jede[rnms]?|seit|ab)"
    r"|\d{1,3}\.(?: und| oder| bis|,))\s$",
    re.I,
)
_MONTH = re.compile(
    r"(?:jan(?:uar|\.)|jänner|feb(?:ruar|\.)|märz|apr(?:il|\.)|mai|jun[io]|jul[io]|aug(?:ust|\.)|sept(?:ember|\.)|okt(?:ober|\.)"
    r"|nov(?:ember|\.)|dez(?:ember|\.))(?![\w’'])",
    re.I,
)
_FIRST_WORD = re.compile(r"[\"'“‘«(\[¿¡—–-]*\s*([^\W\d_]+)(?![\w.'’-])")
_MAX_LEAD_LENGTH = 64  # characters of indentation and bullets before a list number
_READ_AHEAD = 16  # characters after a full stop by which it is told whether a sentence begins
_LOOKED_BACK = 32  # characters before one in which the word before a letter is looked for
_STARTS_SENTENCE = re.compile(r"[\"'“‘«(\[¿¡—–-]*\s*(?:[^\W\d_]|\d)")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Character spans of the sentences of `text`, in order, without the white space around them; never empty spans.

    A line that its author ended is one, too (`line_ends`): of notes, of a form, of a list without bullets.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for end in (*line_ends(text), len(text)):
        spans += [(start + first, start + last) for first, last in running_spans(text[start:end])]
        start = end
    return spans


def running_spans(text: str) -> list[tuple[int, int]]:
    """The same where a line break ends nothing but before the item of a list: `text` is read as one run of prose."""
    spans: list[tuple[int, int]] = []
    start = 0
    dots = {place for first, last in leaders(text) for place in range(first, last)}
    for match in _ENDS.finditer(text):
        if match["stop"] is not None and (match.start() in dots or not _is_end(text, start, match)):
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
    rest = text[match.end() : match.end() + _READ_AHEAD]
    if not rest:
        return True
    stop = match["stop"]
    if stop != ".":
        return not _begins_lower(rest)
    word = _LAST_WORD.search(text, max(start, match.start() - 24), match.start() + 1)
    name = word[1] if word else ""
    if name.lower() in _NEVER_END:
        return False
    before = text[max(start, match.start() - _LOOKED_BACK) : match.start()]
    if _is_abbreviation(name) or _is_letter(name, rest, before) or _is_ordinal(name, rest, before):
        return _opens(rest)
    if name.isdigit() and len(name) <= 3 and _nothing_before(text, start, match.start() - len(name)):
        return False
    return bool(_STARTS_SENTENCE.match(rest)) and not _begins_lower(rest)


def _is_abbreviation(name: str) -> bool:
    """A known one, the initial of a name, or several letters with full stops between them ("D.C.")."""
    initial = len(name) == 1 and name.isupper()
    return initial or name.lower() in _MAY_END or _INITIALS.fullmatch(name) is not None


def _is_letter(name: str, rest: str, before: str) -> bool:
    """Whether a single small letter stands for a word: between names, or before a figure ("c. 1900", "b. 1950")."""
    if len(name) != 1 or not name.islower():
        return False
    return rest[0].isdigit() or _NAME_BEFORE.search(before.removesuffix(name)) is not None


def _is_ordinal(name: str, rest: str, before: str) -> bool:
    """Whether a number counts what follows, as German writes it: "im 2. Obergeschoss", "am 3. Mai", "das XIX. Jahrhundert"."""
    if not _ORDINAL.fullmatch(name):
        return False
    return (name.isdigit() and _MONTH.match(rest) is not None) or bool(_BEFORE_ORDINAL.search(before[: -len(name)]))


def _opens(rest: str) -> bool:
    """Whether a sentence begins with a word that is written large for this reason alone."""
    word = _FIRST_WORD.match(rest)
    return word is not None and word[1][0].isupper() and word[1].lower() in _OPENING


def _begins_lower(rest: str) -> bool:
    letter = next((c for c in rest if c.isalnum()), "")
    return letter.islower()


def _nothing_before(text: str, start: int, end: int) -> bool:
    return end - start <= _MAX_LEAD_LENGTH and not text[start:end].strip(" \t\n-*•(")
