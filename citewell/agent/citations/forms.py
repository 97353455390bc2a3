"""Reads citations that a model writes otherwise than as `[n]`: `[Source 1]`, `【1】`, `(1)`, superscripts, the title of a passage."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from citewell.agent.citations.provenance import passage_title
from citewell.agent.interface import Source

MAX_HELD = 240
"""Characters of an open bracket that may become a citation; no title of a passage is longer where one is cited by it."""
_WORD = r"(?:sources?|src|passages?|references?|refs?|documents?|docs?|quellen?|n)"
_NUMBERS = r"\d{1,3}(?:\s*(?:,|;|and|und|&)\s*(?:" + _WORD + r"\s*)?\d{1,3})*"
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_FORMS = re.compile(
    rf"\[\s*{_WORD}\s*[=:#.]*\s*[\"']?(?P<word>{_NUMBERS})[\"']?\s*\]"
    rf"|\(\s*{_WORD}\s*[=:#.]*\s*[\"']?(?P<round>{_NUMBERS})[\"']?\s*\)"
    rf"|【\s*(?:{_WORD}\s*)?(?P<cjk>{_NUMBERS})[^】]*】"
    rf"|<(?:source|src|cite|ref)\b[^<>]*?\b\w+\s*=\s*[\"']?(?P<tag>\d{{1,3}})[\"']?[^<>]*>(?:\s*</(?:source|src|cite|ref)>)?"
    rf"|<sup>\s*\[?\s*(?P<sup>{_NUMBERS})\s*\]?\s*</sup>"
    rf"|(?:(?<=[.,;:!?)\"”’])|(?<=[^\W\d_]{{4}}))(?P<raised>[⁰¹²³⁴⁵⁶⁷⁸⁹]+)(?=[\s.,;:!?)]|\Z)"
    rf"|(?<=[\w.!?%\"”’])\s?\((?P<plain>{_NUMBERS})\)(?=\s*(?:[.!?。]|\Z|\n))"
    r"|[\[(](?P<title>[^\[\]()]{3,200}(?:\([^()\[\]]{1,40}\)[^\[\]()]{0,40})?)[\])]",
    re.I,
)
# A raised number after three letters or fewer is a power: m², cm³.
_OPEN = re.compile(
    r"(?:\s?(?:\[[^\[\]]*\]?|\([^()]*\)?|【[^】]*】?|<sup>[^<]*(?:<[^<>]*>?)?|<[^<>]*>?)|[⁰¹²³⁴⁵⁶⁷⁸⁹]+)?\s*\Z", re.I
)
_ENTRY = re.compile(r"\s*(?:[-*•]\s*)?(?:\[(?P<n>\d{1,3})\]|(?P<plain>\d{1,3})[.):])[\s:–-]*(?P<title>.{1,200})")
_ANNOUNCES = re.compile(r"\w+(?: \w+)?")
_NUMBER = re.compile(r"\d+")
_SPACE = re.compile(r"[\s–—-]+")


class CitationForms:
    """Turns other forms of citations in a growing text into `[n]`; what names no source stays as it is."""

    def __init__(self, sources: Callable[[], Sequence[Source]]) -> None:
        self._sources = sources
        self._held = ""
        self._before = ""

    def read(self, piece: str) -> str:
        """Take the next piece; what is decided now."""
        text = self._held + piece
        opened = _OPEN.search(text[-MAX_HELD:])
        end = len(text) - len(opened[0]) if opened is not None else len(text)
        self._held = text[end:]
        return self._with_marks(text[:end], self._held)

    def finish(self) -> str:
        """What was held back."""
        text, self._held = self._held, ""
        return self._with_marks(text, "")

    def _with_marks(self, text: str, after: str) -> str:
        if not text:
            return ""
        known = {source.n: source for source in self._sources()}
        if not known:
            return text
        joined = self._before + text + after

        def marks(found: re.Match[str]) -> str:
            said = _marks(found, known)
            return found[0] if said is None else said

        start, stop = len(self._before), len(self._before) + len(text)
        out, at = "", start
        for found in _FORMS.finditer(joined):
            if found.start() < start or found.end() > stop:
                continue
            said = marks(found)
            before = joined[at : found.start()]
            out += (before if said else before.rstrip(" ")) + said
            at = found.end()
        self._before = (self._before + text)[-4:]
        return out + joined[at:stop]


def _marks(found: re.Match[str], known: dict[int, Source]) -> str | None:
    """The citation as `[n]`, nothing for a file that several sources are of, or None for what cites nothing."""
    if found["title"] is not None:
        named = _named_by(found["title"], list(known.values()))
        return None if not named else f"[{named[0]}]" if len(named) == 1 else ""
    told = next(text for text in (found[name] for name in _NUMBERED) if text is not None)
    numbers = [int(number) for number in _NUMBER.findall(told.translate(_SUPERSCRIPTS))]
    if not numbers or any(number not in known for number in numbers):
        return None
    space = " " if found["plain"] is not None and found[0][0].isspace() else ""
    return space + "".join(f"[{number}]" for number in dict.fromkeys(numbers))


_NUMBERED = ("word", "round", "cjk", "tag", "sup", "raised", "plain")


def _named_by(title: str, sources: Sequence[Source]) -> list[int]:
    """The sources of this title: that of the place, else all of the file."""
    wanted = _folded(title)
    places = [source.n for source in sources if wanted in (_folded(passage_title(source.hit)), _folded(_label(source)))]
    return places or [source.n for source in sources if wanted == _folded(source.hit.filename)]


def without_source_list(text: str, sources: Sequence[Source]) -> str:
    """The text without a list of its sources at the end, and the line that announces it."""
    lines = text.rstrip().split("\n")
    while len(lines) > 1 and _is_listed(lines[-1], sources):
        lines.pop()
    if len(lines) < len(text.rstrip().split("\n")):
        while len(lines) > 1 and _announces(lines[-1]):
            lines.pop()
    return "\n".join(lines).rstrip()


def _announces(line: str) -> bool:
    """Whether a line is blank, or a word or two, as in `## Sources:`."""
    text = line.strip(" \t\r#*_:")
    return not text or _ANNOUNCES.fullmatch(text) is not None


def _is_listed(line: str, sources: Sequence[Source]) -> bool:
    """Whether a line is a number and the title or file of its source, or blank between such lines."""
    entry = _ENTRY.fullmatch(line)
    if entry is None:
        return False
    hits = [source for source in sources if source.n == int(entry["n"] or entry["plain"])]
    return any(_folded(source.hit.filename) in _folded(entry["title"]) for source in hits)


def _label(source: Source) -> str:
    return source.hit.chunk.locator.label(source.hit.filename)


def _folded(text: str) -> str:
    return _SPACE.sub(" ", text).strip(" .,;:\"'“”").casefold()
