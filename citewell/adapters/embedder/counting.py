"""Counts tokens without a vendor's tokenizer, which would have to be downloaded: by a rule that errs on the side of too many."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Byte-pair vocabularies of about 100,000 entries write an English word of up to six letters as one token, a longer one in
# pieces; other alphabets in pieces of two or three letters; ideographs one by one or two; digits by threes.
_PIECE = re.compile(r"[A-Za-z]{1,6}|[0-9]{1,3}|[^\W\d_A-Za-z\u2e80-\U0003ffff]{1,2}|[^\S\n]{8,64}|\n+|[^\w\s]|[^\s]")


class ApproximateTokenizer:
    """Implements `citewell.ports.Tokenizer` for models whose own one is not at hand.

    It counts more tokens than the models do for prose in any script, so that what fits by its count fits.
    """

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens per text, special tokens not included."""
        return [sum(1 for _ in _PIECE.finditer(text)) for text in texts]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Character span of each token of `text`, special tokens not included."""
        return [match.span() for match in _PIECE.finditer(text)]
