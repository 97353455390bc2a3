"""Hands a model's text on as it comes, without what must not be rendered and without citations of nothing."""

from __future__ import annotations

import re
from collections.abc import Callable

from citewell.agent.claims import keep_known
from citewell.agent.markdown import neutralise, safe_end
from citewell.agent.turns import TextDelta

_OPEN_MARKER = re.compile(r"\s*\[[\d\s,;]*$")


class Speaker:
    """Collects an answer's text and emits it in pieces that will not change any more."""

    def __init__(self, emit: Callable[[TextDelta], None], known: Callable[[], frozenset[int]]) -> None:
        self._emit = emit
        self._known = known
        self._held = ""
        self.text = ""
        self.removed: list[int] = []

    def say(self, text: str) -> None:
        """Take the next piece; hold back what could still become a link, a tag or a citation."""
        self._held += text
        end = safe_end(self._held)
        marker = _OPEN_MARKER.search(self._held[:end])
        if marker:
            end = marker.start()
        self._release(end)

    def cite(self, n: int) -> None:
        """Put `[n]` behind what was said."""
        self._release(len(self._held))
        if not self.text.endswith(f"[{n}]"):
            trailing = len(self.text) - len(self.text.rstrip())
            self._out(f"[{n}]" if self.text.endswith("]") or trailing else f" [{n}]")

    def finish(self) -> str:
        """The whole text."""
        self._release(len(self._held))
        return self.text

    def _release(self, end: int) -> None:
        piece, self._held = self._held[:end], self._held[end:]
        if piece:
            text, removed = keep_known(neutralise(piece), self._known())
            self.removed += removed
            self._out(text)

    def _out(self, text: str) -> None:
        if text:
            self.text += text
            self._emit(TextDelta(text))
