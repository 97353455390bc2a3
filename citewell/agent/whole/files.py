"""Answers to questions about the files themselves: which there are, and how many."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.agent.citations.safe_text import safe_text
from citewell.types import ResourceInfo

MAX_LISTED = 50
"""Files that an answer names; it says how many there are."""
MAX_KNOWN = 500
"""Files that are looked at: where so many are in scope, there may be more."""


def files_in_words(resources: Sequence[ResourceInfo]) -> str:
    """`There are 2 files here:` and a line for each, newest first; of a file that was not read, why."""
    count = len(resources)
    lead = "There is 1 file here:" if count == 1 else f"There are {count:,} files here:"
    if count >= MAX_KNOWN:
        lead = f"There are {MAX_KNOWN:,} files here, or more:"
    lines = [_line(resource) for resource in resources[:MAX_LISTED]]
    if count > MAX_LISTED:
        lines.append(f"\nThese are the newest {MAX_LISTED}. The library lists all of them.")
    return "\n".join([lead, *lines])


def _line(resource: ResourceInfo) -> str:
    said = ""
    if resource.status in ("failed", "stored"):
        said = f" (not read: {resource.note})" if resource.note else " (not read)"
    return f"- {safe_text(' '.join(f'{resource.filename}{said}'.split()))}"
