"""What a chat model is told of the thread before: the newest messages whole, a summary of the older ones."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from citewell.agent.citations.bracketed import space_markers
from citewell.agent.citations.claims import strip_markers
from citewell.agent.interface import PastMessage, ThreadSummary
from citewell.agent.model import prompts
from citewell.agent.model.window import TokenCounter, alternating
from citewell.agent.turn.state import TurnState
from citewell.errors import ProviderError
from citewell.ports import ChatMessage, ChatModel
from citewell.types import Scope

_SUMMARY_TOKENS = 300
_LISTED = 12
_MAX_WORD_LENGTH = 128  # characters
_LISTED_CHARACTERS = 160


class ThreadHistory:
    """Fits a thread into a budget of tokens.

    What overflows is summarised by the chat model, once for several turns: an overflowing thread is cut to half of the budget.
    What was asked and answered under another scope than the current one is marked as such, so that it is understood and not repeated
    as an answer; a summary that rests on it is left out. Where there is no summary, the older questions are listed.
    """

    def __init__(self, model: ChatModel, counter: TokenCounter) -> None:
        self._model = model
        self._counter = counter

    async def recall(self, turn: TurnState, budget: int) -> list[ChatMessage]:
        """The thread as messages that every vendor accepts; notes a new summary in the turn."""
        request = turn.request
        summary = turn.dialogue.summary or request.summary
        if summary is not None and not summary.scope.is_same(request.scope):
            summary = None
        rest = request.history[summary.covers :] if summary else request.history
        kept = await asyncio.to_thread(self._newest, rest, request.scope, budget)
        if kept < len(rest) and turn.dialogue.summary is None:
            kept = await asyncio.to_thread(self._newest, rest, request.scope, budget // 2)
            cut = len(rest) - kept
            summary = await self._summarise(turn, summary, rest[:cut]) or summary
        return _messages(summary, request.history, len(request.history) - kept, request.scope)

    async def in_scope(self, turn: TurnState, budget: int) -> list[ChatMessage]:
        """The same without the answers of another scope: what may be repeated."""
        apart = {
            _message(past, turn.request.scope).content for past in turn.request.history if past.role == "assistant"
        }
        own = {_message(past, past.scope).content for past in turn.request.history if _usable(past, turn.request.scope)}
        return [message for message in await self.recall(turn, budget) if message.content not in apart - own]

    def _newest(self, history: Sequence[PastMessage], scope: Scope, budget: int) -> int:
        """How many of the last messages fit."""
        left, kept = budget, 0
        for past in reversed(history):
            content = _message(past, scope).content
            # No vocabulary has words so long; what is longer is not counted, as counting takes as long as the text.
            if len(content) > budget * _MAX_WORD_LENGTH or (tokens := self._counter.count([content])[0]) > left:
                break
            left -= tokens
            kept += 1
        return kept

    async def _summarise(
        self, turn: TurnState, before: ThreadSummary | None, messages: Sequence[PastMessage]
    ) -> ThreadSummary | None:
        """A summary of all that is cut off; None where the model fails, for an answer matters more."""
        scope = turn.request.scope
        lines = [f"Summary so far: {before.text}"] if before else []
        lines += [f"{past.role}: {strip_markers(past.content)}" for past in messages if _usable(past, scope)]
        asked = [
            ChatMessage(role="system", content=prompts.SUMMARISE),
            ChatMessage(role="user", content="\n".join(lines)),
        ]
        text = ""
        turn.show_prompt("summary", asked)
        try:
            with turn.timed("summarise"):
                async for delta in self._model.stream(asked, max_tokens=_SUMMARY_TOKENS):
                    text += delta.text
                    if delta.usage is not None:
                        turn.dialogue.tokens += delta.usage.input_tokens + delta.usage.output_tokens
        except ProviderError as error:
            turn.note("summary_failed", error.message)
            return None
        if not text.strip():
            return None
        covers = (before.covers if before else 0) + len(messages)
        turn.dialogue.summary = ThreadSummary(text.strip(), covers, scope)
        return turn.dialogue.summary


def _messages(
    summary: ThreadSummary | None, history: Sequence[PastMessage], first: int, scope: Scope
) -> list[ChatMessage]:
    """The summary (else a list of the questions that are cut off), then the messages from `first` on."""
    messages: list[ChatMessage] = []
    if summary is not None:
        messages.append(ChatMessage(role="user", content=prompts.summary_prompt(summary.text)))
    start = summary.covers if summary else 0
    listed = [past.content[:_LISTED_CHARACTERS] for past in history[start:first] if past.role == "user"][-_LISTED:]
    if listed:
        messages.append(ChatMessage(role="user", content=prompts.earlier_prompt(listed)))
    return alternating([*messages, *(_message(past, scope) for past in history[max(first, start) :])])


def _usable(past: PastMessage, scope: Scope) -> bool:
    return past.role == "user" or past.scope.is_same(scope)


def _message(past: PastMessage, scope: Scope) -> ChatMessage:
    """Numbers of an earlier answer mean other passages now, so they are taken out."""
    content = space_markers(past.content) if past.role == "user" else strip_markers(past.content)
    if not past.scope.is_same(scope):
        content = f"{prompts.ASKED_ELSEWHERE if past.role == 'user' else prompts.ANSWERED_ELSEWHERE} {content}"
    return ChatMessage(role=past.role, content=content or "…")
