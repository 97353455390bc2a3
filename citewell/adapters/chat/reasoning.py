"""Removes the reasoning from the answers of models that think aloud."""

from __future__ import annotations

import re

_TAGS = r"think|thinking|thought|reasoning|seed:think"
# gpt-oss writes each message to a channel; only the one called "final" is for the reader.
_FINAL = "<|channel|>final<|message|>"
_MARK = re.compile(
    rf"(?<!`)(?:<(?P<tag>{_TAGS})>|(?P<bracket>\[THINK\])|(?P<channel><\|channel\|>(?!final\b)[^<]{{0,40}}<\|message\|>)"
    rf"|(?P<stray></(?:{_TAGS})>|\[/THINK\]|{re.escape(_FINAL)})|(?P<token><\|(?!channel\|)[\w:]{{1,30}}\|>))"
)
_PARTIAL = re.compile(r"`?(?:<\|channel\|>[^<]{0,40}(?:<\|?\w{0,10}\|?)?|<[/|]?[\w:]{0,30}\|?|\[/?[A-Z]{0,5})\Z|`\Z")


class SpokenText:
    """Drops a model's reasoning from its streamed answer.

    Open reasoning models think between tags before they answer (`<think>` in Qwen and DeepSeek R1, `[THINK]` in Magistral, a channel in
    gpt-oss), and not every server removes that. Where the template has opened the tag already, only its end is in the answer: what came
    before was no answer then, and `retracted` says so. An answer that consists of reasoning only has no text.
    """

    def __init__(self) -> None:
        self._held = ""
        self._lead = ""
        self._closing = ""
        self._answers = False
        self._strips = False
        self.retracted = False

    def read(self, piece: str) -> str:
        """The answer text in this piece, with text held back from earlier pieces."""
        self._held += piece
        self.retracted = False
        out = ""
        while True:
            if self._closing:
                thought, closing, rest = self._held.partition(self._closing)
                self._held = rest if closing else thought[1 - len(self._closing) :]
                if not closing:
                    return out
                self._closing, self._strips = "", not self._answers
            mark = _MARK.search(self._held)
            if mark is None:
                partial = _PARTIAL.search(self._held)
                end = partial.start() if partial is not None else len(self._held)
                out += self._give(self._held[:end])
                self._held = self._held[end:]
                return out
            before, self._held = self._held[: mark.start()], self._held[mark.end() :]
            if mark["stray"]:
                self.retracted = self.retracted or self._answers or bool((out + before).strip())
                out, self._lead, self._answers, self._strips = "", "", False, True
                continue
            out += self._give(before)
            if not mark["token"]:
                self._lead = ""
                self._closing = f"</{mark['tag']}>" if mark["tag"] else "[/THINK]" if mark["bracket"] else _FINAL

    def rest(self) -> str:
        """The answer text still held back at the end."""
        return "" if self._closing else self._give(self._held) if self._held else self._lead

    def _give(self, text: str) -> str:
        """The text, without the white space before an answer that follows a thought; white space waits for what comes after it."""
        if self._answers:
            return text
        text = self._lead + text
        self._lead = ""
        if not text.strip():
            self._lead = "" if self._strips else text
            return ""
        self._answers = True
        return text.lstrip() if self._strips else text
