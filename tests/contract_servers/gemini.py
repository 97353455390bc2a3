"""Gemini's chat completions at its OpenAI-compatible endpoint: where they differ from OpenAI's.

Its own errors (a list with one error in Google's form, status 400 for a wrong key), tool calls that come whole and without an
index, and signatures that must come back with the calls of the turn under way.
"""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.contract_servers.openai import OpenAIServer, order
from tests.contract_servers.script import Reply

SPECIFICATION = "Gemini API v1beta, OpenAI compatibility and thought signatures, as documented in June 2026"
KEY = "gemini-key-test"
MODEL = "gemini-test"
SKIPPED = "skip_thought_signature_validator"
_CONTEXT_CHARACTERS = 60_000
_FIELDS = frozenset(
    {
        "messages", "model", "stream", "stream_options", "tools", "tool_choice", "n", "stop", "max_completion_tokens", "max_tokens",
        "temperature", "top_p", "seed", "presence_penalty", "frequency_penalty", "response_format", "logprobs", "top_logprobs",
        "parallel_tool_calls", "reasoning_effort", "extra_body", "user",
    }
)  # fmt: skip
_STATES = {
    400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL",
    503: "UNAVAILABLE",
}  # fmt: skip


class GeminiServer(OpenAIServer):
    """As `OpenAIServer`, without embeddings."""

    base = "/v1beta/openai"
    too_long = "The input token count (1300000) exceeds the maximum number of tokens allowed (1048576)."

    def refusal(self, request: Request, body: dict[str, Any]) -> Response | None:
        """As Google's servers."""
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return self.failure(401, "")
        unknown = sorted(set(body) - _FIELDS)
        if unknown:
            return _error(400, f'Invalid JSON payload received. Unknown name "{unknown[0]}": Cannot find field.')
        if body["model"] != MODEL:
            name = body["model"]
            return _error(
                404, f"models/{name} is not found for API version v1main, or is not supported for generateContent."
            )
        if len(json.dumps(body["messages"])) > _CONTEXT_CHARACTERS:
            return self.failure(400, self.too_long)
        for problem in [*order(body["messages"]), *_unsigned(body["messages"])]:
            return _error(400, problem)
        return None

    def failure(self, status: int, message: str, retry_after: str | None = None) -> Response:
        """The time to wait is in the message and the details, in no header."""
        if status == 401:
            reason = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
            return _error(400, "API key not valid. Please pass a valid API key.", reason)
        if status != 429:
            return _error(status, message)
        said = "You exceeded your current quota, please check your plan and billing details."
        if retry_after is None:
            return _error(429, "Resource has been exhausted (e.g. check quota).")
        wait = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{retry_after}s"}
        return _error(429, f"{said}\nPlease retry in {retry_after}s.", wait)

    def chunks(self, body: dict[str, Any], reply: Reply) -> list[dict[str, Any]]:
        """Calls in one event each, and a stop reason that says nothing of them."""
        calls: list[dict[str, Any]] = [
            {
                "id": f"function-call-{len(body['messages'])}-{n}",
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments),
                },
            }
            for n, call in enumerate(reply.calls)
        ]
        if calls:
            # The first call of an answer is signed, those made along with it are not.
            calls[0]["extra_content"] = {"google": {"thought_signature": _signature(calls[0]["id"])}}
        events = [event for event in super().chunks(body, reply) if not _calls_in(event)]
        at = next((i for i, event in enumerate(events) if _finish(event)), len(events))
        if at < len(events) and reply.calls:
            events[at]["choices"][0]["finish_reason"] = "stop"
        template = {key: events[0][key] for key in ("id", "object", "created", "model")}
        told = [
            {**template, "choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": [call]}}]}
            for call in calls
        ]
        return [*events[:at], *told, *events[at:]]


def _unsigned(messages: list[dict[str, Any]]) -> list[str]:
    """Since the last question, the first call of every answer carries its own signature, or the one that skips the check."""
    last = max((i for i, message in enumerate(messages) if message["role"] == "user"), default=0)
    for message in messages[last:]:
        for call in (message.get("tool_calls") or [])[:1]:
            signature = call.get("extra_content", {}).get("google", {}).get("thought_signature")
            if signature not in (_signature(call["id"]), SKIPPED):
                name = call["function"]["name"]
                return [f"Function call is missing a thought_signature in functionCall parts. Function call `{name}`."]
    return []


def _signature(call_id: str) -> str:
    return f"signed-{call_id}"


def _calls_in(event: dict[str, Any]) -> bool:
    return any(choice["delta"].get("tool_calls") for choice in event["choices"])


def _finish(event: dict[str, Any]) -> bool:
    return any(choice["finish_reason"] for choice in event["choices"])


def _error(status: int, message: str, *details: dict[str, Any]) -> Response:
    error: dict[str, Any] = {"code": status, "message": message, "status": _STATES.get(status, "UNKNOWN")}
    if details:
        error["details"] = list(details)
    return JSONResponse([{"error": error}], status_code=status)
