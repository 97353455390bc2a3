"""The Responses API as OpenAI's clients send and read it (https://platform.openai.com/docs/api-reference/responses)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, cast

from pydantic import Field

from citewell.agent.interface import Done, Source
from citewell.errors import InvalidInput, named
from citewell.features.addresses import passage_address
from citewell.features.openai_ids import FILE, MESSAGE, RESPONSE, SEARCH_CALL, attribute_filters
from citewell.features.openai_responses.service import DETAILS, AskedResponse, Role, StoredResponse
from citewell.features.schemas import CitationOut, RequestBody
from citewell.features.turns import what_helps
from citewell.types import Citation, JsonObject

RESULTS = "file_search_call.results"
_MARKER = re.compile(r"\[(\d+)\]")
_TEXTS = ("input_text", "output_text", "text")
_ROLES = ("system", "developer", "user", "assistant")
_IGNORED_ITEMS = ("file_search_call", "reasoning")
_MAX_RESULTS = 50
# Repeated in every response; what a client sends for them has no effect.
_CONSTANT: dict[str, Any] = {
    "background": False,
    "error": None,
    "incomplete_details": None,
    "max_output_tokens": None,
    "parallel_tool_calls": False,
    "reasoning": {"effort": None, "summary": None},
    "temperature": None,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "top_p": None,
    "truncation": "disabled",
}


NoEffect = Annotated[Any, Field(description="accepted, without effect")]


class _WithoutEffect(RequestBody):
    """The fields of OpenAI's requests that change nothing here. Other unknown fields are refused, as OpenAI refuses them."""

    access_programs: NoEffect = None
    background_options: NoEffect = None
    context_management: NoEffect = None
    image: NoEffect = None
    max_output_tokens: NoEffect = None
    max_tool_calls: NoEffect = None
    moderation: NoEffect = None
    parallel_tool_calls: NoEffect = None
    prompt_cache_key: NoEffect = None
    prompt_cache_options: NoEffect = None
    prompt_cache_retention: NoEffect = None
    reasoning: NoEffect = None
    safety_identifier: NoEffect = None
    service_tier: NoEffect = None
    stream_options: NoEffect = None
    temperature: NoEffect = None
    text: NoEffect = None
    tool_choice: NoEffect = None
    top_logprobs: NoEffect = None
    top_p: NoEffect = None
    truncation: NoEffect = None
    user: NoEffect = None


class ResponseIn(_WithoutEffect):
    """A request."""

    model: str = Field(default="citewell", description="`citewell/NAME` for a project; every other name for everything")
    input: str | list[dict[str, Any]]
    instructions: str | None = None
    tools: list[dict[str, Any]] = Field(default=[], max_length=10)
    include: list[str] | None = None
    stream: bool | None = False
    store: bool | None = True
    previous_response_id: str | None = None
    metadata: dict[str, str] | None = None
    background: bool | None = False
    conversation: Any = None
    prompt: Any = None

    def read(self) -> AskedResponse:
        """The request as the service takes it. Raises `InvalidInput` for what is not supported and would change the answer."""
        if self.background or self.conversation is not None or self.prompt is not None:
            raise InvalidInput(
                "`background`, `conversation` and `prompt` are not supported. Use `input` and `previous_response_id`."
            )
        messages, files = _messages(self.input)
        tool = _file_search(self.tools)
        return AskedResponse(
            model=self.model,
            messages=messages,
            instructions=self.instructions or "",
            stores=None if tool is None else tuple(tool["vector_store_ids"]),
            file_ids=tuple(files),
            filters=() if tool is None else attribute_filters(tool.get("filters")),
            top_k=None if tool is None else tool.get("max_num_results"),
            previous=self.previous_response_id,
            is_stored=self.store is not False,
            echoed=self.echoed(),
        )

    def echoed(self) -> JsonObject:
        """The fields that the response repeats."""
        return {
            "model": self.model,
            "instructions": self.instructions,
            "tools": [cast(JsonObject, tool) for tool in self.tools],
            "metadata": dict(self.metadata or {}),
            "previous_response_id": self.previous_response_id,
            "store": self.store is not False,
        }


def _file_search(tools: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The one tool there may be. Raises `InvalidInput` for another, or for wrong values."""
    if other := [tool.get("type") for tool in tools if tool.get("type") != "file_search"]:
        raise InvalidInput(f"The tool {named(str(other[0]))} is not available here. Use file_search.")
    if not tools:
        return None
    if len(tools) > 1:
        raise InvalidInput("Give one file_search tool, with all its vector stores.")
    (tool,) = tools
    stores, most = tool.get("vector_store_ids"), tool.get("max_num_results")
    if not isinstance(stores, list) or not stores or not all(isinstance(one, str) for one in cast(list[Any], stores)):
        raise InvalidInput("`tools[0].vector_store_ids` must name at least one vector store.")
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= _MAX_RESULTS):
        raise InvalidInput(f"`tools[0].max_num_results` must be from 1 to {_MAX_RESULTS}.")
    return tool


def _messages(given: str | Sequence[Mapping[str, Any]]) -> tuple[list[tuple[Role, str]], list[str]]:
    """The messages with their roles, and the files in them."""
    if isinstance(given, str):
        return [("user", given)], []
    messages: list[tuple[Role, str]] = []
    files: list[str] = []
    for item in given:
        kind = item.get("type", "message")
        if kind in _IGNORED_ITEMS:
            continue
        if kind != "message" or item.get("role") not in _ROLES:
            raise InvalidInput(f"`input` takes messages, not {named(str(kind))}.")
        messages.append((item["role"], _text(item.get("content"), files)))
    return messages, files


def _text(content: Any, files: list[str]) -> str:
    """The text of a message. Its files are appended to `files`."""
    if isinstance(content, str):
        return content
    texts: list[str] = []
    for part in cast(list[Any], content) if isinstance(content, list) else list[Any]([None]):
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind in _TEXTS and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif kind == "input_file" and isinstance(part.get("file_id"), str):
            files.append(part["file_id"])
        elif kind != "refusal":
            raise InvalidInput(
                "A message takes `input_text`, and `input_file` with a `file_id`. Upload other content with POST /v1/files."
            )
    return "\n".join(texts)


def file_citations(text: str, citations: Sequence[Citation], base: str) -> list[dict[str, Any]]:
    """One file citation per `[n]`, at the end of the mark, with Citewell's complete citation and a link to the passage added."""
    known = {citation.n: citation for citation in citations}
    return [
        {
            "type": "file_citation",
            "file_id": FILE + (cited := known[int(match[1])]).resource_id,
            "filename": cited.filename,
            "index": match.end(),
            "quote": cited.quote,
            "url": passage_address(base, cited.resource_id, cited.chunk_id),
            "citation": CitationOut.of(cited).model_dump(mode="json"),
        }
        for match in _MARKER.finditer(text)
        if int(match[1]) in known
    ]


def search_call(id: str, queries: Sequence[str], sources: Sequence[Source] | None) -> dict[str, Any]:
    """The item that says what was searched. sources: what was found, if the request includes it"""
    results = sources and [
        {
            "file_id": FILE + source.hit.chunk.resource_id,
            "filename": source.hit.filename,
            "score": round(source.hit.score, 6),
            "text": source.hit.chunk.text,
            "attributes": {
                key: value
                for key, value in source.hit.provenance.metadata.items()
                if isinstance(value, str | int | float | bool)
            },
        }
        for source in sources
    ]
    return {
        "id": SEARCH_CALL + id,
        "type": "file_search_call",
        "status": "completed",
        "queries": list(queries),
        "results": None if sources is None else results or [],
    }


def text_part(text: str, notes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The content of a message."""
    return {"type": "output_text", "text": text, "annotations": [*notes], "logprobs": []}


def message_item(id: str, part: Mapping[str, Any] | None, status: str = "completed") -> dict[str, Any]:
    """The answer's item; without its content while it is being written."""
    content = [] if part is None else [part]
    return {"id": MESSAGE + id, "type": "message", "role": "assistant", "status": status, "content": content}


def full_text(done: Done) -> str:
    """The answer's text, with advice if there is no answer."""
    return done.answer.text + what_helps(done)


def response(
    id: str,
    created: float,
    echoed: Mapping[str, Any],
    output: Sequence[Mapping[str, Any]],
    status: str = "completed",
    **fields: Any,
) -> dict[str, Any]:
    """A response object."""
    return {
        "id": RESPONSE + id,
        "object": "response",
        "created_at": int(created),
        "status": status,
        **_CONSTANT,
        **echoed,
        "output": [*output],
        "usage": None,
        **fields,
    }


def usage(sent: int, said: int) -> dict[str, Any]:
    """The chat model's tokens; zeros if none is configured."""
    return {
        "input_tokens": sent,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": said,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": sent + said,
    }


def stored_response(found: StoredResponse, base: str) -> dict[str, Any]:
    """A response as it was given, except that the results of its search are not kept."""
    answer = found.answer
    echoed = cast(dict[str, Any], answer.details.get(DETAILS) or {"model": "citewell", "tools": [], "metadata": {}})
    part = text_part(answer.content, file_citations(answer.content, answer.citations, base))
    output = [message_item(answer.id, part)]
    if echoed["tools"]:
        output.insert(0, search_call(answer.id, [found.question.content], None))
    spent = cast(dict[str, Any], answer.details.get("usage") or {})
    used = usage(spent.get("input_tokens", 0), spent.get("output_tokens", 0))
    return response(answer.id, answer.created_at, echoed, output, usage=used, completed_at=int(answer.created_at))


def input_items(found: StoredResponse) -> dict[str, Any]:
    """The question of a response, as a list."""
    asked = found.question
    item = {
        "id": MESSAGE + asked.id,
        "type": "message",
        "role": "user",
        "status": "completed",
        "content": [{"type": "input_text", "text": asked.content}],
    }
    return {"object": "list", "data": [item], "first_id": item["id"], "last_id": item["id"], "has_more": False}
