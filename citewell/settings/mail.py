"""E-mail to people with accounts: the mail server, the sender, and the address in links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import SecretStr

from citewell.settings.base import SettingsGroup
from citewell.settings.names import named
from citewell.settings.values import HttpAddress, MailAddress, SmtpAddress


@dataclass(frozen=True, kw_only=True)
class MailSettings(SettingsGroup):
    """The mail server, the sender's address, and the address at which people reach this server."""

    smtp_url: Annotated[SmtpAddress | None, named("smtp_url", "SMTP_URL")] = None
    user: Annotated[str | None, named("smtp_user", "SMTP_USER")] = None
    password: Annotated[SecretStr | None, named("smtp_password", "SMTP_PASSWORD")] = None
    sender: Annotated[MailAddress | None, named("mail_from")] = None
    public_url: Annotated[HttpAddress | None, named("public_url")] = None
