"""The messages of `training/messages`, and questions about tables, which are messages that ask."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from citewell.types.message_reading import Act

_HELD = 6  # one file in so many is left out, to measure by
_ACTS = list(Act)


@dataclass(frozen=True, slots=True)
class Message:
    """text: with brackets around its content, in English; act: its number; leans: whether it does on `before`, -1 where there is none."""

    text: str
    act: int
    before: str = ""
    leans: int = -1


def read_messages(folder: Path, *, held: bool = False) -> Iterator[Message]:
    """Those to learn from, or those that are left out."""
    for file in sorted((folder / "messages").glob("*.jsonl")):
        if (int(file.stem) % _HELD == 0) != held:
            continue
        for one in map(json.loads, file.read_text("utf-8").splitlines()):
            before = one["prev"][-1].replace("[", "").replace("]", "") if "prev" in one else ""
            yield Message(one["q"], _ACTS.index(Act(one["act"])), before, int(bool(one["leans"])) if before else -1)


def asking(questions: Sequence[str]) -> Iterator[Message]:
    """Questions as messages."""
    for text in questions:
        yield Message(text, _ACTS.index(Act.ASK))
