"""Estimates token counts without downloading a vendor's tokenizer, by a rule that errs on the high side."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Byte-pair vocabularies of about 100,000 entries encode an English word of up to six letters as one token and longer
# ones in pieces, other alphabets in pieces of 2 or 3 letters, ideographs singly or in pairs, and digits in threes.
_PIECE = re.compile(r"[A-Za-z]{1,6}|[0-9]{1,3}|[^\W\d_A-Za-z\u2e80-\U0003ffff]{1,2}|[^\S\n]{8,64}|\n+|[^\w\s]|[^\s]")


class ApproximateTokenizer:
    """Implements `citewell.ports.Tokenizer` for models whose own tokenizer is not available.

    Counts more tokens than the models do for prose in any script, so texts that fit by this count do fit.
    """

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens per text, special tokens not included."""
        return [sum(1 for _ in _PIECE.finditer(text)) for text in texts]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Character span of each token of `text`, special tokens not included."""
        return [match.span() for match in _PIECE.finditer(text)]
