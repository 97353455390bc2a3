"""The answer that rules give to a turn which a chat model is asked: it is always there, whatever becomes of the model's."""

from __future__ import annotations

from citewell.agent.interface import AgentEvent, FiltersInferred
from citewell.agent.turn.state import Draft, Extracted, TurnState
from citewell.agent.turn.steps import AssistantStep
from citewell.agent.turn.tools import Toolbox


class Keyless:
    """Answers a turn's question without its chat model, once. step: what answers where no model is configured."""

    def __init__(self, step: AssistantStep, toolbox: Toolbox) -> None:
        self._step = step
        self._toolbox = toolbox

    async def extract(self, turn: TurnState) -> Extracted:
        """The answer, of which nothing is emitted. The turn only learns which filters its question holds."""
        if turn.extracted is not None:
            return turn.extracted
        beside = TurnState(
            request=turn.request,
            emit=_nobody,
            tally=turn.tally,
            intent=turn.intent,
            rephrased=turn.rephrased,
            read=turn.read,
            question=turn.question,
            queries=turn.queries,
        )
        with turn.timed("without_model"):
            while not isinstance(step := await self._step.step(beside), Draft):
                for call in step:
                    beside.results += (await self._toolbox.run(beside, call),)
                    beside.append("tool_calls", {"name": call.name, "arguments": call.arguments})
        turn.searches += beside.searches
        if not beside.inferred.keys() <= turn.inferred.keys():
            turn.inferred.update(beside.inferred)
            turn.emit(FiltersInferred(tuple(turn.inferred.values())))
        turn.extracted = Extracted(step, beside)
        return turn.extracted

    async def give(self, turn: TurnState, why: str) -> Draft:
        """The answer in place of the model's, of which what was streamed is withdrawn. why: what happened, for the notice."""
        found = await self.extract(turn)
        source = "This answer is quoted from your files." if found.draft.sources else ""
        why = why.strip()
        turn.notices[f"{why if why.endswith(('.', '!', '?')) else f'{why}.'} {source}".strip()] = None
        turn.note("without_model", why)
        return self.adopt(turn, found)

    def adopt(self, turn: TurnState, found: Extracted) -> Draft:
        """The answer that was extracted, as the turn's own, with what it was made from."""
        beside = found.turn
        turn.restart()
        turn.results, turn.table_plan, turn.picture_plan = beside.results, beside.table_plan, beside.picture_plan
        turn.notices.update(beside.notices)
        for key, value in beside.details.items():
            turn.details.setdefault(key, value)
        turn.say(found.draft.text)
        return found.draft


def _nobody(event: AgentEvent) -> None:
    pass
