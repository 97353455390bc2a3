"""The page of a link: an answer with its passages as inert HTML, without scripts or external links."""

from __future__ import annotations

import base64
import hashlib
import html
import re
import time
from functools import cache
from typing import TYPE_CHECKING

from citewell.types.sharing import ShownAnswer, ShownPassage

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_MARK = re.compile(r"\[(\d{1,4})\]")
_IN_TAGS = re.compile(r"(<[^>]*>)")
_STYLE = """
:root { color-scheme: light dark }
body { font: 1rem/1.6 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem } table { border-collapse: collapse } td, th { border: 1px solid; padding: .2rem .5rem }
pre { white-space: pre-wrap } footer, .verdict { opacity: .75; font-size: .9rem }
ol { list-style: none; padding: 0 } li { margin: 1rem 0 } blockquote { margin: .3rem 0; padding-left: 1rem; border-left: 3px solid; white-space: pre-wrap }
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
PAGE_HEADERS = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
    "Cache-Control": "no-store",
}
_VERDICTS = {
    "supported": "",
    "weak": "The passage supports this only weakly.",
    "unsupported": "The passage does not support this.",
}


@cache
def _markdown() -> MarkdownIt:
    """Markdown without HTML, links and pictures, which stay text."""
    from markdown_it import MarkdownIt

    return (
        MarkdownIt("commonmark", {"html": False})
        .enable("table")
        .disable(["link", "image", "autolink", "html_inline", "html_block", "reference", "entity"])
    )


def answer_page(shown: ShownAnswer) -> str:
    """The page with an answer."""
    known = {one.n for one in shown.passages}
    passages = "".join(map(_passage, shown.passages))
    return _document(
        f"<h1>A shared answer</h1><main>{_marked(_markdown().render(shown.text), known)}</main>"
        f"<h2>Sources</h2><ol>{passages}</ol>"
        f"<footer>Answered by Citewell on {_day(shown.answered_at)}. "
        f"This link works until {_day(shown.expires_at)}.</footer>"
    )


def problem_page(message: str) -> str:
    """The page that says why there is no answer."""
    return _document(f"<h1>No answer here</h1><p>{html.escape(message)}</p>")


def _day(at: float) -> str:
    moment = time.gmtime(at)
    return f"{moment.tm_mday} {time.strftime('%B %Y', moment)}"


def _passage(one: ShownPassage) -> str:
    verdict = _VERDICTS.get(one.verdict, "")
    note = f'<div class="verdict">{verdict}</div>' if verdict else ""
    quote = f"<blockquote>{html.escape(one.quote)}</blockquote>" if one.quote else ""
    return f'<li id="source-{one.n}"><strong>[{one.n}]</strong> {html.escape(one.label)}{quote}{note}</li>'


def _marked(rendered: str, known: set[int]) -> str:
    """Link each `[n]` in the text to its passage."""

    def mark(found: re.Match[str]) -> str:
        n = int(found[1])
        return f'<a href="#source-{n}">[{n}]</a>' if n in known else found[0]

    pieces = _IN_TAGS.split(rendered)
    return "".join(piece if at % 2 else _MARK.sub(mark, piece) for at, piece in enumerate(pieces))


def _document(body: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        '<meta name="robots" content="noindex, nofollow"><title>Shared answer · Citewell</title>'
        f"<style>{_STYLE}</style></head><body>{body}</body></html>"
    )
