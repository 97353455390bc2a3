"""A turn of the agent as the events of a streamed response."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from citewell.agent.interface import AgentEvent, Done, Failed, Source, TextDelta, TextRestarted, UsedDocs
from citewell.features.openai_ids import MESSAGE
from citewell.features.openai_responses.schemas import (
    file_citations,
    full_text,
    message_item,
    response,
    search_call,
    text_part,
    usage,
)
from citewell.features.turns import RESTART

_CODES = {"rate_limited": "rate_limit_exceeded", "provider_rate_limited": "rate_limit_exceeded"}


@dataclass(kw_only=True)
class ResponseEvents:
    """Builds the objects of one response, streamed or whole.

    queries: of the `file_search` call; None without the tool. shows_results: whether the call has its results
    """

    id: str
    echoed: Mapping[str, Any]
    base: str
    queries: Sequence[str] | None
    shows_results: bool
    created: float = field(default_factory=time.time)
    _sources: list[Source] = field(default_factory=list[Source])
    _number: int = 0

    async def stream(self, events: AsyncGenerator[AgentEvent]) -> AsyncGenerator[dict[str, Any]]:
        """All events, in the order and with the numbers that clients expect."""
        begun = response(self.id, self.created, self.echoed, [], "in_progress")
        yield self._event("response.created", response=begun)
        yield self._event("response.in_progress", response=begun)
        if self.queries is not None:
            for event in self._searching():
                yield event
        place, written = 0 if self.queries is None else 1, ""
        is_open = False
        async with aclosing(events):
            async for event in events:
                if isinstance(event, UsedDocs):
                    self._sources += event.sources
                if isinstance(event, Failed):
                    yield self.failed(event)
                    return
                if isinstance(event, TextDelta | Done) and not is_open:
                    is_open = True
                    for one in self._opened(place):
                        yield one
                if isinstance(event, TextDelta):
                    written += event.text
                    yield self._delta(place, event.text)
                elif isinstance(event, TextRestarted) and is_open:  # the protocol takes nothing back
                    written = ""
                    yield self._delta(place, RESTART)
                elif isinstance(event, Done):
                    for one in self._ended(place, event, written):
                        yield one

    def whole(self, done: Done) -> dict[str, Any]:
        """The complete response."""
        text = full_text(done)
        part = text_part(text, file_citations(text, done.answer.citations, self.base))
        output = [message_item(self.id, part)]
        if self.queries is not None:
            output.insert(0, self._call())
        used = usage(done.usage.input_tokens, done.usage.output_tokens)
        return response(self.id, self.created, self.echoed, output, usage=used, completed_at=int(time.time()))

    def note(self, event: AgentEvent) -> None:
        """Remember what was found, for a response that is not streamed."""
        if isinstance(event, UsedDocs):
            self._sources += event.sources

    def failed(self, event: Failed) -> dict[str, Any]:
        """The end of a response that failed."""
        error = {"code": _CODES.get(event.code, "server_error"), "message": event.message}
        ended = response(self.id, self.created, self.echoed, [], "failed", error=error)
        return self._event("response.failed", response=ended)

    def _call(self) -> dict[str, Any]:
        return search_call(self.id, self.queries or (), self._sources if self.shows_results else None)

    def _event(self, type: str, **fields: Any) -> dict[str, Any]:
        self._number += 1
        return {"type": type, "sequence_number": self._number - 1, **fields}

    def _searching(self) -> list[dict[str, Any]]:
        call = {**search_call(self.id, self.queries or (), None), "status": "in_progress"}
        added = self._event("response.output_item.added", output_index=0, item=call)
        steps = [
            self._event(f"response.file_search_call.{step}", output_index=0, item_id=call["id"])
            for step in ("in_progress", "searching")
        ]
        return [added, *steps]

    def _opened(self, place: int) -> list[dict[str, Any]]:
        """The end of the search, and the beginning of the message."""
        found: list[dict[str, Any]] = []
        if self.queries is not None:
            call = self._call()
            found = [
                self._event("response.file_search_call.completed", output_index=0, item_id=call["id"]),
                self._event("response.output_item.done", output_index=0, item=call),
            ]
        item = message_item(self.id, None, "in_progress")
        return [
            *found,
            self._event("response.output_item.added", output_index=place, item=item),
            self._event("response.content_part.added", **self._at(place), part=text_part("", [])),
        ]

    def _delta(self, place: int, text: str) -> dict[str, Any]:
        return self._event("response.output_text.delta", **self._at(place), delta=text, logprobs=[])

    def _ended(self, place: int, done: Done, written: str) -> list[dict[str, Any]]:
        whole = self.whole(done)
        item = whole["output"][place]
        (part,) = item["content"]
        rest = part["text"].removeprefix(written) if part["text"].startswith(written) else ""
        return [
            *([self._delta(place, rest)] if rest else []),
            *(
                self._event(
                    "response.output_text.annotation.added", **self._at(place), annotation_index=index, annotation=note
                )
                for index, note in enumerate(part["annotations"])
            ),
            self._event("response.output_text.done", **self._at(place), text=part["text"], logprobs=[]),
            self._event("response.content_part.done", **self._at(place), part=part),
            self._event("response.output_item.done", output_index=place, item=item),
            self._event("response.completed", response=whole),
        ]

    def _at(self, place: int) -> dict[str, Any]:
        return {"item_id": MESSAGE + self.id, "output_index": place, "content_index": 0}
