"""Anthropic's messages (streamed and not, tools, search results with citations, structured output), as its published contract has them."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import AsyncIterator
from typing import Any

from anthropic.types.message_create_params import MessageCreateParamsNonStreaming, MessageCreateParamsStreaming
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.contract_servers.anthropic_files import AnthropicFiles
from tests.contract_servers.openai import ServerCutError
from tests.contract_servers.script import Cited, Queue, Reply, Script
from tests.contract_servers.sdk_types import problems

KEY = "sk-ant-test"
MODELS = ("claude-test", "claude-next-test")
# The version that the SDK sends takes no temperature; the one before takes it for its own models.
VERSION_WITH_TEMPERATURE = "2023-06-01"
CONTEXT_CHARACTERS = 60_000
SPECIFICATION = "Anthropic API 2023-06-01 and later, by the request types of anthropic 2.12"
MIN_CACHED_TOKENS = 1_024
_TOOL = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_TYPES = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
          413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error"}  # fmt: skip


class AnthropicServer:
    """An ASGI app in `app`; keeps every request body in `requests`, and sets `client_left` when a client goes away."""

    def __init__(self, script: Script | None = None) -> None:
        self.script: Script = script or Queue()
        self.requests: list[dict[str, Any]] = []
        self.cached: set[str] = set()
        self.client_left = threading.Event()
        self.files = AnthropicFiles()
        self.app = Starlette(routes=[Route("/v1/messages", self.messages, methods=["POST"]), *self.files.routes])

    async def messages(self, request: Request) -> Response:
        """POST /v1/messages."""
        body = json.loads(await request.body())
        self.requests.append(body)
        refused = _headers(request) or _faults(body, request.headers["anthropic-version"])
        if refused:
            return refused
        body["_cache"] = self._cache(body)
        reply = self.script(body).within(body["max_tokens"])
        if reply.body is not None:
            return Response(reply.body, media_type="application/json")
        if reply.too_long:
            return _error(400, "prompt is too long: 250000 tokens > 200000 maximum")
        if reply.status is not None:
            headers = {"retry-after": reply.retry_after} if reply.retry_after else {}
            return _error(reply.status, reply.message, headers)
        if body.get("stream"):
            return StreamingResponse(self._events(body, reply), media_type="text/event-stream")
        return JSONResponse(_message(body, reply))

    def _cache(self, body: dict[str, Any]) -> dict[str, int]:
        """Tokens of the marked beginning of a prompt: written the first time, read from then on. A short one is not cached."""
        system = body.get("system")
        blocks = system if isinstance(system, list) else []
        if not any(block.get("cache_control") for block in blocks):
            return {}
        prefix = json.dumps([body["model"], body.get("tools"), blocks])
        if (tokens := len(prefix) // 4) < MIN_CACHED_TOKENS:
            return {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        is_known = prefix in self.cached
        self.cached.add(prefix)
        written, read = (0, tokens) if is_known else (tokens, 0)
        return {"cache_creation_input_tokens": written, "cache_read_input_tokens": read}

    async def _events(self, body: dict[str, Any], reply: Reply) -> AsyncIterator[str]:
        sent = 0
        try:
            for event in _stream(body, reply):
                if reply.drop_after is not None and sent >= reply.drop_after:
                    raise ServerCutError
                if reply.error_after is not None and sent >= reply.error_after:
                    error = {"type": "error", "error": {"type": reply.error_type, "message": "scripted"}}
                    yield f"event: error\ndata: {json.dumps(error)}\n\n"
                    return
                if reply.delay:
                    await asyncio.sleep(reply.delay)
                yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
                sent += 1
        except (asyncio.CancelledError, GeneratorExit):
            self.client_left.set()
            raise


def _headers(request: Request) -> Response | None:
    sent = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix("Bearer ")
    if sent != KEY:
        return _error(401, "invalid x-api-key")
    if not request.headers.get("anthropic-version"):
        return _error(400, "anthropic-version: header is required")
    return None


def _faults(body: dict[str, Any], version: str) -> Response | None:
    """What Anthropic answers a faulty request with; None for a sound one."""
    kind = MessageCreateParamsStreaming if body.get("stream") else MessageCreateParamsNonStreaming
    declared = {name: value for name, value in body.items() if name != "temperature"}
    for problem in [*_temperature(body, version), *problems(declared, kind), *_rules(body)]:
        return _error(400, problem)
    if body["model"] not in MODELS:
        return _error(404, f"model: {body['model']}")
    if len(json.dumps(body["messages"])) > CONTEXT_CHARACTERS:
        return _error(400, "prompt is too long: 250000 tokens > 200000 maximum")
    return None


def _temperature(body: dict[str, Any], version: str) -> list[str]:
    if "temperature" not in body:
        return []
    if version != VERSION_WITH_TEMPERATURE:
        return ["temperature: Extra inputs are not permitted"]
    if body["model"] == "claude-next-test":
        return ["`temperature` is deprecated for this model."]
    return [] if 0 <= body["temperature"] <= 1 else ["temperature: range: 0..1"]


def _rules(body: dict[str, Any]) -> list[str]:
    messages = body.get("messages") or []
    if not messages:
        return ["messages: at least one message is required"]
    if messages[0].get("role") != "user":
        return ['messages: first message must use the "user" role']
    if body.get("max_tokens", 0) < 1:
        return ["max_tokens: Input should be greater than or equal to 1"]
    for index, tool in enumerate(body.get("tools", [])):
        if not _TOOL.fullmatch(tool["name"]) or tool["input_schema"].get("type") != "object":
            return [f"tools.{index}.custom: Input is not valid"]
    return [*_contents(messages), *_tool_order(body, messages), *_search_results(body, messages)]


def _contents(messages: list[dict[str, Any]]) -> list[str]:
    for index, message in enumerate(messages):
        content = message["content"]
        last = index == len(messages) - 1
        if not content and not (last and message["role"] == "assistant"):
            return [
                f"messages.{index}: all messages must have non-empty content except for the optional final assistant message"
            ]
        for block in content if isinstance(content, list) else []:
            if block["type"] == "text" and not block["text"].strip():
                return [f"messages.{index}: text content blocks must contain non-whitespace text"]
        if last and message["role"] == "assistant" and isinstance(content, str) and content != content.rstrip():
            return ["messages: final assistant content cannot end with trailing whitespace"]
    return []


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    return message["content"] if isinstance(message["content"], list) else []


def _tool_order(body: dict[str, Any], messages: list[dict[str, Any]]) -> list[str]:
    """Every tool use is answered in the next message, results first; and the tools must be declared."""
    waiting: set[str] = set()
    for index, message in enumerate(messages):
        results = [block["tool_use_id"] for block in _blocks(message) if block["type"] == "tool_result"]
        if set(results) != waiting:
            return [
                f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: {waiting ^ set(results)}"
            ]
        if results and any(b["type"] != "tool_result" for b in _blocks(message)[: len(results)]):
            return [f"messages.{index}: tool_result blocks must come first"]
        waiting = {block["id"] for block in _blocks(message) if block["type"] == "tool_use"}
        if (waiting or results) and not body.get("tools"):
            return ["tools: Requests which include `tool_use` or `tool_result` blocks must define tools."]
    return ["messages: `tool_use` without `tool_result`"] if waiting else []


def search_results(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All search results of a request, in their order."""
    found: list[dict[str, Any]] = []
    for message in messages:
        for block in _blocks(message):
            if block["type"] == "search_result":
                found.append(block)
            elif block["type"] == "tool_result" and isinstance(block.get("content"), list):
                found += [inner for inner in block["content"] if inner["type"] == "search_result"]
    return found


def _search_results(body: dict[str, Any], messages: list[dict[str, Any]]) -> list[str]:
    found = search_results(messages)
    for block in found:
        texts = [part["text"] for part in block["content"]]
        if not block["source"] or not block["title"] or not texts or not all(text.strip() for text in texts):
            return ["search_result: source, title and content must not be empty"]
    enabled = {bool(block.get("citations", {}).get("enabled")) for block in found}
    if len(enabled) > 1:
        return ["search_result: citations must be enabled on all or none"]
    if True in enabled and body.get("output_config", {}).get("format"):
        return ["output_config.format: citations are not supported with structured outputs"]
    return []


def _stop(reply: Reply) -> str:
    if reply.refuse:
        return "refusal"
    return "max_tokens" if reply.at_limit else "tool_use" if reply.calls else "end_turn"


def _said(reply: Reply) -> list[Cited]:
    return list(reply.cited) or ([Cited(reply.text)] if reply.text else [])


def _usage(body: dict[str, Any], reply: Reply) -> dict[str, int]:
    said = sum(len(part.text) for part in _said(reply)) // 4 + 1
    sent = len(json.dumps(body["messages"])) // 4
    return {"input_tokens": sent, "output_tokens": said, **body.get("_cache", {})}


def _citation(body: dict[str, Any], index: int) -> dict[str, Any]:
    block = search_results(body["messages"])[index]
    return {
        "type": "search_result_location", "source": block["source"], "title": block["title"], "search_result_index": index,
        "start_block_index": 0, "end_block_index": 1, "cited_text": block["content"][0]["text"],
    }  # fmt: skip


def _message(body: dict[str, Any], reply: Reply) -> dict[str, Any]:
    content: list[dict[str, Any]] = [
        {"type": "text", "text": part.text, "citations": [_citation(body, i) for i in part.results] or None}
        for part in _said(reply)
    ]
    content += [
        {"type": "tool_use", "id": f"toolu_{i}", "name": c.name, "input": c.arguments}
        for i, c in enumerate(reply.calls)
    ]
    return {
        "id": "msg_test", "type": "message", "role": "assistant", "model": body["model"], "content": content,
        "stop_reason": _stop(reply), "stop_sequence": None, "usage": _usage(body, reply),
    }  # fmt: skip


def _stream(body: dict[str, Any], reply: Reply) -> list[dict[str, Any]]:
    usage = _usage(body, reply)
    start = {**_message(body, Reply()), "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": start}, {"type": "ping"}]
    index = 0
    for part in _said(reply):
        events.append({"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}})
        events += [
            {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": piece}}
            for piece in Reply(text=part.text, pieces=reply.pieces).parts()
        ]
        for result in part.results:
            delta = {"type": "citations_delta", "citation": _citation(body, result)}
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
        index += 1
    for number, call in enumerate(reply.calls):
        block = {"type": "tool_use", "id": f"toolu_{len(body['messages'])}_{number}", "name": call.name, "input": {}}
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        arguments = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)
        half = len(arguments) // 2
        for piece in (arguments[:half], arguments[half:]):
            delta = {"type": "input_json_delta", "partial_json": piece}
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
        index += 1
    final = {"stop_reason": _stop(reply), "stop_sequence": None}
    events.append({"type": "message_delta", "delta": final, "usage": usage})
    return [*events, {"type": "message_stop"}]


def _error(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    error = {"type": _TYPES.get(status, "api_error"), "message": message}
    return JSONResponse(
        {"type": "error", "error": error, "request_id": "req_test"}, status_code=status, headers=headers
    )
