"""Guesses a text's legacy encoding from how plausible its characters are once decoded.

Each encoding still in use is tried on the stretches around non-ASCII bytes. Letters of one script within words count in
its favor; symbols inside words, a capital after a lowercase letter and mixed scripts count against it. East Asian
encodings help by design: they order common characters before rare ones.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_SAMPLE = 6_000
"""Bytes scored per encoding: non-ASCII bytes with their neighbors. More do not change a guess."""
_STRETCH = re.compile(rb"[\x00-\x7f]{0,12}(?:[\x80-\xff]+[\x00-\x7f]{0,12})+")
# In order of preference for ties.
_ENCODINGS = (
    *(
        "cp1252",
        "cp932",
        "gb18030",
        "big5",
        "cp949",
        "euc_jp",
        "cp1251",
        "cp1250",
        "iso8859_2",
        "koi8_u",
        "cp1253",
        "iso8859_7",
    ),
    *("cp1254", "cp1255", "cp1256", "cp1257", "cp874", "cp866", "cp850", "cp852", "cp1258", "mac_roman", "iso8859_5"),
)
# Lead bytes of the common characters, and whether a low second byte marks a later extension.
_WIDE = {
    "cp932": (0x81, 0x97, False),
    "euc_jp": (0xA1, 0xCF, False),
    "gb18030": (0xA1, 0xD7, True),
    "big5": (0xA1, 0xC6, False),
    "cp949": (0xA1, 0xC8, True),
}
_FREQUENT = {
    "gb18030": frozenset("的一是不了在人有我他这中大来上个国到说们为子和你地出道也时年，。"),
    "big5": frozenset("的一是不了在人有我他這中大來上個國到說們為子和你地出道也時年，。"),
    "cp949": frozenset("이다는을의에가고하지도로한를은니"),
}
_FREQUENT_LETTERS = {
    **dict.fromkeys(("cp1251", "koi8_u", "cp866", "iso8859_5"), frozenset("оеаинтсрвлк")),
    **dict.fromkeys(("cp1253", "iso8859_7"), frozenset("αοιετσνηυρ")),
    "cp1255": frozenset("יוהלאתרבמש"),
    "cp1256": frozenset("ايلمونرتبةهع"),
}
_JAPANESE = ("cp932", "euc_jp")
# Sets of non-ASCII letters, each used by one language.
_WESTERN = (
    *(
        "äöüß",
        "àâæçéèêëîïôœùûüÿ",
        "áéíñóúü",
        "àèéìíîòóùú",
        "ãáâàçéêíóôõú",
        "åäöé",
        "åæøéòôó",
        "áðéíóúýþæö",
        "äõöüšž",
        "éëïèöüóá",
        "àçèéíïòóúü",
    ),
)
_CENTRAL = ("ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áéíóöőúüű", "ăâîşţ", "čćđšž", "áäčďéíĺľňóôŕšťúýž", "äöüß", "çë")
_ALPHABETS = {
    "cp1252": _WESTERN,
    "cp850": _WESTERN,
    "mac_roman": _WESTERN,
    "cp1250": _CENTRAL,
    "iso8859_2": _CENTRAL,
    "cp852": _CENTRAL,
    "cp1254": ("çğıöşüâîû",),
    "cp1257": ("ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž"),
    "cp1258": ("àáãảạăằắẵẳặâầấẫẩậđèéẽẻẹêềếễểệìíĩỉịòóõỏọôồốỗổộơờớỡởợùúũủụưừứữửựỳýỹỷỵ",),
}
_QUOTES = frozenset("«»„“”‘’‚…–—•§°·€£©®½´¡¿№ªº")


def guess_encoding(sample: bytes) -> str:
    """Returns the most plausible encoding of a text that is neither ASCII nor UTF-8."""
    stretches = b"\n".join(_STRETCH.findall(sample))[:_SAMPLE]
    scores = {encoding: _score(stretches, encoding) for encoding in _ENCODINGS}
    return max(_ENCODINGS, key=lambda encoding: round(scores[encoding], 2))


def _score(data: bytes, encoding: str) -> float:
    """Returns the plausibility per non-ASCII byte."""
    count = sum(byte > 0x7F for byte in data)
    text = data.decode(encoding, "replace")
    total = -3.0 * text.count("\ufffd")
    alphabet = _alphabet(text, encoding)
    before = " "
    for index, character in enumerate(text):
        if character > "\x7f" and character != "\ufffd":
            after = text[index + 1] if index + 1 < len(text) else " "
            total += _plausible(before, character, after, encoding, alphabet)
        before = character
    return total / max(1, count)


def _alphabet(text: str, encoding: str) -> frozenset[str]:
    """Returns the letters of the language, among those written in a Latin encoding, that covers most of this text."""
    letters = [character for character in text.lower() if character > "\x7f" and character.isalpha()]
    languages = [frozenset(letters_of) for letters_of in _ALPHABETS.get(encoding, ())]
    return max(languages, key=lambda known: sum(letter in known for letter in letters), default=frozenset())


def _plausible(before: str, character: str, after: str, encoding: str, alphabet: frozenset[str]) -> float:
    if not character.isalpha():
        return _symbol(before, character, after, encoding)
    score = _worth(character, encoding, alphabet)
    script = _script(character)
    for neighbour in (before, after):
        if neighbour.isalpha() and _script(neighbour) != script:
            score -= 1.0
        elif neighbour.isdigit() and encoding not in _WIDE:
            score -= 0.5
    if script not in ("CJK", "HANGUL") and before.islower() and character.isupper():
        score -= 1.0
    elif character.islower() and before.isupper() and after.isupper():
        score -= 0.5
    return score


def _symbol(before: str, character: str, after: str, encoding: str) -> float:
    """Scores a non-letter: plausible next to words, not inside them; wide punctuation counts like East Asian text."""
    if encoding in _WIDE and unicodedata.east_asian_width(character) in "WF":
        return 1.5 + 0.5 * (character in _FREQUENT.get(encoding, ""))
    if unicodedata.category(character) == "Mn" and encoding in ("cp874", "cp1255", "cp1256", "cp1258"):
        return 1.0
    if before.isalpha() and after.isalpha() and character not in "’‘·":
        return -1.0
    if character in _QUOTES:
        return 1.1
    return -0.2 if character.isspace() else -0.7


def _worth(character: str, encoding: str, alphabet: frozenset[str]) -> float:
    """Scores a letter: about one point per byte, more for frequent letters and less for rare ones."""
    if encoding in _ALPHABETS:
        return 1.1 if character.lower() in alphabet else 0.3
    if encoding in _FREQUENT_LETTERS:
        return 0.85 + 0.4 * (character in _FREQUENT_LETTERS[encoding])
    if encoding not in _WIDE:
        return 1.0
    bonus = 0.3 if character in _FREQUENT.get(encoding, "") else 0.0
    raw = character.encode(encoding, "replace")
    if len(raw) != 2:
        return -0.5 * len(raw)
    low, high, extended = _WIDE[encoding]
    kana = "\u3040" <= character <= "\u30ff"
    if not low <= raw[0] <= high or (extended and raw[1] < 0xA1):
        return -1.0
    if kana:
        return 2.5 if encoding in _JAPANESE else 0.5
    return 2.0 + 2 * bonus


@cache
def _script(character: str) -> str:
    """Returns a letter's writing system; East Asian scripts except Hangul are one, and ASCII letters suit any Latin."""
    name = unicodedata.name(character, "").split(" ")[0]
    return "CJK" if name in ("CJK", "HIRAGANA", "KATAKANA", "HALFWIDTH", "FULLWIDTH", "KATAKANA-HIRAGANA") else name
