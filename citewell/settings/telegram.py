"""Settings of the Telegram bot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, SecretStr

from citewell.settings.base import SettingsGroup
from citewell.settings.names import named
from citewell.settings.values import HttpAddress
from citewell.types.resources import MAX_LIFETIME_HOURS


@dataclass(frozen=True, kw_only=True)
class TelegramSettings(SettingsGroup):
    """The Telegram bot: its identity, how it receives messages, whom it answers, and how long files are kept.

    local_server: whether the Bot API server runs on this machine in local mode, without a download limit; files are read from its folder
    file_hours: how long files sent to the bot are kept; 0 for no limit, None for the server's
    """

    token: Annotated[SecretStr | None, named("telegram_bot_token", "TELEGRAM_BOT_TOKEN")] = None
    api_url: Annotated[HttpAddress, named("telegram_api_url", "TELEGRAM_API_URL")] = "https://api.telegram.org"
    local_server: Annotated[bool, named("telegram_local_server", "TELEGRAM_LOCAL")] = False
    webhook_url: Annotated[HttpAddress | None, named("telegram_webhook_url", "TELEGRAM_WEBHOOK_URL")] = None
    access: Annotated[Literal["linked", "everyone"], named("telegram_access")] = "linked"
    file_hours: Annotated[float | None, Field(ge=0, le=MAX_LIFETIME_HOURS), named("telegram_file_ttl")] = None
