"""BM25 as sparse vectors: documents carry saturated term frequencies, queries carry 1 per term, the store adds the IDF
of each term among the owner's chunks.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from functools import lru_cache
from itertools import chain

from citewell.text.analysis import pair_terms, token_groups
from citewell.text.language import detect_language
from citewell.text.tokens import written_tokens
from citewell.types import SparseVector

# Chunks have a bounded length, so their mean is a constant of the chunker and not of the collection.
AVERAGE_LENGTH = 100.0
K1 = 1.2
B = 0.5
CONTEXT_WEIGHT = 2.0
_MAX_REMEMBERED_LENGTH = 32
_MAX_CODES = 3
_MIN_DIGITS = 4
_MIN_DIGITS_ALONE = 6
_YEAR = re.compile("[12][0-9]{3}[^0-9]*")


def sparse_document(
    text: str, context: str = "", language: str | None = None, measured: str | None = None
) -> SparseVector:
    """The BM25 term weights of a chunk, without IDF. `context` (title, heading path) counts as words of the text, weighted.

    measured: the text whose length counts, where it is not the whole one: the figures of a table make it no less about its labels
    """
    language = language or detect_language(text)
    frequencies: dict[int, float] = {}
    length = _count(frequencies, text, language, 1.0)
    if measured is not None:
        length = _count({}, measured, language, 1.0)
    if context:
        length += CONTEXT_WEIGHT * _count(frequencies, context, language, CONTEXT_WEIGHT)
    norm = K1 * (1 - B + B * length / AVERAGE_LENGTH)
    return SparseVector(
        tuple(frequencies), tuple(frequency * (K1 + 1) / (frequency + norm) for frequency in frequencies.values())
    )


def sparse_query(text: str, language: str | None = None) -> SparseVector:
    """The terms of a query, each weighted by how often it is asked for."""
    language = language or detect_language(text)
    asked: dict[str, float] = {}
    written = written_tokens(text)
    terms = (term for token in written for group in token_groups(token, language, True) for term in group)
    for term in chain(terms, pair_terms(written, language, query=True)):
        asked[term.text] = asked.get(term.text, 0.0) + term.weight
    weights: dict[int, float] = {}
    for term, weight in asked.items():
        key = term_id(term)
        weights[key] = weights.get(key, 0.0) + weight
    return SparseVector(tuple(weights), tuple(weights.values()))


def code_terms(text: str, language: str | None = None) -> list[SparseVector]:
    """For each code in a query (`INV-004159`, `ISO27001`, `4901120`) the one term that a text has which writes it the same way."""
    codes = [token for token in written_tokens(text) if _is_code(token)][:_MAX_CODES]
    wholes = [token_groups(code, language, True)[0][0] for code in dict.fromkeys(codes)]
    return [SparseVector((term_id(whole.text),), (1.0,)) for whole in wholes]


def _is_code(token: str) -> bool:
    """Letters and some digits in one token, or many digits without a sign: an amount has signs, a year is short, `2-point` has one digit."""
    if not token.isascii() or _YEAR.fullmatch(token):
        return False
    if token.isdigit():
        return len(token) >= _MIN_DIGITS_ALONE
    return sum(map(str.isdigit, token)) >= _MIN_DIGITS and any(map(str.isalpha, token))


def inverse_frequency(holding: int, total: int) -> float:
    """The inverse document frequency of a term that `holding` of `total` texts have, never negative."""
    return math.log((total - holding + 0.5) / (holding + 0.5) + 1.0)


def stable_number(text: str) -> int:
    """A signed number of 64 bits for a text, the same everywhere."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)


def term_id(term: str) -> int:
    """A stable 32-bit id of a term."""
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=4).digest(), "little")


def _count(frequencies: dict[int, float], text: str, language: str | None, weight: float) -> int:
    """Add the terms of `text`; returns how many tokens it has."""
    length = 0
    written = written_tokens(text)
    for token, times in Counter(written).items():
        tokens, ids = _ids(token, language) if len(token) <= _MAX_REMEMBERED_LENGTH else _new_ids(token, language)
        length += times * tokens
        for key in ids:
            frequencies[key] = frequencies.get(key, 0.0) + times * weight
    for pair in pair_terms(written, language):
        key = _pair_id(pair.text)
        frequencies[key] = frequencies.get(key, 0.0) + weight
    return length


def _new_ids(written: str, language: str | None) -> tuple[int, tuple[int, ...]]:
    """How many tokens a written token holds, and the ids of all their terms."""
    groups = token_groups(written, language, query=False)
    ids: dict[str, int] = {}
    for group in groups:
        for term in group:
            if term.text not in ids:
                ids[term.text] = term_id(term.text)
    return len(groups), tuple(ids[term.text] for group in groups for term in group)


_ids = lru_cache(maxsize=300_000)(_new_ids)
_pair_id = lru_cache(maxsize=100_000)(term_id)
