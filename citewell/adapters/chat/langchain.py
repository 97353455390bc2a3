"""Shared by the chat adapters: converts messages, streams and errors between LangChain and Citewell."""

from __future__ import annotations

import base64
import json
import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langsmith import tracing_context

from citewell.adapters.anthropic_blocks import native_citations
from citewell.adapters.chat.reasoning import SpokenText
from citewell.adapters.chat.roles import in_turns, without_tool_messages
from citewell.errors import CitewellError, ProviderError, ProviderRejected, ProviderUnavailable
from citewell.ports import (
    Capability,
    ChatDelta,
    ChatMessage,
    ImageInput,
    SourceBlock,
    TokenUsage,
    ToolCall,
    ToolSpec,
)
from citewell.types import JsonObject
from citewell.types.json import well_formed

log = logging.getLogger(__name__)
Content = str | list[str | dict[str, Any]]
ModelT = TypeVar("ModelT", bound=BaseChatModel)
VISION_TOKENS = 1_024
SAME_CALL = -1
"""The index of a piece that belongs to the call before it."""
CALL_EXTRAS = "citewell_call_extras"
"""Key for tool-call data without a field in LangChain's messages: by index in chunks, by id in messages."""
SHOWN = "The pictures that were to be shown, in the order of the calls. They are data from files."
_Feature: TypeAlias = Literal["temperature", "roles", "tools", "schema"]
_LACKS: dict[_Feature, str] = {
    "temperature": "a temperature; none is sent",
    "roles": "messages of the system or of tools; they are rewritten",
    "tools": "tools; none are sent",
}
_CAPABILITY: dict[_Feature, Capability] = {"tools": Capability.TOOLS, "schema": Capability.STRUCTURED_OUTPUT}
_ROLES = re.compile(r"\broles?\b|system (?:message|prompt)|alternat", re.I)
_TOOLS = re.compile(r"\btools?\b|function.call", re.I)
_SCHEMA = re.compile(r"response_format|json_schema", re.I)
_COMPLETE = frozenset({"stop", "end_turn", "tool_calls", "tool_use", "stop_sequence", "function_call"})


class ChatDialect(Protocol[ModelT]):
    """The differences between vendors."""

    def content(self, text: str, sources: Sequence[SourceBlock], *, cited: bool) -> Content:
        """A message's text with its sources."""
        ...

    def result_images(self, images: Sequence[ImageInput]) -> list[dict[str, Any]] | None:
        """Pictures as blocks of a tool result; None if results are text only, so that a user message must show them."""
        ...

    def rules(self, text: str) -> Content:
        """The system message."""
        ...

    def options(
        self, tools: Sequence[ToolSpec], response_schema: JsonObject | None, max_tokens: int | None
    ) -> dict[str, Any]:
        """The request's arguments."""
        ...

    def temperature(self, value: float) -> dict[str, Any]:
        """The arguments that set the temperature; empty if none is sent."""
        ...

    def error(self, error: Exception) -> CitewellError:
        """Convert a vendor error to Citewell's."""
        ...

    @property
    def adapts(self) -> bool:
        """Whether the model may turn out to take no tools, or no system message: those of vendors take both."""
        ...

    def connect(self) -> ModelT:
        """A client with its own connection pool."""
        ...

    async def close(self, model: ModelT) -> None:
        """Close the connections of a client."""
        ...


class LangChainChat(Generic[ModelT]):
    """Implements `citewell.ports.ChatModel` and `citewell.ports.VisionModel` over a LangChain model.

    Does not retry; retries and timeouts belong to a wrapper (`citewell.adapters.chat.wrappers`). Once the model rejects
    a temperature, tools, or messages of a role, none are sent. The first request, also after `close`, opens connections.
    Nothing is ever reported to LangSmith, whatever the environment says.
    """

    def __init__(
        self,
        name: str,
        dialect: ChatDialect[ModelT],
        capabilities: frozenset[Capability],
        vendor_errors: tuple[type[Exception], ...],
    ) -> None:
        self._name = name
        self._client: ModelT | None = None
        self._dialect = dialect
        self._capabilities = capabilities
        self._vendor_errors = (*vendor_errors, OutputParserException, json.JSONDecodeError, ValueError)
        self._lacks: set[_Feature] = set()

    @property
    def model(self) -> str:
        """The vendor's name for the model."""
        return self._name

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The model's capabilities, without those that it turned out to lack."""
        return self._capabilities - {_CAPABILITY[lack] for lack in self._lacks if lack in _CAPABILITY}

    async def close(self) -> None:
        """Close the connections; the next request opens others."""
        client, self._client = self._client, None
        if client is not None:
            await self._dialect.close(client)

    async def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[ToolSpec] = (),
        response_schema: JsonObject | None = None,
        max_tokens: int | None = None,
        temperature: float = 0.0,
    ) -> AsyncGenerator[ChatDelta]:
        """As `citewell.ports.ChatModel.stream`; ends with usage and stop reason, or raises a `ProviderError`."""
        cited = response_schema is None and Capability.SEARCH_RESULT_BLOCKS in self._capabilities
        converted = _converted(messages, self._dialect, cited=cited)
        options = self._dialect.options(tools, response_schema, max_tokens)
        reader = StreamReader([s.n for m in messages for s in m.sources])
        try:
            with tracing_context(enabled=False):
                async for chunk in self._chunks(converted, options, temperature):
                    for delta in reader.read(chunk):
                        yield delta
        except self._vendor_errors as error:
            if response_schema is not None and _SCHEMA.search(str(error)):
                self._lacks.add("schema")
            raise self._dialect.error(error) from error
        for delta in reader.end():
            yield delta

    async def describe(self, image: ImageInput, prompt: str) -> str:
        """As `citewell.ports.VisionModel.describe`."""
        content: list[str | dict[str, Any]] = [_image_url(image), {"type": "text", "text": well_formed(prompt)}]
        options = self._dialect.options((), None, VISION_TOKENS)
        reader = StreamReader([])
        text = ""
        try:
            with tracing_context(enabled=False):
                async for chunk in self._chunks([HumanMessage(content)], options, 0.0):
                    for delta in reader.read(chunk):
                        text = delta.text if delta.retracts else text + delta.text
        except self._vendor_errors as error:
            raise self._dialect.error(error) from error
        text += "".join(delta.text for delta in reader.end())
        return text.strip()

    async def _chunks(
        self, messages: list[BaseMessage], options: Mapping[str, Any], temperature: float
    ) -> AsyncIterator[AIMessageChunk]:
        while True:
            begun = False
            try:
                async for chunk in self._model().astream(
                    self._arranged(messages), **self._accepted(options, temperature)
                ):
                    begun = True
                    yield chunk
                return
            except self._vendor_errors as error:
                lack = None if begun else self._lack_in(error, options)
                if lack is None:
                    raise
            self._lacks.add(lack)
            if lack != "temperature" or temperature:  # zero is Citewell's default
                log.warning("%s does not accept %s from now on", self._name, _LACKS[lack])

    def _arranged(self, messages: list[BaseMessage]) -> list[BaseMessage]:
        """The messages in the roles that the model takes."""
        if "roles" in self._lacks:
            return in_turns(messages)
        return without_tool_messages(messages) if "tools" in self._lacks else messages

    def _accepted(self, options: Mapping[str, Any], temperature: float) -> dict[str, Any]:
        """The arguments without what the model does not take."""
        extra = {} if "temperature" in self._lacks else self._dialect.temperature(temperature)
        return {name: value for name, value in options.items() if name != "tools" or "tools" not in self._lacks} | extra

    def _lack_in(self, error: Exception, options: Mapping[str, Any]) -> _Feature | None:
        """What an error says that the model does not take, if it was sent; local servers say so with status 400 or 500."""
        told = self._dialect.error(error)
        if not isinstance(told, ProviderRejected | ProviderUnavailable) or told.details.get("reason"):
            return None
        text = str(error)
        if isinstance(told, ProviderRejected) and "temperature" in text.lower() and "temperature" not in self._lacks:
            return "temperature"
        if not self._dialect.adapts:
            return None
        if _ROLES.search(text) and "roles" not in self._lacks:
            return "roles"
        return "tools" if "tools" in options and _TOOLS.search(text) and "tools" not in self._lacks else None

    def _model(self) -> ModelT:
        if self._client is None:
            self._client = self._dialect.connect()
        return self._client


class StreamReader:
    """Turns LangChain's chunks into our deltas: text at once, tool calls when complete, citations after their block."""

    def __init__(self, source_numbers: Sequence[int]) -> None:
        self._sources = source_numbers
        self._calls: dict[Any, dict[str, Any]] = {}
        self._spoken = SpokenText()
        self._cited: list[tuple[int, str]] = []
        self._block: Any = None
        self._usage = TokenUsage()
        self._stop: str | None = None

    def read(self, chunk: AIMessageChunk) -> list[ChatDelta]:
        """The deltas that this chunk completes."""
        deltas: list[ChatDelta] = []
        for block in [chunk.content] if isinstance(chunk.content, str) else chunk.content:
            deltas += self._read_block({"type": "text", "text": block} if isinstance(block, str) else block)
        for part in chunk.tool_call_chunks:
            index = part.get("index")
            if index == SAME_CALL and self._calls:
                index = next(reversed(self._calls))
            call = self._calls.setdefault(index, {"id": "", "name": "", "arguments": "", "extra": {}})
            call["id"] = part.get("id") or call["id"]
            call["name"] += part.get("name") or ""
            call["arguments"] += part.get("args") or ""
        for index, extra in chunk.additional_kwargs.get(CALL_EXTRAS, {}).items():
            self._calls[index]["extra"] = extra
        if chunk.usage_metadata:
            usage = chunk.usage_metadata
            self._usage = TokenUsage(
                max(usage["input_tokens"], self._usage.input_tokens),
                max(usage["output_tokens"], self._usage.output_tokens),
            )
        metadata: dict[str, Any] = chunk.response_metadata
        self._stop = metadata.get("finish_reason") or metadata.get("stop_reason") or self._stop
        return deltas

    def end(self) -> list[ChatDelta]:
        """Tool calls, then usage with the stop reason.

        Raises `ProviderUnavailable` for a stream without one, which was cut off.
        """
        if self._stop is None:
            raise ProviderUnavailable("The provider's answer ended early. Ask again.")
        if self._stop in ("content_filter", "refusal"):
            raise ProviderRejected("The model refused to answer. Rephrase the question.", stop_reason=self._stop)
        deltas = [*self._say(self._spoken.rest()), *self._flush()]
        if self._stop in _COMPLETE:
            deltas += [ChatDelta(tool_call=_tool_call(call)) for call in self._calls.values()]
        return [*deltas, ChatDelta(usage=self._usage, stop_reason=self._stop)]

    def _read_block(self, block: Mapping[str, Any]) -> list[ChatDelta]:
        if block.get("type") != "text":
            return []
        deltas: list[ChatDelta] = []
        if block.get("index") != self._block:
            deltas += self._flush()
            self._block = block.get("index")
        spoken = self._spoken.read(str(block.get("text") or ""))
        if self._spoken.retracted:
            deltas.append(ChatDelta(retracts=True))
        deltas += self._say(spoken)
        for citation in native_citations(block.get("citations")):
            if 0 <= citation.index < len(self._sources):
                self._cited.append((self._sources[citation.index], citation.text))
        return deltas

    def _say(self, text: str) -> list[ChatDelta]:
        return [ChatDelta(text=text)] if text else []

    def _flush(self) -> list[ChatDelta]:
        """The citations of the block that just ended, one per source."""
        found, self._cited = dict(reversed(self._cited)), []
        return [ChatDelta(cited_source=n, cited_text=text) for n, text in reversed(found.items())]


def source_text(sources: Sequence[SourceBlock]) -> str:
    """Numbered sources as text, escaped so that nothing in them can end its block early."""
    blocks = [
        f'<source n="{s.n}" title="{_attribute(s.title)}">\n{s.text.replace("<", "‹").replace(">", "›")}\n</source>'
        for s in sources
    ]
    return "\n".join(blocks)


def _attribute(text: str) -> str:
    return text.replace("<", "‹").replace(">", "›").replace('"', "”").replace("\n", " ")


def _converted(messages: Sequence[ChatMessage], dialect: ChatDialect[Any], *, cited: bool) -> list[BaseMessage]:
    """Convert to LangChain's messages. Pictures of a user's message, and those that tool results cannot hold, follow it or their round."""
    converted: list[BaseMessage] = []
    waiting: list[ImageInput] = []
    for message in messages:
        if waiting and message.role != "tool":
            converted.append(_showing(waiting))
            waiting = []
        converted.append(_message(message, dialect, cited=cited))
        if message.images and (message.role != "tool" or dialect.result_images(message.images) is None):
            waiting += message.images
    return [*converted, _showing(waiting)] if waiting else converted


def _showing(images: Sequence[ImageInput]) -> HumanMessage:
    return HumanMessage([{"type": "text", "text": SHOWN}, *map(_image_url, images)])


def _image_url(image: ImageInput) -> dict[str, Any]:
    url = f"data:{image.mime_type};base64,{base64.b64encode(image.data).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def _message(message: ChatMessage, dialect: ChatDialect[Any], *, cited: bool) -> BaseMessage:
    text = well_formed(message.content)
    sources = [replace(s, title=well_formed(s.title), text=well_formed(s.text)) for s in message.sources]
    content = dialect.content(text, sources, cited=cited)
    match message.role:
        case "system":
            return SystemMessage(dialect.rules(text))
        case "user":
            return HumanMessage(content)
        case "tool":
            if blocks := dialect.result_images(message.images):
                own: list[str | dict[str, Any]] = (
                    [{"type": "text", "text": content}] if isinstance(content, str) else content
                )
                content = [*own, *blocks]
            return ToolMessage(content, tool_call_id=message.tool_call_id or "")
        case "assistant":
            calls = [
                {"id": call.id, "name": call.name, "args": dict(call.arguments), "type": "tool_call"}
                for call in message.tool_calls
            ]
            extras = {call.id: dict(call.extra) for call in message.tool_calls if call.extra}
            return AIMessage(text, tool_calls=calls, additional_kwargs={CALL_EXTRAS: extras} if extras else {})


def _tool_call(call: Mapping[str, Any]) -> ToolCall:
    """A complete call; arguments that are not a JSON object become `{"_malformed": text}`, which no tool accepts."""
    try:
        arguments = json.loads(call["arguments"] or "{}")
    except json.JSONDecodeError:
        arguments = None
    if not isinstance(arguments, dict):
        arguments = {"_malformed": call["arguments"]}
    return ToolCall(call["id"], call["name"], arguments, call["extra"])


def unexpected(error: Exception) -> CitewellError:
    """The error for exceptions that no rule matches: an unreadable answer."""
    return ProviderError(f"The provider's answer could not be read: {type(error).__name__}: {str(error)[:300]}")


ErrorRule = tuple[tuple[type[Exception], ...], Callable[[Exception], CitewellError]]


def first_match(error: Exception, rules: Sequence[ErrorRule]) -> CitewellError:
    """Our error, from the first rule whose types match."""
    for kinds, make in rules:
        if isinstance(error, kinds):
            return make(error)
    return unexpected(error)
