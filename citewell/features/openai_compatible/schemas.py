"""Chat completions as OpenAI's clients send and read them (https://platform.openai.com/docs/api-reference/chat)."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import BaseModel, Field

from citewell.agent.interface import Done
from citewell.errors import InvalidInput
from citewell.features.schemas import CitationOut, Schema
from citewell.features.turns import what_helps
from citewell.types import Citation

_MARKER = re.compile(r"\[(\d+)\]")


class TextPart(Schema):
    """A part of a message's content; only texts are read."""

    type: str
    text: str = ""


class MessageIn(Schema):
    """One message of the conversation, which the client stores."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[TextPart] | None = None

    def text(self) -> str:
        """The content as one text. Raises `InvalidInput` for images and other parts."""
        if isinstance(self.content, list):
            if other := [part.type for part in self.content if part.type != "text"]:
                raise InvalidInput(f"Only text is accepted here, not {other[0]}. Add files with POST /ingest.")
            return "\n".join(part.text for part in self.content)
        return self.content or ""


class StreamOptions(Schema):
    """Options of a stream."""

    include_usage: bool = False


class CompletionIn(BaseModel):
    """A request; other fields (such as temperature) are accepted and have no effect."""

    model: str
    messages: list[MessageIn] = Field(min_length=1, max_length=1_000)
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = None
    resource_ids: list[str] | None = Field(
        default=None, max_length=10_000, description="a Citewell extension: only these files"
    )
    references: bool = Field(
        default=False, description="a Citewell extension: end the answer with a References section"
    )


class ModelOut(Schema):
    """A model name."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "citewell"


class ModelList(Schema):
    """All model names: `citewell` for everything, `citewell/NAME` for a project."""

    object: Literal["list"] = "list"
    data: list[ModelOut]


def citation_annotations(text: str, citations: tuple[Citation, ...], base: str) -> list[dict[str, Any]]:
    """One per `[n]` in the text, in the shape of URL citations, with Citewell's complete citation added."""
    known = {citation.n: citation for citation in citations}
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "start_index": match.start(),
                "end_index": match.end(),
                "title": known[int(match[1])].label,
                "url": _address(known[int(match[1])], base),
            },
            "citation": CitationOut.of(known[int(match[1])]).model_dump(mode="json"),
        }
        for match in _MARKER.finditer(text)
        if int(match[1]) in known
    ]


def completion(id: str, created: int, model: str, done: Done, base: str) -> dict[str, Any]:
    """The complete answer."""
    message = {
        "role": "assistant",
        "content": done.answer.text + what_helps(done),
        "refusal": None,
        "annotations": citation_annotations(done.answer.text, done.answer.citations, base),
    }
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    return {
        "id": id,
        "object": "chat.completion",
        "created": created,
        "model": model,
        "choices": [choice],
        "usage": usage(done),
    }


def chunk(id: str, created: int, model: str, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    """One piece of a streamed answer."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    return {"id": id, "object": "chat.completion.chunk", "created": created, "model": model, "choices": [choice]}


def usage(done: Done) -> dict[str, int]:
    """The chat model's tokens; zeros if none is configured."""
    sent, said = done.usage.input_tokens, done.usage.output_tokens
    return {"prompt_tokens": sent, "completion_tokens": said, "total_tokens": sent + said}


def _address(citation: Citation, base: str) -> str:
    page = f"#page={citation.locator.page}" if citation.locator.page is not None else ""
    return f"{base}resources/{citation.resource_id}/file{page}"
