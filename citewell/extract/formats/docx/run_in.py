"""Headings of Word documents without styles: a short paragraph in bold type over one that is not."""

from __future__ import annotations

from citewell.extract.core.safexml import XmlElement, local_name
from citewell.extract.formats.ooxml.package import child, is_on

RUN_IN_LEVEL = 9
"""Under every heading that has a style."""
_MAX_RUN_IN = 120
"""Characters of a paragraph in bold type that is a heading."""
_SENTENCE = (".", ",", ";", "!")


def is_run_in_heading(element: XmlElement, after: XmlElement) -> bool:
    """Whether the paragraph `element` names the block after it: text that is not all in bold type, or a table."""
    runs = _runs(element)
    text = "".join(words for _, words in runs).strip()
    if not 0 < len(text) <= _MAX_RUN_IN or text.endswith(_SENTENCE) or not all(bold for bold, _ in runs):
        return False
    if local_name(after) == "tbl":
        return True
    return local_name(after) == "p" and any(not bold for bold, _ in _runs(after))


def _runs(element: XmlElement) -> list[tuple[bool, str]]:
    """Whether it is bold, and the text, of each run with words."""
    found: list[tuple[bool, str]] = []
    for run in element.iter():
        if local_name(run) == "r":
            words = "".join(inner.text or "" for inner in run if local_name(inner) == "t")
            if words.strip():
                found.append((is_on(child(run, "rPr"), "b"), words))
    return found
