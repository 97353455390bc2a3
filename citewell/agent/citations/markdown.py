"""Makes an answer safe to render: nothing in it loads from, or links to, a place that a document or a model chose.

Works on characters, not on whole constructs, so that no line break, nesting or half-finished stream gets around it.
"""

from __future__ import annotations

import re

_IMAGE = re.compile(r"(?<![\\!])[\\!]++(?<=!)(?=\[)")
_LINK = re.compile(r"\](?=[(:])")
_TAG = re.compile(r"<(?=[a-zA-Z/!?])")
_ADDRESS = re.compile(r":(?=//)")
_WWW = re.compile(r"(www)\.(?=\w)", re.I)
_CHARACTER = re.compile(r"&(?=#|lbrack|lsqb)", re.I)
# A run of these begins where none stands before it; looking from within it again would take the square of its length.
_BEGINS = r"(?<![\\!\]<:wW])" + "".join(r"(?<!&" + r"\w" * count + ")" for count in range(6))
_UNSETTLED = re.compile(_BEGINS + r"(?:[\\!\]<:]|(?<=:)/|[wW]|(?<=[wW])\.|(?>&\w{0,5}))+\Z")


def neutralise(text: str) -> str:
    """Markdown in which no image, link, reference, autolink or HTML tag can form, nor a bracket written as `&#91;`.

    Addresses stay readable: `https: //host/path`.
    """
    text = _IMAGE.sub("", text)
    text = _LINK.sub("] ", text)
    text = _TAG.sub("< ", text)
    text = _ADDRESS.sub(": ", text)
    text = _CHARACTER.sub("& ", text)
    return _WWW.sub(r"\1. ", text)


def safe_end(text: str) -> int:
    """How much of a growing text `neutralise` can take now; the rest depends on what follows."""
    match = _UNSETTLED.search(text)
    return match.start() if match else len(text)
