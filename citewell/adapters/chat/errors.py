"""Translates vendor SDK errors into ours; the two SDKs share one structure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from time import time
from typing import Any

from citewell.errors import (
    CitewellError,
    ProviderAuthError,
    ProviderError,
    ProviderModelGone,
    ProviderQuotaSpent,
    ProviderRateLimited,
    ProviderRejected,
    ProviderUnavailable,
)

_MAX_ASKED_SECONDS = 86_400.0
"""Maximum accepted `Retry-After`: a file waits that long, and vendors' longest limits are per day."""
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")
_MAX_MESSAGE = 4_000
_TOO_LONG = (
    "context_length",
    "context window",
    "prompt is too long",
    "maximum context",
    "too many tokens",
    "input is too long",
    "exceeds the maximum number of tokens",
    "exceeds the available context",
    "greater than the context length",
)
_SPENT = ("insufficient_quota", "exceeded your current quota", "for the current month", "credit balance is too low")
_NO_SUCH_MODEL = re.compile(
    r"\bmodels?\b.*\b(?:not exist|not found|not supported|not_found|unknown|identifier is invalid)\b|^model: ",
    re.I | re.S,
)
# Gemini rejects a key with status 400, and states the wait only in the message.
_WRONG_KEY = ("API key not valid", "API_KEY_INVALID")
# Servers quote the rejected key, some in full, but every user may see the message.
_KEY = re.compile(r"(?=[A-Za-z_*-]*[0-9*])[\w*-]{12,}")
_OF_A_KEY = re.compile(r"key|token|bearer|credential", re.I)
_RETRY_IN = re.compile(r"\bretry in (\d+(?:\.\d+)?) ?s\b", re.I)


def from_status(status: int | None, message: str, headers: Mapping[str, str] | None = None) -> CitewellError:
    """Our error for an HTTP status (None: an error event inside a stream)."""
    text = message[:500]
    if any(phrase in message.lower() for phrase in _TOO_LONG):
        return ProviderRejected(
            f"The question and its context are too long for the model. {text}", reason="context_too_long"
        )
    if status in (401, 403) or (status == 400 and any(phrase in message for phrase in _WRONG_KEY)):
        told = _KEY.sub("…", text) if _OF_A_KEY.search(text) else text
        return ProviderAuthError(f"The provider rejected the API key. {told}")
    wait = _RETRY_IN.search(message[:_MAX_MESSAGE])
    if status == 402 or (wait is None and any(phrase in message for phrase in _SPENT)):
        return ProviderQuotaSpent(f"The provider's account has no credit left. Add credit to it. {text}")
    if status == 429:
        return ProviderRateLimited(
            f"The provider's rate limit is reached. Try again later. {text}",
            retry_after=retry_after(headers or {}) or (min(float(wait[1]), _MAX_ASKED_SECONDS) if wait else None),
        )
    if status in (408, 409, 499) or (status is not None and status >= 500):
        return ProviderUnavailable(f"The provider responded with status {status}. {text}", status=status)
    if status in (400, 404, 422) and _NO_SUCH_MODEL.search(message):
        return ProviderModelGone(f"The provider does not have this model. Set another one. {text}")
    if status is not None:
        return ProviderRejected(f"The provider rejected the request with status {status}. {text}")
    return ProviderUnavailable(f"The provider aborted its answer. {text}")


def from_status_error(error: Any) -> CitewellError:
    """Our error for an SDK's `APIStatusError`; one with a success status is an error event inside a stream."""
    if error.status_code < 400:
        return from_api_error(error)
    return from_status(error.status_code, _words(error), error.response.headers)


def _words(error: Any) -> str:
    """The provider's message.

    Anthropic's package, and OpenAI's for Gemini's list responses, put the whole body into theirs.
    """
    first = error.body[0] if isinstance(error.body, list) and error.body else error.body
    inner = first.get("error") if isinstance(first, Mapping) else None
    return str(inner["message"]) if isinstance(inner, Mapping) and inner.get("message") else str(error.message)


def from_api_error(error: Any) -> CitewellError:
    """Our error for an SDK's `APIError` without a status: an error event in a stream, or an unreadable answer."""
    body = error.body if isinstance(error.body, Mapping) else {}
    body = body["error"] if isinstance(body.get("error"), Mapping) else body
    kind = str(body.get("type") or body.get("code") or "")
    statuses = {
        "overloaded_error": 529, "rate_limit_error": 429, "rate_limit_exceeded": 429, "authentication_error": 401,
        "permission_error": 403, "invalid_request_error": 400, "not_found_error": 404, "request_too_large": 413,
    }  # fmt: skip
    return from_status(statuses.get(kind), str(error.message))


def connection_failed(error: Exception) -> CitewellError:
    """Our error for an unreachable provider or a closed connection."""
    return ProviderUnavailable(f"The provider cannot be reached: {str(error)[:300] or type(error).__name__}")


def other(error: Exception) -> CitewellError:
    """Our error for SDK errors outside of requests."""
    return ProviderError(f"{type(error).__name__}: {str(error)[:300]}")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `Retry-After` (seconds or a date); capped at a day."""
    milliseconds = headers.get("retry-after-ms", "").strip()
    if _NUMBER.fullmatch(milliseconds):
        return min(float(milliseconds) / 1000, _MAX_ASKED_SECONDS)
    value = headers.get("retry-after", "").strip()
    if _NUMBER.fullmatch(value):
        return min(float(value), _MAX_ASKED_SECONDS)
    try:
        return min(max(0.0, parsedate_to_datetime(value).timestamp() - time()), _MAX_ASKED_SECONDS)
    except (ValueError, OverflowError):
        return None
