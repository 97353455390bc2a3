"""Which rows of a table may be quoted as an answer: those that hold every word of a question that asks for no computation, and for no row
that does *not* meet a condition.

A row that is merely similar to the question says nothing of the rows it was not compared with, so it is offered as a place to look.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.agent.tables.language.wording import asks_to_compute
from citewell.agent.understand.question import Question
from citewell.text.analysis import analyze
from citewell.types import ChunkType, Hit

_LEAVES_OUT = re.compile(
    r"(?i)(?<!\w)(?:(?<!or )not|never|without|neither|nor|both|except|excluding|besides|other than|\w+n['’]t)(?!\w)"
)


def quotable(question: Question, hits: Sequence[Hit]) -> list[Hit]:
    """The hits without the rows that leave a word of the question unexplained; passages of other kinds stay.

    A small sheet is one passage, whose rows are treated alike. Tables among text, which explains them, stay.
    """
    computes = asks_to_compute(question.text) or _LEAVES_OUT.search(question.text) is not None
    return [hit for hit in hits if not _of_sheet(hit) or (not computes and _explains(question, hit))]


def _of_sheet(hit: Hit) -> bool:
    chunk, place = hit.chunk, hit.chunk.locator
    rows = place.sheet is not None or place.row is not None
    return chunk.type is ChunkType.ROW or (chunk.type is ChunkType.TABLE and rows)


def _explains(question: Question, hit: Hit) -> bool:
    """Whether every term is in the row's cells, its columns' names, or the names of its sheet and file."""
    chunk = hit.chunk
    text = " ".join((chunk.text, chunk.context, hit.filename, *chunk.locator.headings))
    terms = set(question.terms)
    return bool(terms) and terms <= set(analyze(text, question.language))
