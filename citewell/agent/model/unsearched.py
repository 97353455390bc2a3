"""Judges what a chat model says without having looked anything up: whether it may be shown, or the files must be searched first."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from citewell.agent.citations.check import CitationChecker
from citewell.agent.citations.claims import plain_sentences
from citewell.agent.spoken import says_no_answer

RECALLED = "Answered from this conversation: your files were not searched."


class Standing(Enum):
    """What an answer without a look-up is.

    ASSERTS: it says something that only the files can hold, so it must not be given
    ASKS:    it asks back, and says nothing else
    RECALLS: what it says, this conversation has said
    """

    ASSERTS = auto()
    ASKS = auto()
    RECALLS = auto()


class UnsearchedAnswers:
    """Holds an answer against the conversation, by the measure by which citations are held against passages."""

    def __init__(self, checker: CitationChecker) -> None:
        self._checker = checker

    async def judge(self, answer: str, message: str, thread: Sequence[str]) -> Standing:
        """What an answer to `message` is, after the messages of `thread`.

        Every sentence must be a question whose figures and quotations were mentioned, or be supported by an earlier message. The
        message that is answered supports nothing, as it would support a nod to whatever it supposes. "I don't have enough
        information" is a statement about the files.
        """
        if says_no_answer(answer):
            return Standing.ASSERTS
        sentences = plain_sentences(answer)
        asked = [sentence for sentence in sentences if sentence.endswith(_QUESTION_MARKS)]
        stated = [sentence for sentence in sentences if not sentence.endswith(_QUESTION_MARKS)]
        if not sentences or not self._checker.has_figures_of(asked, [message, *thread]):
            return Standing.ASSERTS
        if not stated:
            return Standing.ASKS
        return Standing.RECALLS if await self._checker.supports(stated, thread) else Standing.ASSERTS


_QUESTION_MARKS = ("?", "？", "؟")
