"""Deviations of endpoints that are compatible with OpenAI's chat completions.

Gemini sends each tool call whole, without the `index` used to assemble fragments; its newer models sign their calls and
reject conversations with a missing signature (https://ai.google.dev/gemini-api/docs/openai and …/thought-signatures).
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
