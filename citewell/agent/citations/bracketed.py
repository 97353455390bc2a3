"""Tells Citewell's citations from bracketed numbers of other origin: of a file's own text, or of code.

In what Citewell says, `[n]` is a citation and nothing else. Numbers of a file are shown as `(n)`, and where they may be code, in
which round brackets would mean something else, as `[ n ]`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from citewell.agent.citations.matching import words
from citewell.agent.interface import Source

MAX_SOURCES = 9_999
_MAX_RANGE = 50
_MAX_DIGITS = 9
_CONTEXT = 400
MAX_HELD = 1_000
_LIST = r"\d+(?:[ \t]*[,;][ \t]*\d+)*"
_INNER = r"\^?\d+(?:[ \t]*[,;–-][ \t]*\d+)*"
_START = r"(?<!\\)\\*+\["
_ONE = re.compile(rf"{_START}({_INNER})\\*\]")
_RUN = re.compile(rf"(?:(?<![ \t])[ \t]*+{_START}{_INNER}\\*\])+")
_PLAIN_LIST = re.compile(rf"{_START}({_LIST})\\*\]")
_NEXT = re.compile(rf"(?P<code>(?<!\\)`+)|(?P<run>{_RUN.pattern})")
_OPEN = re.compile(r"(?:(?<![ \t])[ \t]++)?(?:(?<!\\)\\++)?(?:\[\^?[\d \t,;–-]*\\*)?\Z")
_OPEN_AT_LINE_END = re.compile(r"\[(?=\^?\d[\d \t,;–-]*$)", re.M)
_DASH = re.compile(r"[ \t]*[–-][ \t]*")
_IN_CODE = re.compile(r"(?:[\w)\]}\"'`]|[=:(\[{,<>+*/|&][ \t]*)\Z")
_CODE_SPAN = re.compile(r"(?<![\\`])(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")
_FENCE = re.compile(
    r"(?P<lead>[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?)(?P<fence>`{3,}(?=[^`]*\Z)|~{3,})(?P<info>.*)\Z", re.S
)
_MAYBE_FENCE = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)]?)?[ \t]*(?:`{0,2}|`{3,}[^`]*|~{0,2}|~{3,}.*)\Z", re.S)
_PROSE = re.compile(r"[ \t]*(?:markdown|md)\b", re.I)
_ANY_NUMBERS = re.compile(r"\\*[\[(][ \t]*\^?[\d \t,;–-]+\\*[\])]")
_OPENING = re.compile(r"[\[(]")
_SENTENCE_END = re.compile(r"[.!?。！？]")
_STICKS = frozenset(".,;:!?)]}\"'”’»。，、！？；：")
_BEFORE, _AFTER, _ENOUGH = 4, 3, 3


def escape_markers(text: str) -> str:
    """Words of a file as they appear in an answer: without numbers that read as citations, or quotes that would open code."""
    out: list[str] = []
    end = 0
    for span in _CODE_SPAN.finditer(text):
        out += [_quotable_prose(text, end, span.start()), _literal(span[0])]
        end = span.end()
    return "".join([*out, _quotable_prose(text, end, len(text))])


def space_markers(text: str) -> str:
    """A text with `[12]` as `[ 12 ]`: no citation to anyone, and code all the same."""
    return _ONE.sub(lambda one: f"[ {one[1]} ]" if _is_list(one[1]) else one[0], text)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a source has a number of its own: between which words."""

    before: tuple[str, ...]
    after: tuple[str, ...]


class OwnNumbers:
    """The bracketed numbers that the sources have of their own."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._places: dict[str, list[_Place]] = {}
        self._texts: dict[int, str] = {}
        for source in sources:
            text = source.hit.chunk.text
            for one in _ONE.finditer(text):
                before, after = (
                    text[max(0, one.start() - _CONTEXT) : one.start()],
                    text[one.end() : one.end() + _CONTEXT],
                )
                place = _Place(_last_words(before), _next_words(after))
                self._places.setdefault(_key(one[1]), []).append(place)
        if self._places:
            self._texts = {source.n: " ".join(_words(source.hit.chunk.text)) for source in sources}

    def may_hold(self, inner: str) -> bool:
        """Whether some source has these numbers in brackets."""
        return _key(inner) in self._places

    def may_hold_one_of(self, run: str) -> bool:
        """The same of any marker of a run."""
        return bool(self._places) and any(self.may_hold(one[1]) for one in _ONE.finditer(run))

    def is_copied(self, inner: str, before: str, after: str) -> bool:
        """Whether a marker was copied from a source along with the words around it, rather than put there to cite.

        After the last word that it shares with a source it cites where it names a source that says so; unless it is cited again.
        """
        last, following = _last_words(before), _next_words(after)
        said = " ".join(last)
        for place in self._places.get(_key(inner), ()):
            behind = _common(last[::-1], place.before[::-1])
            ahead = _common(following, place.after)
            if behind + ahead < _ENOUGH:
                continue
            again = re.match(rf"[^\w\[]{{0,4}}\[{re.escape(inner)}\]", after)
            if ahead or again or not any(said in self._texts.get(n, "") for n in _numbers(inner) or ()):
                return True
        return False


class MarkerReader:
    """Reads a growing text and gives it back with only such `[n]` as are citations; those of nothing end up in `removed`.

    known: the numbers that may be cited; own: the numbers that belong to the sources, where they are not set apart already.
    Code is given back as code: what is bracketed there cites nothing. No more than `MAX_HELD` characters are held back.
    """

    def __init__(self, known: Callable[[], frozenset[int]], own: Callable[[], OwnNumbers] | None = None) -> None:
        self._known = known
        self._own = own
        self._held = ""
        self._line = ""
        self._fence = ""
        self._fence_is_quoted = False
        self._fence_holds_prose = False
        self._begins_line = True
        self._waiting: list[int] = []
        self.removed: list[int] = []

    def read(self, text: str) -> str:
        """Take the next piece; what is decided now."""
        out: list[str] = []
        # Each step looks at all that is held, so a long piece is taken in short ones.
        for start in range(0, len(text), MAX_HELD):
            self._held += text[start : start + MAX_HELD]
            out.append(self._advance(final=False))
        return "".join(out)

    def cite(self, n: int) -> str:
        """What was held back, and `[n]`; within a block of code it waits for the end of the block."""
        out = "" if self._fence and not self._closes(self._held) else self._advance(final=True)
        if self._fence:
            self._waiting += [n] if n not in self._waiting else []
            return out
        if self._line.endswith(f"[{n}]"):
            return out
        # Behind a fence on its own line, nothing would end the block.
        lead = "\n" if _FENCE.match(self._line) else "" if self._line[-1:] in ("", "]", " ", "\t") else " "
        return out + self._say(f"{lead}[{n}]")

    def finish(self) -> str:
        """What was held back."""
        out = self._advance(final=True)
        if not self._waiting:
            return out
        lead = "" if self._begins_line else "\n"
        fence, self._fence = self._fence, ""
        return out + self._say(f"{lead}{fence}{self._waited()}")

    def _advance(self, *, final: bool) -> str:
        out: list[str] = []
        while self._held and (step := self._step(final=final)) is not None:
            out.append(step)
        return "".join(out)

    def _step(self, *, final: bool) -> str | None:
        """The next piece of one line, or None where it depends on what follows."""
        line, newline, _ = self._held.partition("\n")
        whole = bool(newline) or final or len(line) > MAX_HELD
        if not line:
            return self._put("\n", 1)
        if self._begins_line:
            if not whole and (self._fence or _MAYBE_FENCE.match(line)):
                return None
            if self._fence:
                return self._in_fence(line, newline)
            if opened := _FENCE.match(line):
                self._fence, self._fence_is_quoted = opened["fence"], ">" in opened["lead"]
                self._fence_holds_prose = bool(_PROSE.match(opened["info"]))
                return self._put(_literal(line), len(line))
        if self._fence and not self._fence_holds_prose:
            return self._put(_literal(line), len(line)) if whole else None
        return self._prose(line, whole=whole)

    def _in_fence(self, line: str, newline: str) -> str:
        """A line of a block of code, or the one that ends it: a marker on that line goes to the next, or the block would go on."""
        end = self._closes(line)
        if end:
            self._fence = ""
            fence, cited = end[1].rstrip(), end[2]
            if cited:
                self._held = f"{fence}\n{cited.strip()}{newline}{self._held[len(line) + len(newline) :]}"
                line = fence
            return self._put(line + self._waited(), len(line))
        if self._fence_is_quoted and not line.lstrip().startswith(">"):
            self._fence = ""
        if not self._fence or self._fence_holds_prose:
            return self._prose(line, whole=True) or ""
        return self._put(_literal(line), len(line))

    def _closes(self, line: str) -> re.Match[str] | None:
        fence = f"{re.escape(self._fence[0])}{{{len(self._fence)},}}"
        return re.match(rf"([ \t>]*{fence}[ \t]*)((?:{_RUN.pattern})?)[ \t\r]*\Z", line)

    def _prose(self, line: str, *, whole: bool) -> str | None:
        found = _NEXT.search(line)
        if found is None:
            opened = _OPEN.search(line)
            if not whole and opened is not None:
                return self._put(line[: opened.start()], opened.start()) if opened.start() else None
            return self._put(_OPEN_AT_LINE_END.sub("[ ", line), len(line))
        if found.start():
            return self._put(line[: found.start()], found.start())
        if found["code"]:
            return self._code(line, found["code"], whole=whole)
        return self._markers(line, found["run"], whole=whole)

    def _code(self, line: str, quotes: str, *, whole: bool) -> str | None:
        """A code span; quotes that nothing closes on their line are quotes."""
        closing = re.compile(rf"(?<!`){quotes}(?!`)").search(line, len(quotes))
        if not whole and (closing is None or closing.end() == len(line)):
            return None
        end = closing.end() if closing else len(quotes)
        return self._put(_literal(line[:end]), end)

    def _markers(self, line: str, run: str, *, whole: bool) -> str | None:
        after = line[len(run) :]
        # Asked first, and of the end alone: a run that grows is looked at with each piece of it.
        if not whole and _OPEN.match(after):
            return None
        own = self._own() if self._own is not None else None
        if not whole and own is not None and not _tells(after, run) and own.may_hold_one_of(run):
            return None
        out = ""
        for one in _ONE.finditer(run):
            if piece := self._decided(one, run, after, own):
                before = run[: one.start()] if out else run[: len(run) - len(run.lstrip())]
                out += before[len(before.rstrip()) :] + piece
        joins = after[:1] and not after[0].isspace() and after[0] not in _STICKS
        if not out and joins and self._line and not self._line[-1].isspace():
            out = " "
        return self._put(out, len(run))

    def _decided(self, one: re.Match[str], run: str, after: str, own: OwnNumbers | None) -> str:
        """A marker of a run as it is said: citations, nothing, or the numbers of someone else."""
        inner, before = one[1], self._line + run[: one.start()]
        if own is not None and own.may_hold(inner) and own.is_copied(inner, before, run[one.end() :] + after):
            return self._set_apart(one[0], run)
        cited, known = _numbers(inner), self._known()
        if cited is None or (_DASH.search(inner) and cited[0] not in known):
            return one[0] if _DASH.search(inner) else self._set_apart(one[0], run)
        kept = [n for n in cited if n in known]
        if not kept and _closed(before) != before and _OPEN.search(before):
            return self._set_apart(one[0], run)
        if cited == (0,) and before[-1:].isalnum():
            return _literal(one[0])
        self.removed += [n for n in cited if n not in known]
        return "".join(f"[{n}]" for n in kept)

    def _set_apart(self, marker: str, run: str) -> str:
        return _apart(marker, self._line + run[: len(run) - len(run.lstrip())])

    def _waited(self) -> str:
        waiting, self._waiting = self._waiting, []
        return "\n" + "".join(f"[{n}]" for n in waiting) if waiting else ""

    def _put(self, text: str, taken: int) -> str:
        """Move on over `taken` characters, saying `text` in their place."""
        self._held = self._held[taken:]
        return self._say(text)

    def _say(self, text: str) -> str:
        if text:
            line = (self._line + text).rpartition("\n")[2]
            self._line, self._begins_line = line[-_CONTEXT:], text.endswith("\n")
        return text


def _quotable_prose(text: str, start: int, end: int) -> str:
    """`text[start:end]`, which holds no code."""

    def apart(run: re.Match[str]) -> str:
        at = start + run.start()
        return _apart(run[0], text[max(0, at - _CONTEXT) : at])

    prose = _RUN.sub(apart, text[start:end])
    return re.sub(r"~{3,}", "~~", _OPEN_AT_LINE_END.sub("[ ", prose).replace("`", "'"))


def _apart(run: str, before: str) -> str:
    """Numbers of a file's own, after the words `before`, in a form that is not a citation."""
    space = run[: len(run) - len(run.lstrip(" \t"))]
    if _IN_CODE.search(before + space):
        return space_markers(run)
    return _ONE.sub(lambda one: f"({one[1].removeprefix('^')})" if _is_list(one[1]) else one[0], run)


def _literal(code: str) -> str:
    """Code with `[1]` as `[ 1 ]`."""
    return _PLAIN_LIST.sub(r"[ \1 ]", code)


@lru_cache(maxsize=10_000)
def _numbers(inner: str) -> tuple[int, ...] | None:
    """The numbers that a marker names; None where brackets hold something else: digits from 0 to 9, years, a number too high."""
    if any(len(number) > _MAX_DIGITS for number in re.findall(r"\d+", inner)):
        return None
    if inner.startswith("^"):
        inner = inner[1:]
        if not inner.isdecimal():
            return None
    out: list[int] = []
    for part in re.split(r"[,;]", inner):
        ends = [int(end) for end in _DASH.split(part.strip())]
        if len(ends) > 2 or (len(ends) == 2 and not 0 < ends[0] < ends[1] <= ends[0] + _MAX_RANGE):
            return None
        out += range(ends[0], ends[-1] + 1)
    return tuple(dict.fromkeys(out)) if max(out) <= MAX_SOURCES else None


def _is_list(inner: str) -> bool:
    """Whether a reader would take these numbers for references: not `[0-9]`, nor `[^0-9]`."""
    return not _DASH.search(inner) or inner.lstrip("0")[:1].isdigit()


def _tells(after: str, run: str) -> bool:
    """Whether enough has come after a run of markers to compare it with a source."""
    after = _closed(after)
    enough = len(_words(after)) > _AFTER or bool(_SENTENCE_END.search(after))
    return enough and len(after) > len(run) + 4


def _closed(text: str) -> str:
    """The text up to the first bracket that nothing closes."""
    closed = max(text.rfind("]"), text.rfind(")")) + 1
    opened = _OPENING.search(text, closed)
    return text[: opened.start()] if opened else text


def _key(inner: str) -> str:
    return re.sub(r"[ \t]", "", inner).replace("–", "-").replace(";", ",")


def _words(text: str) -> tuple[str, ...]:
    """The words of a text without the numbers in brackets."""
    return tuple(word.text for word in words(_ANY_NUMBERS.sub(" ", text)))


def _last_words(text: str) -> tuple[str, ...]:
    return _words(text[-_CONTEXT:])[-_BEFORE:]


def _next_words(text: str) -> tuple[str, ...]:
    """The words that follow in the same sentence."""
    return _words(_SENTENCE_END.split(text[:_CONTEXT], maxsplit=1)[0])[:_AFTER]


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    """How many words two sequences begin with alike."""
    return next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
