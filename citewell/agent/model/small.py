"""Answers with a small chat model: rules look up and decide whether there is an answer; the model words it, in one short call."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from citewell.agent.citations.bracketed import space_markers
from citewell.agent.citations.writer import AnswerWriter
from citewell.agent.interface import Source, TextDelta
from citewell.agent.keyless import Keyless
from citewell.agent.model import prompts
from citewell.agent.model.assistant import Budget
from citewell.agent.model.known import KnownModel
from citewell.agent.model.listening import Listener, Request, Speech
from citewell.agent.model.window import TokenCounter, best_last
from citewell.agent.offload import offload
from citewell.agent.spoken import says_no_answer
from citewell.agent.turn.specs import TOOL_NAMES
from citewell.agent.turn.state import Draft, Extracted, TurnState
from citewell.agent.turn.steps import Step
from citewell.agent.understand.question import read_question
from citewell.errors import ProviderRejected, ProviderUnavailable
from citewell.ports import ChatMessage, ChatModel
from citewell.types import Hit
from citewell.types.chat_models import ChatProfile

MAX_PASSAGES = 5
MAX_PASSAGE_TOKENS = 850
"""Tokens of passages. With the rules and the question, a prompt has 1,200 at most."""
MAX_ANSWER_TOKENS = 300
MIN_ASKED = 0.15
"""Confidence of the answer by rules below which the model is not asked: what was found is not about the question."""
_FRAME_TOKENS = 250  # rules, question and what a template puts around them
_MIN_PASSAGE_TOKENS = 100
_WHOLE_SENTENCES = re.compile(r"(?s).*[.!?。！？](?:\s*\[\d+\])*")
CUT = "The answer was cut off at its longest."


class SmallAssistant:
    """Gives computed results, lists, refusals and replies as rules make them; has the model word what passages answer."""

    def __init__(
        self, model: ChatModel, keyless: Keyless, counter: TokenCounter, budget: Budget, known: KnownModel
    ) -> None:
        self._model = model
        self._keyless = keyless
        self._counter = counter
        self._budget = budget
        self._known = known
        self._listener = Listener(model, known, TOOL_NAMES)

    async def step(self, turn: TurnState) -> Step:
        """The draft of the answer."""
        own = await self._keyless.extract(turn)
        hits = _passages(own)
        if not hits or not await self._is_asked(turn, own):
            return self._keyless.adopt(turn, own)
        sources = turn.book.add(hits)
        for _ in range(2):
            try:
                return await self._worded(turn, sources)
            except ProviderRejected as error:
                tokens = self._known.context
                if error.details.get("reason") != "context_too_long":
                    raise
                if tokens is None:
                    self._known.learn_window(_FRAME_TOKENS + MAX_ANSWER_TOKENS + MAX_PASSAGE_TOKENS // 2)
        return await self._worded(turn, sources)

    async def _is_asked(self, turn: TurnState, own: Extracted) -> bool:
        """Whether sentences of passages were weighed, and are about the question; a list by rules is complete, a model's is not."""
        confidence = own.turn.details.get("confidence")
        if turn.intent.kind != "document_query" or not isinstance(confidence, float) or own.draft.computed:
            return False
        question = await offload(len(turn.question), read_question, turn.question)
        return confidence >= MIN_ASKED and not question.wants_list

    async def _worded(self, turn: TurnState, sources: Sequence[Source]) -> Draft:
        """What the model says, of which nothing is emitted until it was checked. Raises a `ProviderError` where it says nothing."""
        written: list[TextDelta] = []
        writer = AnswerWriter(written.append, lambda: sources)
        said: list[str] = []
        messages = self._messages(turn, sources)
        turn.show_prompt("answer", messages)
        heard = await self._listener.hear(
            turn,
            Request(
                messages=messages,
                max_tokens=min(MAX_ANSWER_TOKENS, self._budget.answer_tokens or MAX_ANSWER_TOKENS),
                longest=MAX_ANSWER_TOKENS,
                temperature=self._budget.temperature,
                expected_seconds=self._expected,
            ),
            Speech(write=said.append, withdraw=said.clear, sources=lambda: sources),
        )
        text = plain_answer("".join(said))
        whole = _WHOLE_SENTENCES.match(text) if heard.is_cut else None
        writer.write(whole[0] if whole else text)
        text = writer.finish()
        if not text:
            raise ProviderUnavailable("It returned an empty answer.")
        if heard.is_cut:
            turn.notices[CUT] = None
        answered = not says_no_answer(text)
        return Draft(text, answered, tuple(sources), written=True)

    def _messages(self, turn: TurnState, sources: Sequence[Source]) -> list[ChatMessage]:
        window = self._known.context
        room = MAX_PASSAGE_TOKENS
        if window is not None:
            room = min(room, window - _FRAME_TOKENS - MAX_ANSWER_TOKENS)
        blocks = best_last(sources, self._counter, max(room, _MIN_PASSAGE_TOKENS))
        rules = prompts.small_prompt(turn.request.instructions)
        return [
            ChatMessage(role="system", content=rules),
            ChatMessage(role="user", content=prompts.small_question(space_markers(turn.question)), sources=blocks),
        ]

    @property
    def _expected(self) -> int | None:
        examination = self._known.examination
        return None if examination is None else round(examination.seconds_for(ChatProfile.SMALL))


def plain_answer(text: str) -> str:
    """The answer of a model that wrapped it in JSON; the text itself, where it did not."""
    stripped = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    if not stripped.startswith("{"):
        return text
    with suppress(ValueError, RecursionError):
        value: Any = json.loads(stripped)
        texts = [one for one in value.values() if isinstance(one, str)]
        numbers = [n for one in value.values() if isinstance(one, list) for n in one if isinstance(n, int)]
        return max(texts, key=len, default="") + "".join(f" [{n}]" for n in numbers)
    return text


def _passages(own: Extracted) -> list[Hit]:
    """The passages that the model reads, the best first: those that the answer by rules rests on, then as they were found."""
    used = [source.hit for source in own.draft.sources]
    found = [source.hit for result in own.turn.results for source in result.sources if result.table is None]
    unique = {hit.chunk.id: hit for hit in (*used, *found)}
    return list(unique.values())[:MAX_PASSAGES]
