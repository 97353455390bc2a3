"""Makes an answer safe to render: nothing in it loads from, or links to, a place that a document chose."""

from __future__ import annotations

import re

_IMAGE = re.compile(r"!\[([^\]\n]*)\]\s*(?:\([^)\n]*\)|\[[^\]\n]*\])")
_OPEN_IMAGE = re.compile(r"!(?=\[)")
_LINK = re.compile(r"(?<!!)\[([^\]\n]+)\]\(\s*<?[^)\n]*>?\s*\)")
_REFERENCE = re.compile(r"^\s{0,3}\[[^\]\n]+\]:\s*\S+.*$", re.M)
_TAG = re.compile(r"<(?=[a-zA-Z/!?])")
_AUTOLINK = re.compile(r"<((?:https?|ftp|mailto|data|javascript|file|ws|wss):[^>\s]*)>", re.I)
_URL = re.compile(
    r"(?<!`)\b((?:https?|ftp|wss?)://[^\s<>`)\]]+|www\.[^\s<>`)\]]+|(?:data|javascript|file|vbscript):[^\s<>`)\]]+)",
    re.I,
)


def neutralise(text: str) -> str:
    """Markdown without images, links and HTML. An address stays readable, as code, which no renderer turns into a link."""
    text = _IMAGE.sub(lambda m: m[1], text)
    text = _LINK.sub(lambda m: m[0] if m[1].isdigit() and "(" not in m[0] else m[1], text)
    text = _REFERENCE.sub("", text)
    text = _OPEN_IMAGE.sub("", text)
    text = _AUTOLINK.sub(lambda m: m[1], text)
    text = _TAG.sub("&lt;", text)
    return _URL.sub(lambda m: f"`{m[1]}`", text)
