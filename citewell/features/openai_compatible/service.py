"""Runs a chat client's conversation as a turn of the agent; the model's name sets the scope."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Literal

from citewell.agent.interface import AgentEvent, PastMessage, TurnRequest
from citewell.errors import InvalidInput, NotFound, UnknownModel
from citewell.features.turns import TurnRunner, checked_text
from citewell.storage.files.projects import ProjectRepository
from citewell.types import Project

EVERYTHING = "citewell"
_PREFIX = "citewell/"
_MAX_HISTORY = 200

Role = Literal["system", "developer", "user", "assistant", "tool", "function"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionService:
    """`citewell` uses everything the owner has, `citewell/NAME` one project."""

    turns: TurnRunner
    projects: ProjectRepository

    async def models(self, owner_id: str) -> list[tuple[str, float]]:
        """Model names with their creation times (0: always)."""
        projects: Sequence[Project] = await self.projects.all(owner_id)
        return [(EVERYTHING, 0.0), *((f"{_PREFIX}{project.name}", project.created_at) for project in projects)]

    async def turn(
        self,
        owner_id: str,
        model: str,
        messages: Sequence[tuple[Role, str]],
        resource_ids: tuple[str, ...] | None,
        *,
        references: bool,
    ) -> TurnRequest:
        """The last message as a question that follows the earlier ones; counts towards quotas. System messages set how answers are written."""
        asked = [(role, text) for role, text in messages if role in ("user", "assistant")]
        if not asked or asked[-1][0] != "user":
            raise InvalidInput("The last message must be the user's.")
        project = await self._project(owner_id, model)
        scope = await self.turns.scope(owner_id, None if project is None else [project], resource_ids)
        past = [(role, text) for role, text in asked[:-1] if text.strip()][-_MAX_HISTORY:]
        message = checked_text(asked[-1][1])
        await self.turns.admit(owner_id)
        return TurnRequest(
            owner_id=owner_id,
            message=message,
            history=tuple(PastMessage("user" if role == "user" else "assistant", text, scope) for role, text in past),
            scope=scope,
            top_k=self.turns.top_k,
            references=references,
            instructions="\n".join(text for role, text in messages if role in ("system", "developer")),
        )

    def run(self, turn: TurnRequest) -> AsyncGenerator[AgentEvent]:
        """The events of a turn. The client stores the conversation; only the cost is recorded."""
        return self.turns.run(turn)

    async def _project(self, owner_id: str, model: str) -> str | None:
        if model == EVERYTHING:
            return None
        name = model.removeprefix(_PREFIX)
        if not name or name == model:
            raise UnknownModel
        try:
            return await self.projects.resolve(owner_id, name)
        except NotFound as error:
            raise UnknownModel from error
