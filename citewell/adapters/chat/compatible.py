"""Endpoints that are compatible with OpenAI's chat completions, where they differ from them.

Gemini's gives each tool call whole, without the `index` that pieces of calls are put together by; its newer models sign their calls
and refuse a conversation in which a signature is missing (https://ai.google.dev/gemini-api/docs/openai and …/thought-signatures).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zlib import crc32

from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_openai.chat_models.base import BaseChatOpenAI

from citewell.adapters.chat.langchain import CALL_EXTRAS, SAME_CALL
from citewell.ports.metering import is_count

_EXTRA = "extra_content"
# Gemini's documented stand-in for the signature of a call that it has not made itself.
_UNSIGNED = {"google": {"thought_signature": "skip_thought_signature_validator"}}


class CompatibleChat(BaseChatOpenAI):
    """Reads calls without an index, and returns with each call what its endpoint sent along with it."""

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
    ) -> ChatGenerationChunk | None:
        if not _is_counted(chunk.get("usage")):
            chunk = chunk | {"usage": None}
        calls = _calls(chunk)
        for call in calls:
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


def _is_counted(usage: object) -> bool:
    """Whether what is said of tokens can be added up: servers on your own machine leave counts out, or send them as texts."""
    if not isinstance(usage, dict):
        return False
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens", "total_tokens")]
    details = [usage.get(name) or {} for name in ("prompt_tokens_details", "completion_tokens_details")]
    if not all(isinstance(one, dict) for one in details):
        return False
    counts += [count for one in details for count in one.values()]
    return all(count is None or is_count(count) for count in counts)


def _calls(chunk: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The pieces of tool calls in a chunk, as they stand in it."""
    choices = chunk.get("choices") or (chunk.get("chunk") or {}).get("choices") or ()
    return [call for choice in choices for call in (choice.get("delta") or {}).get("tool_calls") or ()]
