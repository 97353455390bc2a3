"""Every door, and how its transcript is made."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

from tests.transcripts import airtable, claude, mcp, openai_client, telegram, webhooks
from tests.transcripts.record import Transcript

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "transcripts"
DOORS: Mapping[str, Callable[[Path], Coroutine[Any, Any, Transcript]]] = {
    "telegram": telegram.run,
    "claude": claude.run,
    "mcp": mcp.run,
    "openai": openai_client.run,
    "airtable": airtable.run,
    "webhooks": webhooks.run,
}
