"""Deviations of endpoints that are compatible with OpenAI's chat completions.

Gemini sends each tool call whole, without the `index` used to assemble fragments; its newer models sign their calls and
reject conversations with a missing signature (https://ai.google.dev/gemini-api/docs/openai and …/thought-signatures).
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping
from typing import Any
from zlib import crc32

import httpx2
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_openai.chat_models.base import BaseChatOpenAI

from citewell.adapters.bounded import BOUNDED
from citewell.adapters.chat.langchain import CALL_EXTRAS, SAME_CALL
from citewell.ports.metering import is_count

_EXTRA = "extra_content"
_ASKS_FOR_STREAM = re.compile(rb'"stream"\s*:\s*true')
# Gemini's documented placeholder signature for calls by other models.
_UNSIGNED = {"google": {"thought_signature": "skip_thought_signature_validator"}}


class CompatibleChat(BaseChatOpenAI):
    """Accepts tool calls without an index, and returns each call's extra fields to its endpoint."""

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
    ) -> ChatGenerationChunk | None:
        if not _is_counted(chunk.get("usage")):
            chunk = chunk | {"usage": None}
        calls = _calls(chunk)
        for call in calls:
            function = call.get("function")
            if isinstance(function, dict) and isinstance(function.get("arguments"), dict | list):
                function["arguments"] = json.dumps(function["arguments"])
            if call.get("index") is None:
                call["index"] = crc32(call["id"].encode()) if call.get("id") else SAME_CALL
        converted = super()._convert_chunk_to_generation_chunk(chunk, default_chunk_class, base_generation_info)
        extras = {call["index"]: call[_EXTRA] for call in calls if call.get(_EXTRA)}
        if converted is not None and extras:
            converted.message.additional_kwargs[CALL_EXTRAS] = extras
        return converted

    def _get_request_payload(self, input_: Any, *, stop: list[str] | None = None, **kwargs: Any) -> dict[str, Any]:
        payload: dict[str, Any] = super()._get_request_payload(input_, stop=stop, **kwargs)
        extras: dict[str, Any] = {}
        for message in self._convert_input(input_).to_messages():
            if isinstance(message, AIMessage):
                extras |= message.additional_kwargs.get(CALL_EXTRAS, {})
        for call in (call for message in payload["messages"] for call in message.get("tool_calls") or ()):
            extra = extras.get(call["id"], _UNSIGNED if "gemini" in self.model_name else None)
            if extra is not None:
                call[_EXTRA] = extra
        return payload


class EventsOfJson(httpx2.AsyncByteStream):
    """A whole answer as the stream of events that was asked for: some servers do not stream, or not with tools."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        body = b"".join([part async for part in self._stream])
        yield _as_events(body)

    async def aclose(self) -> None:
        """Close the connection or return it to the pool."""
        await self._stream.aclose()


async def _events(response: httpx2.Response) -> None:
    """Turns a JSON response to a request for a stream into events."""
    kind = response.headers.get("content-type", "")
    is_plain = kind.startswith("application/json") and "content-encoding" not in response.headers
    is_answer = response.is_success and isinstance(response.stream, httpx2.AsyncByteStream)
    if is_plain and is_answer and _ASKS_FOR_STREAM.search(response.request.content):
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = EventsOfJson(response.stream)


BOUNDED_EVENTS = {"response": [*BOUNDED["response"], _events]}
"""`event_hooks` for endpoints that may answer whole where a stream was asked for."""


def _as_events(body: bytes) -> bytes:
    """The events of a chat completion; the body unchanged, where it is no completion."""
    try:
        answer: Any = json.loads(body)
        choices = [_streamed(choice, at) for at, choice in enumerate(answer["choices"])]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return body
    first = {**answer, "object": "chat.completion.chunk", "choices": choices, "usage": None}
    last = {**first, "choices": [], "usage": answer.get("usage")}
    return b"".join(b"data: " + json.dumps(one).encode() + b"\n\n" for one in (first, last)) + b"data: [DONE]\n\n"


def _streamed(choice: Mapping[str, Any], at: int) -> dict[str, Any]:
    message = choice["message"]
    calls = [{**call, "index": n} for n, call in enumerate(message.get("tool_calls") or ())]
    delta = {**message, "tool_calls": calls or None}
    return {"index": choice.get("index", at), "delta": delta, "finish_reason": choice.get("finish_reason") or "stop"}


def _is_counted(usage: object) -> bool:
    """Whether all token counts are numbers: local servers omit them or send them as strings."""
    if not isinstance(usage, dict):
        return False
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens", "total_tokens")]
    details = [usage.get(name) or {} for name in ("prompt_tokens_details", "completion_tokens_details")]
    if not all(isinstance(one, dict) for one in details):
        return False
    counts += [count for one in details for count in one.values()]
    return all(count is None or is_count(count) for count in counts)


def _calls(chunk: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The raw tool-call fragments in a chunk."""
    choices = chunk.get("choices") or (chunk.get("chunk") or {}).get("choices") or ()
    return [call for choice in choices for call in (choice.get("delta") or {}).get("tool_calls") or ()]
