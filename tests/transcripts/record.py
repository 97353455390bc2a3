"""A transcript of one door, written so that the next run writes the same: ids are numbered, addresses and secrets named."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_CHANGING = (
    (re.compile(r"whsec_[\w+/=-]+"), "whsec_…"),
    (re.compile(r"trg_[\w-]+"), "trg_…"),
    (re.compile(r"\(\d+\.\d s\)"), "(… s)"),
)


@dataclass
class Transcript:
    """Markdown of one door. names: what changes from run to run, such as an address, and what is written in its place."""

    title: str
    about: str
    names: dict[str, str] = field(default_factory=dict)
    _parts: list[str] = field(default_factory=list)
    _ids: dict[str, str] = field(default_factory=dict)

    def step(self, heading: str, said: str = "") -> None:
        """A new step, with a sentence on it where it needs one."""
        self._parts.append(f"## {heading}" + (f"\n\n{said}" if said else ""))

    def block(self, text: str, language: str = "") -> None:
        """What was sent, received or printed."""
        self._parts.append(f"```{language}\n{self.plain(text).rstrip()}\n```")

    def plain(self, text: str) -> str:
        """The text as every run has it."""
        for changing, name in self.names.items():
            text = text.replace(changing, name)
        for pattern, name in _CHANGING:
            text = pattern.sub(name, text)
        return _UUID.sub(lambda found: self._ids.setdefault(found[0], f"id-{len(self._ids) + 1}"), text)

    def markdown(self) -> str:
        """The page."""
        head = f"# {self.title}\n\n{self.about} `python -m tests.transcripts` writes this page."
        return "\n\n".join([head, *self._parts]) + "\n"


def wrapped(name: str, text: str, width: int = 10) -> str:
    """What somebody says, with the name before its first line and the others below it."""
    first, *rest = text.split("\n")
    return "\n".join([f"{name:<{width}}{first}", *((" " * width + line).rstrip() for line in rest)])
