"""Asks the chat model in the profile that suits it, and gives the answer without it wherever it gives none: never worse than no model."""

from __future__ import annotations

import asyncio
import time

from citewell.agent.keyless import Keyless
from citewell.agent.model.assistant import Budget
from citewell.agent.model.known import KnownModel
from citewell.agent.turn.state import TurnState
from citewell.agent.turn.steps import AssistantStep, Step, Understanding
from citewell.agent.understand.understanding import Understood
from citewell.errors import ProviderError, SpendQuotaReached
from citewell.ports import ChatModel
from citewell.types.chat_models import ChatProfile


class ProfiledUnderstanding:
    """Reads messages with the chat model where it is asked in full, else by rules."""

    def __init__(self, model: ChatModel, known: KnownModel, asked: Understanding, rules: Understanding) -> None:
        self._model = model
        self._known = known
        self._asked = asked
        self._rules = rules

    async def read(self, turn: TurnState) -> Understood:
        """What the message wants."""
        is_full = self._known.profile(self._model) is ChatProfile.FULL
        return await (self._asked if is_full else self._rules).read(turn)


class SteadyAssistant:
    """Takes each step with the model, and the last without it where the model is away, late, empty or refused.

    One time limit counts: that of a whole answer. full, small: the assistants of the two profiles.
    """

    def __init__(
        self,
        model: ChatModel,
        full: AssistantStep,
        small: AssistantStep,
        keyless: Keyless,
        budget: Budget,
        known: KnownModel,
    ) -> None:
        self._model = model
        self._steps = {ChatProfile.FULL: full, ChatProfile.SMALL: small}
        self._keyless = keyless
        self._budget = budget
        self._known = known

    async def step(self, turn: TurnState) -> Step:
        """The model's step; the answer without it, with a notice that says why, where it takes none."""
        dialogue = turn.dialogue
        if dialogue.profile is None:
            dialogue.profile = self._known.profile(self._model)
            turn.note("profile", dialogue.profile.value)
        if dialogue.away:
            return await self._keyless.give(turn, dialogue.away)
        try:
            return await self._within_limit(turn, dialogue.profile)
        except SpendQuotaReached:
            raise
        except ProviderError as error:
            if dialogue.profile is ChatProfile.FULL and error.details.get("reason") == "context_too_long":
                return await self._smaller(turn)
            return await self._keyless.give(turn, f"{self._model.model} did not answer: {error.message}")

    async def _smaller(self, turn: TurnState) -> Step:
        """Not even one passage fits beside rules and tools: the small profile does with a third."""
        turn.restart()
        turn.dialogue.profile = ChatProfile.SMALL
        turn.note("profile", ChatProfile.SMALL.value)
        return await self.step(turn)

    async def _within_limit(self, turn: TurnState, profile: ChatProfile) -> Step:
        if profile is ChatProfile.SMALL:  # which begins with the answer by rules, as the last resort would
            await self._keyless.extract(turn)
        seconds = self._known.seconds(profile, self._budget.seconds)
        left = seconds - (time.monotonic() - turn.started)
        limit = asyncio.timeout(max(left, 0.0))
        try:
            async with limit:
                return await self._steps[profile].step(turn)
        except TimeoutError:
            if not limit.expired():
                raise
        why = f"{self._model.model} did not answer within {seconds:.0f} seconds."
        return await self._keyless.give(turn, why)
