"""Chat completions as OpenAI's clients send and read them (https://platform.openai.com/docs/api-reference/chat)."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import BaseModel, Field

from citewell.agent.interface import Done
from citewell.errors import InvalidInput
from citewell.features.schemas import CitationOut, Schema
from citewell.types import Citation

_MARKER = re.compile(r"\[(\d+)\]")


class OpenAIErrorBody(Schema):
    """What went wrong: `code` is ours, `type` one of OpenAI's; `param` names the field that is at fault, where it is one."""

    message: str
    type: str
    param: str | None
    code: str


class OpenAIErrorResponse(Schema):
    """Every error of the addresses for OpenAI's clients has this shape."""

    error: OpenAIErrorBody


class TextPart(Schema):
    """A part of a message's content; only texts are read."""

    type: str
    text: str = ""


class MessageIn(Schema):
    """One message of the conversation, which the client keeps."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[TextPart] | None = None

    def text(self) -> str:
        """The content as one text; raises `InvalidInput` for images and the like."""
        if isinstance(self.content, list):
            if other := [part.type for part in self.content if part.type != "text"]:
                raise InvalidInput(f"Only text can be read here, not {other[0]}. Add files with POST /ingest.")
            return "\n".join(part.text for part in self.content)
        return self.content or ""


class StreamOptions(Schema):
    """What a stream carries besides."""

    include_usage: bool = False


class CompletionIn(BaseModel):
    """A request; what is not named here (temperature and the like) is accepted and has no effect."""

    model: str
    messages: list[MessageIn] = Field(min_length=1, max_length=1_000)
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = None
    resource_ids: list[str] | None = Field(default=None, max_length=10_000, description="ours: only these files")
    references: bool = Field(default=False, description="ours: end the answer with a References section")


class ModelOut(Schema):
    """A name to ask under."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "citewell"


class ModelList(Schema):
    """All names to ask under: `citewell` for everything, `citewell/NAME` for a project."""

    object: Literal["list"] = "list"
    data: list[ModelOut]


def citation_annotations(text: str, citations: tuple[Citation, ...], base: str) -> list[dict[str, Any]]:
    """One per `[n]` in the text, in the shape of URL citations, with Citewell's whole citation beside it."""
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


def what_helps(done: Done) -> str:
    """What would help where there is no answer, to go behind its text: these clients show nothing else."""
    why = done.answer.no_answer
    return f" {why.hint}" if why is not None and why.hint else ""


def completion(id: str, created: int, model: str, done: Done, base: str) -> dict[str, Any]:
    """The answer sent whole."""
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
    """A piece of a streamed answer."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    return {"id": id, "object": "chat.completion.chunk", "created": created, "model": model, "choices": [choice]}


def usage(done: Done) -> dict[str, int]:
    """Tokens of the chat model behind; zeros where none is configured."""
    sent, said = done.usage.input_tokens, done.usage.output_tokens
    return {"prompt_tokens": sent, "completion_tokens": said, "total_tokens": sent + said}


def _address(citation: Citation, base: str) -> str:
    page = f"#page={citation.locator.page}" if citation.locator.page is not None else ""
    return f"{base}resources/{citation.resource_id}/file{page}"
