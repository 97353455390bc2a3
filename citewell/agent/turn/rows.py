"""Which rows of a table may be quoted as an answer: those that hold every word of a question that asks for no computation, and for no row
that does *not* meet a condition.

A row that is merely similar to the question says nothing of the rows it was not compared with, so it is offered as a place to look.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.agent.tables.language.wording import asks_to_compute, leaves_out
from citewell.agent.understand.question import Question
from citewell.text.analysis import analyze
from citewell.types import ChunkType, Hit

_COMPUTES_IN_GERMAN = re.compile(
    r"(?i)(?<!\w)(?:wie ?viele?|anzahl|summe|gesamt\w*|insgesamt|durchschnitt\w*|mittelwert|(?:mehr|weniger) als|pro|je|alle[rsnm]?|jede[rsnm]?"
    r"|(?:höch|niedrig|größ|klein|meis|wenig|teuer|billig|günstig|ält|jüng|neu|läng|kürz|früh|spät|schlecht)e?s?te[nrsm]?|beste[nrsm]?)(?!\w)"
)
_HEADER_LINES = 2  # of a small sheet in Markdown


def quotable(question: Question, hits: Sequence[Hit]) -> list[Hit]:
    """The hits without the rows that leave a word of the question unexplained; passages of other kinds stay.

    A small sheet is one passage, whose rows are treated alike. Tables among text, which explains them, stay.
    """
    text = question.text
    computes = asks_to_compute(text) or leaves_out(text) or _COMPUTES_IN_GERMAN.search(text) is not None
    return [hit for hit in hits if not _of_sheet(hit) or (not computes and _explains(question, hit))]


def _of_sheet(hit: Hit) -> bool:
    chunk, place = hit.chunk, hit.chunk.locator
    rows = place.sheet is not None or place.row is not None
    return chunk.type is ChunkType.ROW or (chunk.type is ChunkType.TABLE and rows)


def _explains(question: Question, hit: Hit) -> bool:
    """Whether every term is in the row's cells, its columns' names, or the names of its sheet and file, and one at least in a cell:
    what names a column only is asked of all rows alike."""
    chunk = hit.chunk
    text = " ".join((chunk.text, chunk.context, hit.filename, *chunk.locator.headings))
    terms = set(question.terms)
    if not terms or not terms <= set(analyze(text, question.language)):
        return False
    return not terms.isdisjoint(analyze(_cells(hit), question.language))


def _cells(hit: Hit) -> str:
    """The cells of a row, or of the rows of a small sheet, without the names of their columns."""
    text = hit.chunk.text
    if hit.chunk.type is ChunkType.TABLE:
        return "\n".join(text.split("\n")[_HEADER_LINES:])
    return " | ".join(pair.partition(": ")[2] for pair in text.split(" | "))
