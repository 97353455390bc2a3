"""English words, from the vocabulary of the built-in embedder: tells a compound from a word divided at a line's end."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import cast

_TOKENIZER = Path(__file__).parents[1] / "models" / "all-MiniLM-L6-v2" / "tokenizer.json"
_ENDINGS = ("s", "es", "d", "ed", "ing", "ly", "er", "ers", "ness")


def is_compound(before: str, after: str) -> bool:
    """Whether two parts are English words that form none together: `part`, `time`; not `govern`, `ment` or `with`, `out`."""
    words = _english_words()
    whole = (before + after).lower()
    if before.lower() not in words or after.lower() not in words or whole in words:
        return False
    return not any(
        whole.endswith(end) and {whole.removesuffix(end), whole.removesuffix(end) + "e"} & words for end in _ENDINGS
    )


@lru_cache(maxsize=1)
def _english_words() -> frozenset[str]:
    """The tokens that are whole words of two letters or more; the tokenizer is uncased."""
    vocabulary = cast("dict[str, int]", json.loads(_TOKENIZER.read_bytes())["model"]["vocab"])
    return frozenset(token for token in vocabulary if len(token) > 1 and token.isalpha())
