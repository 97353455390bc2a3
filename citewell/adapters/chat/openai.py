"""OpenAI models, and endpoints compatible with its API: Ollama, LM Studio, vLLM, llama.cpp, Gemini, Bedrock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai
from langchain_openai import ChatOpenAI
from langchain_openai.chat_models.base import BaseChatOpenAI
from pydantic import SecretStr

from citewell.adapters.bounded import BOUNDED
from citewell.adapters.chat import errors
from citewell.adapters.chat.compatible import BOUNDED_EVENTS, CompatibleChat
from citewell.adapters.chat.langchain import Content, ErrorRule, LangChainChat, first_match, source_text
from citewell.adapters.chat.wrappers import PatientChat
from citewell.errors import CitewellError, ConfigurationError, ProviderRejected, ProviderUnavailable
from citewell.ports import Capability, ImageInput, SourceBlock, ToolSpec
from citewell.settings import OpenAIChat, OpenAIVision
from citewell.settings.values import is_own_address
from citewell.types import JsonObject

_RULES: tuple[ErrorRule, ...] = (
    ((openai.APIStatusError,), errors.from_status_error),
    ((openai.APIConnectionError, httpx2.TransportError, httpx2.StreamError), errors.connection_failed),
    ((openai.APIError,), errors.from_api_error),
    (
        (openai.LengthFinishReasonError, openai.ContentFilterFinishReasonError),
        lambda error: ProviderRejected(f"The model stopped early: {error}"),
    ),
    ((openai.OpenAIError,), errors.other),
)
CAPABILITIES = frozenset({Capability.TOOLS, Capability.STRUCTURED_OUTPUT, Capability.MULTIMODAL})


class OpenAIDialect:
    """OpenAI's chat completions: sources are text, tools are functions.

    Compatible endpoints get `max_tokens` by its older name.
    """

    def __init__(self, model: str, api_key: str, base_url: str | None, seconds: float) -> None:
        self._model = model
        self._api_key = SecretStr(api_key)
        self._base_url = base_url
        self._seconds = seconds

    def content(self, text: str, sources: Sequence[SourceBlock], *, cited: bool) -> Content:
        """Sources first, each in its own block, then the text."""
        return f"{source_text(sources)}\n\n{text}".strip() if sources else text

    def result_images(self, images: Sequence[ImageInput]) -> None:
        """None: tool results are text."""

    def rules(self, text: str) -> Content:
        """The text unchanged; OpenAI caches common prompt prefixes automatically."""
        return text

    def options(
        self, tools: Sequence[ToolSpec], response_schema: JsonObject | None, max_tokens: int | None
    ) -> dict[str, Any]:
        """`response_format` bypasses LangChain's own parsing, which would read the stream differently."""
        options: dict[str, Any] = {}
        if tools:
            options["tools"] = [
                {
                    "type": "function",
                    "function": {"name": t.name, "description": t.description, "parameters": dict(t.parameters)},
                }
                for t in tools
            ]
        if response_schema is not None:
            schema = {"name": "answer", "schema": dict(response_schema), "strict": True}
            options["extra_body"] = {"response_format": {"type": "json_schema", "json_schema": schema}}
        if max_tokens is not None:
            options["max_tokens"] = max_tokens
        return options

    def temperature(self, value: float) -> dict[str, Any]:
        """Always sent, because zero makes answers repeatable."""
        return {"temperature": value}

    def error(self, error: Exception) -> CitewellError:
        """Convert an OpenAI error to ours. One from an address that was set says which, as that is what may be wrong."""
        ours = first_match(error, _RULES)
        if self._base_url is None:
            return ours
        if isinstance(error, openai.APIConnectionError) and isinstance(error.__cause__, httpx2.ConnectError):
            return ProviderUnavailable(
                f"Nothing answers at {_host(self._base_url)}. Start the model server, or correct CITEWELL_CHAT_BASE_URL."
            )
        if isinstance(error, openai.APIConnectionError) and not isinstance(error, openai.APITimeoutError):
            return ProviderUnavailable(f"The connection to {_host(self._base_url)} broke off.")
        if (
            isinstance(error, openai.NotFoundError)
            and type(ours) is ProviderRejected
            and not urlsplit(self._base_url).path.rstrip("/").endswith("v1")
        ):
            return ProviderRejected(f"{ours.message} CITEWELL_CHAT_BASE_URL usually ends in /v1.", **ours.details)
        return ours

    @property
    def adapts(self) -> bool:
        """Whether the address is another than OpenAI's."""
        return self._base_url is not None

    def connect(self) -> BaseChatOpenAI:
        """A client with its own connection pool; LangChain shares one among all models at an address."""
        kind = ChatOpenAI if self._base_url is None else CompatibleChat
        return kind(
            model=self._model,
            api_key=self._api_key,
            base_url=self._base_url or "https://api.openai.com/v1",
            timeout=self._seconds,
            max_retries=0,
            stream_usage=True,
            use_responses_api=False,
            stream_chunk_timeout=None,  # the one limit is that of the whole answer
            http_async_client=openai.DefaultAsyncHttpxClient(
                timeout=self._seconds, event_hooks=BOUNDED if self._base_url is None else BOUNDED_EVENTS
            ),
        )

    async def close(self, model: BaseChatOpenAI) -> None:
        """Close the pool."""
        await model.root_async_client.close()


def chat(
    model: str, api_key: str, base_url: str | None = None, timeout: float = 120.0
) -> LangChainChat[BaseChatOpenAI]:
    """A chat or vision model; `base_url` names a compatible endpoint."""
    dialect = OpenAIDialect(model, api_key, base_url, timeout)
    return LangChainChat(model, dialect, CAPABILITIES, (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError))


def _host(address: str) -> str:
    """The address without a key that somebody wrote into it."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def build(settings: OpenAIChat | OpenAIVision, model: str) -> PatientChat:
    """This chat and vision model with the settings' key, retries and time limits."""
    if settings.missing_key is not None:
        raise ConfigurationError(settings.missing_key)
    secret = settings.api_key.get_secret_value() if settings.api_key else "none"
    inner = chat(model, secret, settings.base_url, settings.seconds)
    is_own = settings.base_url is not None and is_own_address(settings.base_url)
    return PatientChat(inner, settings.seconds, is_own=is_own)
