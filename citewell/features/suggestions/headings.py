"""Questions from the headings of a document, in its own language."""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.features.suggestions.candidates import Candidate, Origin
from citewell.features.suggestions.inversion import inverted

_WORDS = range(2, 8)
_NUMBERING = re.compile(r"^\s*(?:\d+(?:\.\d+)*[.):]?|[IVXivx]+[.):]|[A-Za-z][.)])\s+")
_EMPTY = re.compile(
    r"^(?:table of )?(?:contents|appendix|introduction|summary|references|overview|abstract|conclusions?|acknowledge?ments|index|"
    r"further reading|see also|external links|notes|bibliography|figures?|tables?|page|chapter|section|slide|title|heading|"
    r"about (?:us|this)|part [ivx\d]+|for further reading|let['’]s|disclaimer|copyright|glossary|preface|foreword)\b",
    re.IGNORECASE,
)
_IMPERATIVE_LIST = """
add apply avoid build change check choose configure create define delete find get import implement install keep leverage make manage
open plan prepare protect read remove review run select send set share start stop submit test train update use write
"""
_IMPERATIVES = frozenset(_IMPERATIVE_LIST.split())
# Title case capitalises words longer than this.
_SMALL = 3
_TEMPLATES = {
    "de": "Was steht dort über „{}“?",
    "fr": "Que dit ce document sur « {} » ?",
    "es": "¿Qué dice este documento sobre «{}»?",
    "it": "Che cosa dice questo documento su «{}»?",
    "pt": "O que diz este documento sobre “{}”?",
    "nl": "Wat staat er over ‘{}’?",
}


def heading_questions(headings: Sequence[str], language: str | None) -> list[Candidate]:
    """Headings that are questions or imply one, then others turned into questions; unchanged in a language without a question form.

    headings: in reading order; the first of several is taken to be the document's title
    """
    asked: list[Candidate] = []
    made: list[Candidate] = []
    large = _large_words(headings)
    for source in dict.fromkeys(headings[1:] or headings):
        heading = _NUMBERING.sub("", source).strip()
        if not _speaks(heading):
            continue
        plain = heading.rstrip(":. ")
        in_english = language is None or language.partition("-")[0].lower() == "en"
        question = heading if heading.endswith("?") else inverted(plain) if in_english else None
        if question:
            asked.append(Candidate(Origin.HEADING, (question,), source))
        elif "," in plain or ";" in plain:
            continue
        elif in_english:
            made.append(Candidate(Origin.HEADING, _english(plain, large), source))
        else:
            form = _TEMPLATES.get((language or "").partition("-")[0].lower(), "{}")
            made.append(Candidate(Origin.HEADING, (form.format(plain),), source))
    return asked + made


def _speaks(heading: str) -> bool:
    words = heading.split()
    return (
        len(words) in _WORDS
        and not _EMPTY.match(heading)
        and heading.upper() != heading
        and re.search(r"[^\W\d_]{3}", heading) is not None
        and not re.search(r"[@<>{}|=\\!]|https?:|[a-z][A-Z][a-z]|[a-z]\.[a-z]|\d{4}$", heading)
    )


def _large_words(headings: Sequence[str]) -> frozenset[str]:
    """Words capitalised inside headings, which are probably names."""
    inner = [word.strip(".,:;()?!") for heading in headings for word in _NUMBERING.sub("", heading).split()[1:]]
    return frozenset(word for word in inner if word[:1].isupper())


def _english(heading: str, large: frozenset[str]) -> tuple[str, ...]:
    first, _, rest = heading.partition(" ")
    if first.lower() in _IMPERATIVES and rest[:1].islower():
        return f"How do I {first.lower()} {rest}?", f"What does it say about how to {first.lower()} {rest}?"
    # In title case, names cannot be told from other words, so the heading stays unchanged.
    in_title_case = all(word[:1].isupper() for word in rest.split() if len(word) > _SMALL)
    is_name = in_title_case or first in large or any(letter.isupper() or letter.isdigit() for letter in first[1:])
    spoken = heading if is_name else f"{first[:1].lower()}{first[1:]} {rest}"
    return f"What should I know about {spoken}?", f"Tell me about {spoken}.", f"What does it say about {spoken}?"
