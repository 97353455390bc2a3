"""The built-in model's tokenizer (WordPiece, uncased), safe against any string."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from tokenizers import Encoding
from tokenizers import Tokenizer as RustTokenizer

from citewell.adapters.embedder.builtin_model import Pieces

CHARACTERS_PER_TOKEN = 64
"""Texts are cut at this many characters per token of the model's limit; prose has about four."""

_TEXTS_AT_ONCE = 64


class WordPieceTokenizer:
    """Implements `citewell.ports.Tokenizer`, and gives the model its token ids. Thread-safe."""

    def __init__(self, definition: str, max_tokens: int) -> None:
        """`definition`: the content of a `tokenizer.json`; `max_tokens`: the model's limit, special tokens included."""
        self._max_characters = max_tokens * CHARACTERS_PER_TOKEN
        self._whole = RustTokenizer.from_str(definition)
        self._truncating = RustTokenizer.from_str(definition)
        self._truncating.enable_truncation(max_tokens)

    @cached_property
    def common_words(self) -> dict[str, int]:
        """The whole words in the vocabulary and their positions in it, the most common first."""
        return {word: place for word, place in self._whole.get_vocab().items() if word.isalpha() and len(word) > 1}

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens per text, special tokens not included."""
        return [
            len(encoding)
            for start in range(0, len(texts), _TEXTS_AT_ONCE)
            for encoding in _encode(self._whole, texts[start : start + _TEXTS_AT_ONCE], special=False)
        ]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Character span of each token of `text`, special tokens not included."""
        return self._whole.encode(_valid(text), add_special_tokens=False).offsets

    def pieces(self, text: str) -> Pieces:
        """Token ids and character spans of `text`, cut at `CHARACTERS_PER_TOKEN` characters per token of the limit."""
        encoding = self._whole.encode(_valid(text[: self._max_characters]), add_special_tokens=False)
        return Pieces(encoding.ids, encoding.offsets)

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids as model input: with special tokens, truncated to the limit, not padded."""
        return [encoding.ids for encoding in _encode(self._truncating, [t[: self._max_characters] for t in texts])]


def _encode(tokenizer: RustTokenizer, texts: Sequence[str], special: bool = True) -> list[Encoding]:
    if len(texts) == 1:
        # Avoids the library's thread pool, where a query would queue behind documents.
        return [tokenizer.encode(_valid(texts[0]), add_special_tokens=special)]
    return tokenizer.encode_batch_fast([_valid(text) for text in texts], add_special_tokens=special)


def _valid(text: str) -> str:
    """The text with lone surrogates, which UTF-8 cannot express, replaced one for one."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")
