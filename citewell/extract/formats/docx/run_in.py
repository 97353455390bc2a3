"""Headings of Word documents without styles: a short bold paragraph above one that is not bold."""

from __future__ import annotations

from citewell.extract.core.safexml import XmlElement, local_name
from citewell.extract.formats.ooxml.package import child, is_on

RUN_IN_LEVEL = 9
"""Below every heading that has a style."""
_MAX_RUN_IN = 120
"""Characters of the longest bold paragraph that is a heading."""
_SENTENCE = (".", ",", ";", "!")


def is_run_in_heading(element: XmlElement, after: XmlElement) -> bool:
    """Whether the paragraph `element` is a heading of the block after it: text that is not all bold, or a table."""
    runs = _runs(element)
    text = "".join(words for _, words in runs).strip()
    if not 0 < len(text) <= _MAX_RUN_IN or text.endswith(_SENTENCE) or not all(bold for bold, _ in runs):
        return False
    if local_name(after) == "tbl":
        return True
    return local_name(after) == "p" and any(not bold for bold, _ in _runs(after))


def _runs(element: XmlElement) -> list[tuple[bool, str]]:
    """Returns, for each run with words, whether it is bold, and its text."""
    found: list[tuple[bool, str]] = []
    for run in element.iter():
        if local_name(run) == "r":
            words = "".join(inner.text or "" for inner in run if local_name(inner) == "t")
            if words.strip():
                found.append((is_on(child(run, "rPr"), "b"), words))
    return found
