"""Gives an earlier answer again to an equal question, while the files that it draws on are unchanged."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from importlib.metadata import version

from citewell.agent.interface import AgentEvent, Done, Source, TextDelta, TurnRequest, TurnUsage, UsedDocs
from citewell.agent.understand.recollection import read_leaning
from citewell.features.turns import scope_json
from citewell.ports import Embedder
from citewell.retrieve.periods import periods
from citewell.storage.conversations.kept_answers import KeptAnswer, KeptAnswerRepository
from citewell.storage.conversations.threads import ThreadRepository
from citewell.text.same_question import ask_the_same, form_of
from citewell.types import Answer, Chunk, ChunkType, Citation, Hit, Message, Scores
from citewell.types.conversations import AnsweredBefore

_OTHER_DAY = 400  # days: another week, month and year
# Words that count from today; `citewell.retrieve.periods` reads spans of time in two languages.
_RELATIVE = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday|now|currently|ago|next|upcoming|recent(?:ly)?|heute|morgen|gestern|jetzt|aktuell\w*|nächste\w*"
    r"|aujourd['’]hui|demain|hier|maintenant|prochaine?s?|derni(?:er|ère)s?|hoy|mañana|ayer|ahora|próxim[oa]s?|pasad[oa]s?|oggi|domani|ieri"
    r"|prossim[oaie]|hoje|amanhã|ontem|agora)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that may have been answered before. key: its owner's files in their state, the scope, and how it is answered."""

    owner_id: str
    question: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedAnswers:
    """Finds answers to equal questions (`citewell.text.same_question`). Any other is answered by the agent."""

    kept: KeptAnswerRepository
    threads: ThreadRepository
    embedder: Embedder

    async def asked(self, owner_id: str, turn: TurnRequest, model: str) -> Asked | None:
        """The question as it is looked up; None for one whose answer depends on more than the files, or shows how it came about."""
        if turn.history or turn.instructions or turn.options.debug or _depends_on_time(turn.message):
            return None
        state = await self.kept.state(turn.owner_id, turn.scope)
        if state is None:
            return None
        options = replace(turn.options, debug=False)
        parts = [
            turn.owner_id, sorted(turn.kept_to or ()), turn.kept_to is None, scope_json(turn.scope), repr(options), turn.references,
            turn.top_k, model, version("citewell"), state,
        ]  # fmt: skip
        key = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
        return Asked(owner_id, turn.message, key)

    async def find(self, asked: Asked) -> tuple[Message, AnsweredBefore] | None:
        """The newest answer to an equal question."""
        known = await self.kept.find(asked.owner_id, asked.key)
        best = next((one for one in known if form_of(one.question).key == form_of(asked.question).key), None)
        best = best or await self._nearest(asked, known)
        if best is None:
            return None
        messages = await self.threads.messages(asked.owner_id, best.thread_id)
        found = next((message for message in messages if message.id == best.message_id), None)
        if found is None:
            return None
        return found, AnsweredBefore(best.question, best.thread_id, best.message_id, best.answered_at)

    async def keep(self, asked: Asked, message_id: str, done: Done) -> None:
        """Let an answer be given again: one from files, in whose making nothing failed."""
        answer = done.answer
        if (
            answer.answered
            and answer.intent == "document_query"
            and not (done.notice or answer.remembered or answer.inferred_filters)
        ):
            await self.kept.keep(asked.owner_id, asked.key, asked.question, message_id)

    async def _nearest(self, asked: Asked, known: Sequence[KeptAnswer]) -> KeptAnswer | None:
        if not known:
            return None
        vectors = await self.embedder.embed([asked.question, *(one.question for one in known)], "query")
        near = (vectors[1:] @ vectors[0]).tolist()
        equal = (one for one, how in zip(known, near, strict=True) if ask_the_same(asked.question, one.question, how))
        return next(equal, None)


async def again(turn: TurnRequest, message: Message, before: AnsweredBefore) -> AsyncGenerator[AgentEvent]:
    """The events of an earlier answer that is given again. Nothing is spent."""
    yield TextDelta(message.content)
    if message.citations:
        yield UsedDocs(tuple(Source(one.n, _hit(turn.owner_id, one)) for one in message.citations))
    details = message.details
    picture, confidence, usage = details.get("picture"), details.get("confidence"), details.get("usage")
    yield Done(
        answer=Answer(
            text=message.content,
            citations=message.citations,
            intent="document_query",
            answered=True,
            picture=picture if isinstance(picture, Mapping) else None,
            confidence=confidence if isinstance(confidence, int | float) else None,
            answered_before=before,
        ),
        usage=TurnUsage(model=str(usage.get("model", "")) if isinstance(usage, Mapping) else ""),
    )


def _hit(owner_id: str, citation: Citation) -> Hit:
    """The quoted words as the passage that was used."""
    chunk = Chunk(
        id=citation.chunk_id,
        owner_id=owner_id,
        resource_id=citation.resource_id,
        version=citation.version,
        ordinal=0,
        type=ChunkType.TEXT,
        text=citation.quote,
        locator=citation.locator,
    )
    return Hit(
        chunk=chunk,
        filename=citation.filename,
        score=citation.score,
        scores=Scores(),
        provenance=citation.provenance,
        picture=citation.picture,
    )


def _depends_on_time(message: str) -> bool:
    """Whether a message means something else on another day, or leans on a conversation."""
    today = datetime.now(UTC).date()
    if _RELATIVE.search(message) or read_leaning(message, today) is not None:
        return True
    return _spans(message, today) != _spans(message, today + timedelta(days=_OTHER_DAY))


def _spans(message: str, today: date) -> list[tuple[object, object]]:
    return [(span.first, span.until) for span in periods(message, today)]
