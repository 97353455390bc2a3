"""Models that think aloud: what they think, and what they say."""

from __future__ import annotations

from typing import Literal

_OPENINGS = ("<think>", "<thinking>", "<thought>", "<reasoning>")


class SpokenText:
    """Leaves out what a model thinks, where its server hands that over as the beginning of the answer.

    Open models of this kind think between tags before they answer (`<think>` of Qwen and DeepSeek R1, `<reasoning>` of others), and
    not every server takes that out. Only such a block at the very beginning is left out: what follows is the answer, whatever
    it holds. An answer that is nothing else than a thought has no text.
    """

    def __init__(self) -> None:
        self._state: Literal["begins", "thinks", "pauses", "answers"] = "begins"
        self._held = ""
        self._closing = ""

    def read(self, piece: str) -> str:
        """What is said in this piece of the answer, and in what was held back before it."""
        if self._state == "begins":
            piece = self._begin(piece)
        if self._state == "thinks":
            piece = self._think(piece)
        if self._state == "pauses":
            piece = piece.lstrip()
            self._state = "answers" if piece else "pauses"
        return piece

    def rest(self) -> str:
        """What is still held back at the end of the answer and belongs to it."""
        return self._held if self._state == "begins" else ""

    def _begin(self, piece: str) -> str:
        """Hold text back until it is known whether it opens a thought."""
        text, self._held = self._held + piece, ""
        begun = text.lstrip()
        opening = next((tag for tag in _OPENINGS if begun.startswith(tag)), None)
        if opening is not None:
            self._state, self._closing = "thinks", f"</{opening[1:]}"
            return begun[len(opening) :]
        if any(tag.startswith(begun) for tag in _OPENINGS):
            self._held = text
            return ""
        self._state = "answers"
        return text

    def _think(self, piece: str) -> str:
        """Drop text up to the closing tag, of which the end of a piece may be the beginning."""
        _, closing, said = (self._held + piece).partition(self._closing)
        self._held = "" if closing else (self._held + piece)[1 - len(self._closing) :]
        self._state = "pauses" if closing else "thinks"
        return said
