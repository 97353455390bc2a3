"""Who decides in a turn what to look up and what to answer: the rule-based assistant; one with a chat model has the same shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from citewell.agent import smalltalk
from citewell.agent.context import TurnContext
from citewell.agent.extractive import ExtractiveAnswerer
from citewell.agent.intent import Intent
from citewell.agent.tools import ToolResult, search_call
from citewell.agent.turns import Source, TextDelta
from citewell.ports import ToolCall


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer before its citations are checked; its text has been emitted already.

    sources are what `[n]` may name; nearest is offered where there is no answer.
    """

    text: str
    answered: bool
    sources: tuple[Source, ...] = ()
    nearest: tuple[Source, ...] = ()


Step: TypeAlias = tuple[ToolCall, ...] | Draft


class AssistantStep(Protocol):
    """Decides the next step of a turn."""

    async def step(self, context: TurnContext, intent: Intent, question: str, results: Sequence[ToolResult]) -> Step:
        """Tool calls to run (their results come back in `results`), or the draft that ends the turn."""
        ...


class RuleAssistant:
    """Works without a chat model: one search, then the sentences that answer."""

    def __init__(self, answerer: ExtractiveAnswerer) -> None:
        self._answerer = answerer

    async def step(self, context: TurnContext, intent: Intent, question: str, results: Sequence[ToolResult]) -> Step:
        """First the search, then the answer from what it found."""
        if intent.kind == "general_conversation":
            return _say(context, Draft(smalltalk.reply(intent), answered=True))
        if not results:
            return (search_call(question),)
        hits = [source.hit for source in results[-1].sources]
        with context.timed("extract"):
            extract = await self._answerer.answer(question, hits)
        context.meter.embedded_texts += extract.embedded
        context.note("confidence", round(extract.confidence, 4))
        for part in extract.parts:
            context.emit(TextDelta(part))
        if extract.answered:
            return Draft(extract.text.rstrip(), True, extract.sources)
        return Draft(extract.text, False, nearest=extract.sources)


def _say(context: TurnContext, draft: Draft) -> Draft:
    context.emit(TextDelta(draft.text))
    return draft
