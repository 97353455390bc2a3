"""`ChatModel`, with its messages, tools and answers, and `VisionModel`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

from citewell.ports.capability import Capability
from citewell.types import JsonObject

MAX_IMAGE_BYTES = 3_750_000
"""What base64 makes of it is the 5 MB that Anthropic's Messages API takes of one picture; other vendors take more."""
IMAGE_TYPES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})


@dataclass(frozen=True, slots=True)
class ImageInput:
    """An image for a vision model."""

    data: bytes
    mime_type: str


@runtime_checkable
class VisionModel(Protocol):
    """Describes images."""

    @property
    def model(self) -> str:
        """The provider's name for the model."""
        ...

    async def describe(self, image: ImageInput, prompt: str) -> str:
        """A description in plain text."""
        ...


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's request to call a tool. `extra` is returned to the provider unchanged."""

    id: str
    name: str
    arguments: JsonObject
    extra: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model sees it; `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceBlock:
    """A numbered passage handed to a model as data; the adapter may pass it as the vendor's own search-result block.

    source: the passage's id; never a file name, because users choose those and two files may share one
    """

    n: int
    title: str
    source: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message. `role="tool"` answers the call `tool_call_id`, with the tool's `sources` and `images`."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    sources: tuple[SourceBlock, ...] = ()
    images: tuple[ImageInput, ...] = ()


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Token counts of one call, as the provider reports them."""

    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatDelta:
    """One increment of a streamed answer: text, a finished tool call, a native citation, or (last) the usage.

    retracts: the text before this increment was no part of the answer, but a thought that began without saying so
    """

    text: str = ""
    retracts: bool = False
    tool_call: ToolCall | None = None
    cited_source: int | None = None
    cited_text: str | None = None
    usage: TokenUsage | None = None
    stop_reason: str | None = None


@runtime_checkable
class ChatModel(Protocol):
    """A chat model with tools and structured output."""

    @property
    def model(self) -> str:
        """The provider's name for the model."""
        ...

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The capabilities this implementation declares."""
        ...

    def stream(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[ToolSpec] = (),
        response_schema: JsonObject | None = None,
        max_tokens: int | None = None,
        temperature: float = 0.0,
    ) -> AsyncIterator[ChatDelta]:
        """Stream the answer. With `response_schema`, the text is one JSON object of that schema."""
        ...
