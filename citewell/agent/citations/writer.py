"""Writes an answer as a model's text comes in, without what must not be rendered and without citations of nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from citewell.agent.citations.bracketed import MAX_HELD, MarkerReader, OwnNumbers
from citewell.agent.citations.markdown import neutralise, safe_end
from citewell.agent.interface import Source, TextDelta
from citewell.types.json import well_formed

_TAIL = re.compile(r"(?<!\s)\s*(?:\[\d+)?\Z")


class AnswerWriter:
    """Collects an answer's text and emits it in pieces that will not change any more."""

    def __init__(self, emit: Callable[[TextDelta], None], sources: Callable[[], Sequence[Source]]) -> None:
        self._emit = emit
        self._sources = sources
        self.forget()

    def forget(self) -> None:
        """Begin again, as if nothing had been written."""
        self._reader = MarkerReader(lambda: frozenset(s.n for s in self._sources()), self._own_numbers)
        self._own = OwnNumbers(())
        self._own_of = 0
        self._held = self._half = ""
        self._said: list[str] = []

    @property
    def text(self) -> str:
        """What was said so far."""
        return "".join(self._said)

    @property
    def removed(self) -> list[int]:
        """The numbers that were cited and name nothing."""
        return self._reader.removed

    def write(self, text: str) -> None:
        """Take the next piece; hold back what could still become a link, a tag, code or a citation."""
        text, self._half = _without_half(self._half + text)
        self._release(self._reader.read(text))

    def cite(self, n: int) -> None:
        """Put `[n]` after what was written."""
        self._release(self._reader.cite(n))

    def finish(self) -> str:
        """The whole text."""
        text, self._half = well_formed(self._half), ""
        self._release(self._reader.read(text) + self._reader.finish(), final=True)
        return self.text

    def _own_numbers(self) -> OwnNumbers:
        """Of the sources found so far; they only ever become more."""
        sources = self._sources()
        if len(sources) != self._own_of:
            self._own, self._own_of = OwnNumbers(sources), len(sources)
        return self._own

    def _release(self, text: str, *, final: bool = False) -> None:
        self._held += text
        end = len(self._held) if final else safe_end(self._held)
        if not final and (tail := _TAIL.search(self._held, 0, end)):
            end = safe_end(self._held[: tail.start()])
        end = max(end, len(self._held) - MAX_HELD)
        piece, self._held = neutralise(self._held[:end]), self._held[end:]
        # Neither begins nor ends with white space, so that places in the answer are places in the stream.
        piece = piece if self._said else piece.lstrip()
        piece = piece.rstrip() if final else piece
        if piece:
            self._said.append(piece)
            self._emit(TextDelta(piece))


def _without_half(text: str) -> tuple[str, str]:
    """`text` well formed, without the first half of a surrogate pair at its end; and that half, which the next piece may complete."""
    half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
    return well_formed(text.removesuffix(half)), half
