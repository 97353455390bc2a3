"""The models that write answers and describe pictures: the settings of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Field, SecretStr

from citewell.settings.base import SettingsGroup
from citewell.settings.names import named
from citewell.settings.values import ChatProvider, Count, HttpAddress, Seconds

OpenAIKeySetting = Annotated[SecretStr | None, named("openai_api_key", "OPENAI_API_KEY")]
AnswerSecondsSetting = Annotated[Seconds, named("answer_seconds")]
_CHAT_PROVIDER = named("chat_provider", "CHAT_PROVIDER", "LLM_PROVIDER")
_VISION_PROVIDER = named("vision_provider", "VISION_PROVIDER")
_ChatModel = Annotated[str | None, named("chat_model", "CHAT_MODEL", "OPENAI_MODEL", "LLM_MODEL")]
_Temperature = Annotated[float | None, Field(ge=0, le=2), named("temperature", "TEMPERATURE")]
_MaxTokens = Annotated[Count | None, named("max_tokens", "MAX_TOKENS")]


@dataclass(frozen=True, kw_only=True)
class _OpenAI(SettingsGroup):
    usual_model: ClassVar[str] = "gpt-5.4-mini"

    api_key: OpenAIKeySetting = None
    base_url: Annotated[HttpAddress | None, named("chat_base_url", "OPENAI_BASE_URL")] = None
    seconds: AnswerSecondsSetting = 120.0

    @property
    def missing_key(self) -> str | None:
        """What to do about a missing key; None if there is a key or none is needed."""
        if self.api_key is not None or self.base_url is not None:
            return None
        advice = "Set OPENAI_API_KEY, or CITEWELL_CHAT_BASE_URL for another endpoint."
        return f"{self.name_of('provider')} is 'openai', but there is no key. {advice}"


@dataclass(frozen=True, kw_only=True)
class _Anthropic(SettingsGroup):
    usual_model: ClassVar[str] = "claude-haiku-5-5"

    api_key: Annotated[SecretStr | None, named("anthropic_api_key", "ANTHROPIC_API_KEY")] = None
    base_url: Annotated[HttpAddress | None, named("anthropic_base_url", "ANTHROPIC_BASE_URL")] = None
    seconds: AnswerSecondsSetting = 120.0
    temperature: _Temperature = None

    @property
    def missing_key(self) -> str | None:
        """What to do about a missing key; None if there is one."""
        if self.api_key is not None:
            return None
        return f"{self.name_of('provider')} is 'anthropic', but there is no key. Set ANTHROPIC_API_KEY."


@dataclass(frozen=True, kw_only=True)
class NoChat(SettingsGroup):
    """No chat model: answers are extracted."""

    missing_key: ClassVar[None] = None

    provider: Annotated[Literal["none"], _CHAT_PROVIDER] = "none"
    detect_local: Annotated[bool, named("detect_local_models")] = True


@dataclass(frozen=True, kw_only=True)
class OpenAIChat(_OpenAI):
    """A chat model from OpenAI or a compatible endpoint."""

    provider: Annotated[Literal["openai"], _CHAT_PROVIDER] = "openai"
    model: _ChatModel = None
    temperature: _Temperature = None
    max_tokens: _MaxTokens = None


@dataclass(frozen=True, kw_only=True)
class AnthropicChat(_Anthropic):
    """A chat model from Anthropic."""

    provider: Annotated[Literal["anthropic"], _CHAT_PROVIDER] = "anthropic"
    model: _ChatModel = None
    max_tokens: _MaxTokens = None


@dataclass(frozen=True, kw_only=True)
class NoVision(SettingsGroup):
    """No vision model: images are kept and read by OCR."""

    missing_key: ClassVar[None] = None

    provider: Annotated[Literal["none"], _VISION_PROVIDER] = "none"


@dataclass(frozen=True, kw_only=True)
class _Vision(SettingsGroup):
    provider: str
    model: Annotated[str | None, named("vision_model", "VISION_MODEL")] = None
    chat_model: _ChatModel = None
    chat_provider: Annotated[ChatProvider, _CHAT_PROVIDER] = "none"

    @property
    def chosen_model(self) -> str | None:
        """The configured model, or else the chat model if it is from the same provider."""
        named_for = "openai" if self.name_of("chat_model") == "OPENAI_MODEL" else self.chat_provider
        return self.model or (self.chat_model if named_for in ("none", self.provider) else None)


@dataclass(frozen=True, kw_only=True)
class OpenAIVision(_OpenAI, _Vision):
    """A vision model from OpenAI or a compatible endpoint."""

    provider: Annotated[Literal["openai"], _VISION_PROVIDER] = "openai"


@dataclass(frozen=True, kw_only=True)
class AnthropicVision(_Anthropic, _Vision):
    """A vision model from Anthropic."""

    provider: Annotated[Literal["anthropic"], _VISION_PROVIDER] = "anthropic"


ChatSettings: TypeAlias = NoChat | OpenAIChat | AnthropicChat
VisionSettings: TypeAlias = NoVision | OpenAIVision | AnthropicVision
