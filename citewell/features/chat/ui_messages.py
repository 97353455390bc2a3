"""A turn as the UI message stream of Vercel's AI SDK, which `useChat` reads (https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from citewell.agent.interface import Done, Failed, PartsRead, TextDelta, TextRestarted
from citewell.features.addresses import passage_address
from citewell.features.chat.schemas import ChatOut
from citewell.features.chat.service import Turn
from citewell.features.turns import RESTART, what_helps
from citewell.types import Citation

UI_HEADERS = {"x-vercel-ai-ui-message-stream": "v1", "Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
_TEXT = "answer"


async def ui_parts(turn: Turn, base: str, whole: Callable[[Done], ChatOut]) -> AsyncGenerator[dict[str, Any]]:
    """The parts of one message: its text, a source per citation, and what `/chat` returns as `data-answer`. base: begins links."""
    yield {"type": "start", "messageId": turn.message_id, "messageMetadata": {"thread_id": turn.thread.id}}
    yield {"type": "text-start", "id": _TEXT}
    async with aclosing(turn.events) as events:
        async for event in events:
            match event:
                case TextDelta(text):
                    yield {"type": "text-delta", "id": _TEXT, "delta": text}
                case TextRestarted():  # the protocol takes nothing back
                    yield {"type": "text-delta", "id": _TEXT, "delta": RESTART}
                case PartsRead(done, total):
                    yield {"type": "data-progress", "data": {"done": done, "total": total}, "transient": True}
                case Done(answer=answer):
                    if advice := what_helps(event):
                        yield {"type": "text-delta", "id": _TEXT, "delta": advice}
                    yield {"type": "text-end", "id": _TEXT}
                    for citation in answer.citations:
                        yield _source(citation, base)
                    yield {"type": "data-answer", "data": whole(event).model_dump(mode="json")}
                    yield {"type": "finish"}
                case Failed(_, message):
                    yield {"type": "error", "errorText": message}
                case _:
                    pass


def _source(citation: Citation, base: str) -> dict[str, Any]:
    """A citation as a source: its number is the one in the text, its link opens the passage."""
    return {
        "type": "source-url",
        "sourceId": str(citation.n),
        "url": passage_address(base, citation.resource_id, citation.chunk_id),
        "title": citation.label,
        "providerMetadata": {"citewell": {**citation.to_json()}},
    }
