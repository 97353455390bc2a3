"""What all commands share: options, running, and JSON for other programs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any

import typer

Data = Annotated[Path | None, typer.Option("--data", help="The data folder.", show_default="CITEWELL_DATA")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def run(work: Coroutine[Any, Any, Any]) -> Any:
    """The result of asynchronous work."""
    return asyncio.run(work)


def print_json(value: object) -> None:
    """A value for other programs: not wrapped, not coloured."""
    print(json.dumps(value, ensure_ascii=False, indent=2))  # noqa: T201 - rich would wrap it
