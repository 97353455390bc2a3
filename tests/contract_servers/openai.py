"""OpenAI's chat completions (streamed and not, tools, structured output) and embeddings, as its published contract has them."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import struct
import threading
from collections.abc import AsyncIterator
from typing import Any

from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
)
from openai.types.embedding_create_params import EmbeddingCreateParams
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.contract_servers.faults import Faults, Trouble, answer
from tests.contract_servers.script import Queue, Reply, Script
from tests.contract_servers.sdk_types import problems
from tests.contract_servers.vectors import tokens_of, vector

SPECIFICATION = "OpenAI API, OpenAPI document of 2026-08-21"
KEY = "sk-test"
MODELS = ("gpt-test", "o3-test")
CONTEXT_CHARACTERS = 60_000
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072}


class ServerCutError(Exception):
    """Ends a response in the middle."""


class OpenAIServer:
    """An ASGI app in `app`; keeps every request body in `requests`, and sets `client_left` when a client goes away.

    A vendor that is compatible with it overrides where it differs.
    """

    base = "/v1"
    too_long = "This model's maximum context length is exceeded."

    def __init__(self, script: Script | None = None) -> None:
        self.script: Script = script or Queue()
        self.requests: list[dict[str, Any]] = []
        self.client_left = threading.Event()
        self.trouble: Trouble = Faults()
        self.embedded: list[str] = []
        self.forbidden: set[str] = set()
        self.app = Starlette(
            routes=[
                Route(f"{self.base}/chat/completions", self.chat, methods=["POST"]),
                Route(f"{self.base}/embeddings", self.embeddings, methods=["POST"]),
            ]
        )

    async def chat(self, request: Request) -> Response:
        """POST /v1/chat/completions."""
        body = json.loads(await request.body())
        self.requests.append(body)
        refused = self.refusal(request, body)
        if refused:
            return refused
        reply = self.script(body).within(body.get("max_completion_tokens") or body.get("max_tokens"))
        if reply.body is not None:
            return Response(reply.body, media_type="application/json")
        if reply.too_long:
            return self.failure(400, self.too_long)
        if reply.status is not None:
            return self.failure(reply.status, reply.message, reply.retry_after)
        if body.get("stream"):
            return StreamingResponse(self._events(body, reply), media_type="text/event-stream")
        return JSONResponse(_completion(body, reply))

    def refusal(self, request: Request, body: dict[str, Any]) -> Response | None:
        """What is answered to a faulty request; None for a sound one."""
        return _unauthorized(request) or _chat_error(body)

    def failure(self, status: int, message: str, retry_after: str | None = None) -> Response:
        """An error of the script, in the vendor's shape."""
        headers = {"retry-after": retry_after} if retry_after else {}
        return _error(status, message, "scripted_error", headers=headers)

    def chunks(self, body: dict[str, Any], reply: Reply) -> list[dict[str, Any]]:
        """The events of a streamed answer."""
        return _chunks(body, reply)

    async def embeddings(self, request: Request) -> Response:
        """POST /v1/embeddings: unit vectors made of the text's hash."""
        body = json.loads(await request.body())
        self.requests.append(body)
        wrong = problems(body, EmbeddingCreateParams)
        texts = body.get("input")
        texts = [texts] if isinstance(texts, str) else texts
        if refused := _unauthorized(request) or await answer(self.trouble(), _shape):
            return refused
        if wrong or not texts or any(not text for text in texts) or len(texts) > 2048:
            return _error(400, wrong[0] if wrong else "'$.input' is invalid.", "invalid_request_error")
        if body["model"] not in _DIMENSIONS:
            return _error(
                404, f"The model `{body['model']}` does not exist", "invalid_request_error", code="model_not_found"
            )
        if any(text in self.forbidden for text in texts):
            return _error(400, "Input contains a text that cannot be processed.", "invalid_request_error")
        if sum(tokens_of(str(text)) for text in texts) > 300_000:
            return _error(400, "Requested too many tokens: at most 300000 per request.", "max_tokens_per_request")
        self.embedded += texts
        size = body.get("dimensions", _DIMENSIONS[body["model"]])
        data = [
            {
                "object": "embedding",
                "index": i,
                "embedding": _vector(str(text), size, body.get("encoding_format", "float")),
            }
            for i, text in enumerate(texts)
        ]
        tokens = sum(tokens_of(str(text)) for text in texts)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return JSONResponse({"object": "list", "data": data, "model": body["model"], "usage": usage})

    async def _events(self, body: dict[str, Any], reply: Reply) -> AsyncIterator[str]:
        sent = 0
        try:
            for event in self.chunks(body, reply):
                if reply.drop_after is not None and sent >= reply.drop_after:
                    raise ServerCutError
                if reply.error_after is not None and sent >= reply.error_after:
                    yield f"data: {json.dumps({'error': {'message': 'scripted', 'type': reply.error_type, 'code': None}})}\n\n"
                    return
                if reply.delay:
                    await asyncio.sleep(reply.delay)
                yield f"data: {json.dumps(event)}\n\n"
                sent += 1
            yield "data: [DONE]\n\n"
        except (asyncio.CancelledError, GeneratorExit):
            self.client_left.set()
            raise


def _unauthorized(request: Request) -> Response | None:
    if request.headers.get("authorization") != f"Bearer {KEY}":
        return _error(401, "Incorrect API key provided.", "invalid_request_error", code="invalid_api_key")
    return None


def _chat_error(body: dict[str, Any]) -> Response | None:
    """What OpenAI answers a faulty request with; None for a sound one."""
    kind = CompletionCreateParamsStreaming if body.get("stream") else CompletionCreateParamsNonStreaming
    for problem in [*problems(body, kind), *_rules(body)]:
        return _error(400, problem, "invalid_request_error")
    if body["model"] not in MODELS:
        message = f"The model `{body['model']}` does not exist or you do not have access to it."
        return _error(404, message, "invalid_request_error", code="model_not_found")
    if len(json.dumps(body["messages"])) > CONTEXT_CHARACTERS:
        message = "This model's maximum context length is exceeded."
        return _error(400, message, "invalid_request_error", code="context_length_exceeded")
    return None


def _rules(body: dict[str, Any]) -> list[str]:
    """Rules that types cannot say."""
    found: list[str] = []
    if not body.get("messages"):
        found.append("[] is too short - 'messages'")
    if "stream_options" in body and not body.get("stream"):
        found.append("The 'stream_options' parameter is only allowed when 'stream' is enabled.")
    if not 0 <= body.get("temperature", 1) <= 2:
        found.append("Invalid 'temperature': must be between 0 and 2.")
    if body.get("model", "").startswith("o"):
        if "max_tokens" in body:
            found.append(
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
            )
        if body.get("temperature", 1) != 1:
            found.append(
                "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) value is supported."
            )
    names = [tool["function"]["name"] for tool in body.get("tools", [])]
    found += [f"Invalid 'tools[0].function.name': {name}" for name in names if not _NAME.fullmatch(name)]
    return [*found, *order(body.get("messages", [])), *_format(body.get("response_format"))]


def order(messages: list[dict[str, Any]]) -> list[str]:
    """Every tool call is answered right after its message, and nothing else is."""
    open_calls: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                return ["messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."]
            open_calls.discard(message["tool_call_id"])
            continue
        if open_calls:
            return [
                f"An assistant message with 'tool_calls' must be followed by tool messages. Missing: {sorted(open_calls)}"
            ]
        if message["role"] == "assistant":
            open_calls = {call["id"] for call in message.get("tool_calls", [])}
            if not message.get("content") and not open_calls:
                return ["Invalid value for 'content': expected a string, got null."]
    return [f"tool calls without answer: {sorted(open_calls)}"] if open_calls else []


def _format(response_format: Any) -> list[str]:
    if not response_format or response_format["type"] != "json_schema":
        return []
    schema = response_format["json_schema"]
    if not _NAME.fullmatch(schema["name"]):
        return ["Invalid 'response_format.json_schema.name'"]
    return _strict(schema["schema"]) if schema.get("strict") else []


def _strict(schema: dict[str, Any]) -> list[str]:
    """In strict mode every object forbids other properties and requires its own."""
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            return [
                "Invalid schema for response_format: 'additionalProperties' is required to be supplied and to be false."
            ]
        if sorted(schema.get("required", [])) != sorted(schema.get("properties", {})):
            return ["Invalid schema for response_format: 'required' must include every key in properties."]
    inner = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    return [problem for part in inner for problem in _strict(part)]


def _tool_calls(reply: Reply) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{i}_{hashlib.sha256(call.name.encode()).hexdigest()[:8]}",
            "type": "function",
            "function": {
                "name": call.name,
                "arguments": call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments),
            },
        }
        for i, call in enumerate(reply.calls)
    ]


def _usage(body: dict[str, Any], reply: Reply) -> object:
    if reply.usage is not None:
        return reply.usage
    sent, said = len(json.dumps(body["messages"])) // 4, len(reply.text) // 4 + 1
    return {"prompt_tokens": sent, "completion_tokens": said, "total_tokens": sent + said}


def _finish(reply: Reply) -> str:
    if reply.refuse:
        return "content_filter"
    return "length" if reply.at_limit else "tool_calls" if reply.calls else "stop"


def _completion(body: dict[str, Any], reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None, "refusal": None}
    if reply.calls:
        message["tool_calls"] = _tool_calls(reply)
    choice = {"index": 0, "message": message, "finish_reason": _finish(reply), "logprobs": None}
    return {
        "id": "chatcmpl-test", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice],
        "usage": _usage(body, reply),
    }  # fmt: skip


def _chunks(body: dict[str, Any], reply: Reply) -> list[dict[str, Any]]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return {
            "id": "chatcmpl-test",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": body["model"],
            "choices": [choice],
        }

    events = [chunk({"role": "assistant", "content": "", "refusal": None})]
    events += [chunk({"content": part}) for part in reply.parts()]
    for index, call in enumerate(_tool_calls(reply)):
        arguments = call["function"]["arguments"]
        first = {
            "index": index,
            "id": call["id"],
            "type": "function",
            "function": {"name": call["function"]["name"], "arguments": ""},
        }
        events.append(chunk({"tool_calls": [first]}))
        half = len(arguments) // 2
        for part in (arguments[:half], arguments[half:]):
            events.append(chunk({"tool_calls": [{"index": index, "function": {"arguments": part}}]}))
    events.append(chunk({}, _finish(reply)))
    if (body.get("stream_options") or {}).get("include_usage"):
        events.append({**chunk({}), "choices": [], "usage": _usage(body, reply)})
    return events


def _vector(text: str, size: int, encoding: str) -> list[float] | str:
    values = vector(text, None, size)
    return base64.b64encode(struct.pack(f"<{size}f", *values)).decode() if encoding == "base64" else values


def _shape(status: int, message: str) -> object:
    return {"error": {"message": message, "type": "scripted_error", "param": None, "code": None}}


def _error(
    status: int, message: str, kind: str, *, code: str | None = None, headers: dict[str, str] | None = None
) -> Response:
    error = {"message": message, "type": kind, "param": None, "code": code}
    return JSONResponse({"error": error}, status_code=status, headers=headers)
