"""Signatures of Standard Webhooks (https://www.standardwebhooks.com): HMAC-SHA256 over id, time and body."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping

_PREFIX = "whsec_"
_SECRET_BYTES = 32  # the specification requires 24 to 64


def new_secret() -> str:
    """A random secret in the format of Standard Webhooks libraries."""
    return _PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def signed_headers(secret: str, message_id: str, at: int, body: bytes) -> Mapping[str, str]:
    """The headers for a body. at: the time of this attempt in seconds since 1970; all attempts share the id."""
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    content = f"{message_id}.{at}.".encode() + body
    signature = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{signature}",
        "content-type": "application/json",
        "user-agent": "Citewell-Webhooks",
    }
