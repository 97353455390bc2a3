"""Page numbers in running headers and footers: the part of a line that changes from page to page and says nothing else."""

from __future__ import annotations

import re

_PAGE = (
    r"pages?|pagina|página|pág|pag|pg|p|seiten?|s|sida|sid|side|sivu|strona|str|strana|strán|oldal|lapa|lk|stránka"
    r"|страница|стр|с|сторінка|стор|σελίδα|σελ|sayfa|trang|halaman|hal|pahina|ukurasa|صفحه|صفحة|الصفحة|עמוד|หน้า|पृष्ठ"
)
"""What languages call a page, and its usual abbreviations."""
_OF = r"of|out of|/|von|de|sur|di|da|do|van|av|af|z|ze|iz|od|din|dari|của|из|από|من|מתוך|จาก"
_TOTAL = rf"(?:\s*(?:{_OF})\s*\d+)?"
_NAMED = re.compile(
    rf"(?<![^\W\d_])(?:{_PAGE})\b\.?\s*[:#№-]?\s*\d+(?!\w){_TOTAL}|第\s*\d+\s*[页頁](?:\s*[/共]\s*\d+\s*[页頁]?)?|\d+\s*(?:ページ|쪽|페이지)",
    re.IGNORECASE,
)
_LONE = re.compile(rf"^[\W_]*(?:\d+{_TOTAL}|[ivxlc]{{1,7}})[\W_]*$", re.IGNORECASE)
_SET_OFF = re.compile(r"\s*[|·•]\s*\d{1,3}$|^\d{1,3}\s*[|·•]\s*")
"""A number beyond a mark at either end of a line; four digits are rather a year."""


def without_page_number(text: str) -> str:
    """Returns a running line without its page number, and with single spaces; empty if it is nothing else."""
    folded = " ".join(text.split())
    if _LONE.match(folded):
        return ""
    rest = _SET_OFF.sub("", _NAMED.sub("", folded)).strip()
    return rest if any(character.isalnum() for character in rest) else ""
