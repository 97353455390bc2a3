"""Characters of a DOC's text that are not text: fields, references, breaks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from citewell.extract.core.symbols import without_private_use
from citewell.types import JsonValue

FIELD_BEGIN, FIELD_SEPARATOR, FIELD_END = "\x13", "\x14", "\x15"
_REPLACED = {"\x0b": "\n", "\x0c": "\n", "\x0e": "\n", "\x0d": "\n", "\x07": "\n", "\x1e": "-", "\xa0": " "}
_HYPERLINK = re.compile(r'HYPERLINK\s+(?:\\\w\s+)*"([^"]{1,2000})"')


@dataclass(slots=True)
class FieldFilter:
    """Removes field instructions from running text, even if a field spans paragraphs, and records links."""

    _open: list[bool] = field(default_factory=list[bool])
    _instruction: list[str] = field(default_factory=list[str])
    links: list[JsonValue] = field(default_factory=list[JsonValue])

    def clean(self, text: str) -> str:
        """Returns the visible text: field results, but not their instructions."""
        out: list[str] = []
        for character in text:
            if character == FIELD_BEGIN:
                self._open.append(True)
            elif character == FIELD_SEPARATOR and self._open:
                self._open[-1] = False
                self._note_link()
            elif character == FIELD_END and self._open:
                self._open.pop()
                self._instruction.clear()
            elif any(self._open):
                self._instruction.append(character)
            else:
                out.append(_REPLACED.get(character, character if character >= " " or character in "\t\n" else ""))
        joined = "".join(out).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        lines = without_private_use(joined).split("\n")
        return "\n".join(line.strip() for line in lines).strip()

    def take_links(self) -> list[JsonValue]:
        """Returns the links found since the last call."""
        links, self.links = self.links, []
        return links

    def _note_link(self) -> None:
        match = _HYPERLINK.search("".join(self._instruction))
        self._instruction.clear()
        if match and len(self.links) < 50 and not match.group(1).lower().startswith(("javascript:", "file:", "data:")):
            self.links.append({"href": match.group(1)})
