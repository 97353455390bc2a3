"""Anthropic models: sends sources as `search_result` blocks, and converts the native citations to ours."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import anthropic
import httpx2
from langchain_anthropic import ChatAnthropic
from pydantic import SecretStr

from citewell.adapters.anthropic_blocks import image_block, search_result
from citewell.adapters.bounded import BOUNDED
from citewell.adapters.chat import errors
from citewell.adapters.chat.langchain import Content, ErrorRule, LangChainChat, first_match, source_text
from citewell.adapters.chat.wrappers import PatientChat
from citewell.errors import CitewellError, ConfigurationError
from citewell.ports import Capability, ImageInput, SourceBlock, ToolSpec
from citewell.settings import AnthropicChat, AnthropicVision
from citewell.types import JsonObject

ANSWER_TOKENS = 4_096
LAST_WITH_TEMPERATURE = "2023-06-01"
_RULES: tuple[ErrorRule, ...] = (
    ((anthropic.APIStatusError,), errors.from_status_error),
    ((anthropic.APIConnectionError, httpx2.TransportError, httpx2.StreamError), errors.connection_failed),
    ((anthropic.APIError,), errors.from_api_error),
    ((anthropic.AnthropicError,), errors.other),
)
CAPABILITIES = frozenset(
    {Capability.TOOLS, Capability.STRUCTURED_OUTPUT, Capability.MULTIMODAL, Capability.SEARCH_RESULT_BLOCKS}
)


class AnthropicDialect:
    """Anthropic's Messages API: sources are search results, tools have an input schema.

    `with_temperature` sends a temperature to the models that still accept one. The current API version rejects it for
    all models, so those requests use the previous version.
    """

    def __init__(
        self, model: str, api_key: str, base_url: str | None, seconds: float, *, with_temperature: bool = False
    ) -> None:
        self._model = model
        self._api_key = SecretStr(api_key)
        self._base_url = base_url
        self._seconds = seconds
        self._with_temperature = with_temperature

    def content(self, text: str, sources: Sequence[SourceBlock], *, cited: bool) -> Content:
        """Sources as search results if `cited`, else as text."""
        if not sources:
            return text
        if not cited:
            return f"{source_text(sources)}\n\n{text}".strip()
        blocks: list[str | dict[str, Any]] = [search_result(source) for source in sources]
        return [*blocks, {"type": "text", "text": text}] if text.strip() else blocks

    def result_images(self, images: Sequence[ImageInput]) -> list[dict[str, Any]]:
        """Pictures as blocks of the tool result."""
        return [image_block(image) for image in images]

    def rules(self, text: str) -> Content:
        """The system message, marked as the end of the cached prompt: tools and rules are the same in every request."""
        return [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}] if text.strip() else text

    def options(
        self, tools: Sequence[ToolSpec], response_schema: JsonObject | None, max_tokens: int | None
    ) -> dict[str, Any]:
        """Structured output as `output_config.format`."""
        options: dict[str, Any] = {"max_tokens": max_tokens or ANSWER_TOKENS}
        if tools:
            options["tools"] = [
                {"name": t.name, "description": t.description, "input_schema": dict(t.parameters)} for t in tools
            ]
        if response_schema is not None:
            options["output_config"] = {"format": {"type": "json_schema", "schema": dict(response_schema)}}
        return options

    def temperature(self, value: float) -> dict[str, Any]:
        """In the request body, because the SDK has dropped the parameter."""
        if not self._with_temperature:
            return {}
        return {"extra_headers": {"anthropic-version": LAST_WITH_TEMPERATURE}, "extra_body": {"temperature": value}}

    def error(self, error: Exception) -> CitewellError:
        """Convert an Anthropic error to ours."""
        return first_match(error, _RULES)

    @property
    def adapts(self) -> bool:
        """Never: Claude takes tools and system messages."""
        return False

    def connect(self) -> OwnPoolAnthropic:
        """A client with its own connection pool."""
        return OwnPoolAnthropic(
            model_name=self._model,
            api_key=self._api_key,
            base_url=self._base_url or "https://api.anthropic.com",
            timeout=self._seconds,
            max_retries=0,
            stop=None,
            max_tokens_to_sample=ANSWER_TOKENS,
        )

    async def close(self, model: OwnPoolAnthropic) -> None:
        """Close the pool."""
        await model.close()


class OwnPoolAnthropic(ChatAnthropic):
    """A client with its own connection pool; LangChain shares one among all models at an address."""

    @cached_property
    def _async_client(self) -> anthropic.AsyncAnthropic:
        timeout = self._client_params.get("timeout")
        client = anthropic.DefaultAsyncHttpxClient(timeout=timeout, event_hooks=BOUNDED)
        return anthropic.AsyncAnthropic(**self._client_params, http_client=client)

    async def close(self) -> None:
        """Close the pool."""
        await self._async_client.close()


def chat(
    model: str,
    api_key: str,
    base_url: str | None = None,
    timeout: float = 120.0,
    *,
    with_temperature: bool = False,
) -> LangChainChat[OwnPoolAnthropic]:
    """A chat or vision model; see `AnthropicDialect` for `with_temperature`."""
    dialect = AnthropicDialect(model, api_key, base_url, timeout, with_temperature=with_temperature)
    return LangChainChat(model, dialect, CAPABILITIES, (anthropic.AnthropicError, httpx2.HTTPError, httpx2.StreamError))


def build(settings: AnthropicChat | AnthropicVision, model: str) -> PatientChat:
    """This chat and vision model with the settings' key, retries and time limits."""
    if settings.api_key is None:
        raise ConfigurationError(settings.missing_key)
    key = settings.api_key.get_secret_value()
    warm = settings.temperature is not None
    inner = chat(model, key, settings.base_url, settings.seconds, with_temperature=warm)
    return PatientChat(inner, settings.seconds)
