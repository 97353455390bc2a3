"""Names of people and organisations in a sentence, by how they are written and by what is beside them.

No list of names: a person is told by a title, an office or a verb that takes people, an organisation by its legal form or its kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from citewell.text.stopwords import STOP_WORDS

_WORD = r"[A-ZÀ-ÖØ-ÞĀŁŚŠŽČ][\w'’]{1,24}(?:-[A-ZÀ-ÖØ-Þ][\w'’]{1,24})?"
_INITIAL = r"[A-Z]\."
_NAME = rf"(?:{_WORD}|{_INITIAL})(?:[ ](?:(?:van|von|de|der|den|da|di|du|la|le|bin|al)[ ]){{0,2}}(?:{_WORD}|{_INITIAL})){{1,3}}"
_TITLE = r"(?:Mr|Mrs|Ms|Miss|Dr|Prof|Professor|Doctor|Sir|Dame|Lord|Lady|Rev|Reverend|Father|Sister|Judge|Justice|Senator|Capt|Captain|Col|Gen|Lt|Sgt|Hon)\.?"
_OFFICE = (
    r"(?:director|manager|officer|president|chair(?:man|woman|person)?|secretary|treasurer|authors?|editor|professor|lecturer|engineer|founder|co-founder|coach"
    r"|captain|player|goalkeeper|striker|midfielder|defender|minister|judge|attorney|lawyer|counsel|analyst|accountant|partner|coordinator|administrator|nurse|teacher"
    r"|principal|dean|mayor|governor|king|queen|actor|actress|singer|writer|artist|spokes(?:man|woman|person)|supervisor|assistant|owner|chief executive|C[EFOT]O)"
)
_DOES = (
    r"(?:said|says|told|wrote|writes|joined|resigned|retired|died|born|married|argued|explained|added|announced|serves?|served|(?:was|is|were) (?:appointed|elected|born|named|hired"
    r"|succeeded|replaced)|founded|directed)"
)
_TITLED = re.compile(rf"\b{_TITLE}[ ](?P<name>(?:{_WORD}|{_INITIAL})(?:[ ](?:{_WORD}|{_INITIAL})){{0,3}})")
_BESIDE = re.compile(
    rf"(?<![\w.])(?P<name>{_NAME})(?:(?:,|[ ]\()[ ]?(?:(?:[\w&'’/-]{{1,20}}[ ]){{0,5}}(?i:{_OFFICE})\b|aged?[ ]\d|born\b|\d\d[,)])|[ ]{_DOES}\b|[ ]?<[\w.+-]{{1,64}}@)"
)
_AFTER_OFFICE = re.compile(
    rf"\b(?i:{_OFFICE}|signed|contact|written by|directed by|succeeded by|attn:?|from:|to:|cc:|/s/)[: ]{{1,2}}(?P<name>{_NAME})(?![\w-])"
)
_FORM = r"(?:Inc|Incorporated|Corp|Corporation|Ltd|Limited|LLC|LLP|PLC|plc|GmbH|AG|SA|S\.A|NV|N\.V|BV|Co|Company|Pty|Oy|AB|SpA|KG)"
_KIND = (
    r"(?:University|College|School|Institute|Bank|Ministry|Department|Agency|Association|Council|Committee|Commission|Foundation|Society|Union|Federation|Authority|Bureau"
    r"|Board|Court|Hospital|Church|Club|Group|Holdings|Organi[sz]ation|Office|Service|Administration|Board|Trust|Fund|Centre|Center)"
)
_CAPITALS = rf"(?:{_WORD}|[A-Z]{{2,6}}|&)"
_WITH_FORM = re.compile(rf"(?<![\w.&])(?P<name>{_CAPITALS}(?:,?[ ]{_CAPITALS}){{0,4}}?,?[ ]{_FORM}\b\.?)")
_WITH_KIND = re.compile(
    rf"(?<![\w.&])(?P<name>(?:{_CAPITALS}[ ]){{1,4}}?{_KIND}\b(?:[ ](?:of|for)[ ](?:the[ ])?{_WORD}(?:[ ](?:and[ ])?{_WORD}){{0,3}})?|{_KIND}[ ](?:of|for)[ ](?:the[ ])?{_WORD}(?:[ ](?:and[ ])?{_WORD}){{0,3}})"
)
_NO_PERSON = re.compile(
    rf"\b(?:{_FORM}|{_KIND}|Section|Chapter|Article|Part|Form|Table|Figure|Page|Appendix|January|February|March|April|June|July|August|September|October|November|December"
    r"|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|North|South|East|West|New|United|City|County|States?|Street|Road|Avenue|League|Cup|Act|Policy|Programme?|Plan|Code"
    r"|Press|Manager|Director|Officer|President|Chief|Executive|Vice|Senior|General|Financial|Human|Resources|Students?|Employees?)\b"
)
_LEADING = re.compile(r"^(?:The|A|An|This|Our|Their|In|At|By|For|From|With|To|And|Of|If|When|Under)\s")


def names_of_people(text: str) -> Iterator[tuple[int, int]]:
    """Where people are named: after a title, beside an office, or before what people do."""
    seen: set[tuple[int, int]] = set()
    for pattern in (_TITLED, _BESIDE, _AFTER_OFFICE):
        for match in pattern.finditer(text):
            span = match.span("name")
            if span not in seen and not _NO_PERSON.search(match["name"]) and not _has_function_word(match["name"]):
                seen.add(span)
                yield span


def names_of_organisations(text: str) -> Iterator[tuple[int, int]]:
    """Where organisations are named by their legal form ("Ltd") or their kind ("University")."""
    seen: set[int] = set()
    for pattern in (_WITH_FORM, _WITH_KIND):
        for match in pattern.finditer(text):
            start, end = match.span("name")
            while leading := _LEADING.match(text[start:end]):
                start += leading.end()
            if start not in seen and " " in text[start:end]:
                seen.add(start)
                yield start, end


def _has_function_word(name: str) -> bool:
    """Whether its first word only begins a sentence ("There Smith said")."""
    return name.split()[0].lower() in STOP_WORDS["en"]
