"""Removes the reasoning from the answers of models that think aloud."""

from __future__ import annotations

from typing import Literal

_OPENINGS = ("<think>", "<thinking>", "<thought>", "<reasoning>")


class SpokenText:
    """Drops a model's reasoning from the start of its streamed answer.

    Open reasoning models think between tags before they answer (`<think>` in Qwen and DeepSeek R1, `<reasoning>` in
    others), and not every server removes that. Only a block at the very beginning is dropped; everything after it is
    the answer. An answer that consists of reasoning only has no text.
    """

    def __init__(self) -> None:
        self._state: Literal["begins", "thinks", "pauses", "answers"] = "begins"
        self._held = ""
        self._closing = ""

    def read(self, piece: str) -> str:
        """The answer text in this piece, with text held back from earlier pieces."""
        if self._state == "begins":
            piece = self._begin(piece)
        if self._state == "thinks":
            piece = self._think(piece)
        if self._state == "pauses":
            piece = piece.lstrip()
            self._state = "answers" if piece else "pauses"
        return piece

    def rest(self) -> str:
        """The answer text still held back at the end."""
        return self._held if self._state == "begins" else ""

    def _begin(self, piece: str) -> str:
        """Hold back text until it is clear whether it opens a reasoning block."""
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
        """Drop text up to the closing tag, which may be split across pieces."""
        _, closing, said = (self._held + piece).partition(self._closing)
        self._held = "" if closing else (self._held + piece)[1 - len(self._closing) :]
        self._state = "pauses" if closing else "thinks"
        return said
