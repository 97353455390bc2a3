"""The multilingual model of the index: multilingual-e5-small over the vocabulary of the reading model, in ONNX Runtime.

Wang et al., "Multilingual E5 Text Embeddings", 2024: questions and passages begin with a word that says which of them they are.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from citewell.adapters.embedder.builtin_model import open_session
from citewell.adapters.reader.reading_model import END, START, ReadingModel
from citewell.ports import FloatMatrix, TextKind

if TYPE_CHECKING:
    import onnxruntime

MULTILINGUAL_NAME = "multilingual-e5-small"
MAX_TOKENS = 256
"""Tokens read of each text, as many as the English model reads, with the one at its start and the one at its end."""
_FILE = "index.onnx"
_MARKS: dict[TextKind, str] = {"query": "query:", "document": "passage:"}


class MultilingualModel:
    """Implements `citewell.adapters.embedder.builtin.SentenceModel`. The graph is loaded on first use. Thread-safe."""

    name = MULTILINGUAL_NAME
    is_english = False
    max_tokens = MAX_TOKENS

    def __init__(self, reading: ReadingModel) -> None:
        """reading: whose words and vocabulary it shares, and which reads the file of the graph."""
        self._reading = reading
        self._loading = threading.Lock()
        self._session: onnxruntime.InferenceSession | None = None
        self.dimensions = reading.dimensions
        self.tokenizer = PieceTokenizer(reading)

    @property
    def revision(self) -> str:
        """The first 12 hex digits of the graph's SHA-256."""
        return self._reading.hash_of(_FILE)[:12]

    def ids(self, texts: Sequence[str], kind: TextKind) -> list[list[int]]:
        """Token ids as model input: with the mark of their kind, truncated to the limit, not padded."""
        start, tokens = [START, *self._marks[kind]], self._reading.tokens
        return [[*start, *tokens(text, MAX_TOKENS - 2).ids, END] for text in texts]

    def sentence_vectors(self, token_ids: Sequence[Sequence[int]]) -> FloatMatrix:
        """Unit vectors, shape (texts, dimensions), for texts with equally many tokens."""
        return self._run("sentence", token_ids)

    def token_vectors(self, token_ids: Sequence[Sequence[int]]) -> FloatMatrix:
        """Contextual unit vectors, shape (texts, 2 + tokens, dimensions): of each text's tokens, of the one before and of the one after them."""
        return self._run("token_vectors", token_ids)[:, len(self._marks["query"]) :]

    @cached_property
    def _marks(self) -> dict[TextKind, list[int]]:
        return {kind: self._reading.tokens(mark, MAX_TOKENS).ids for kind, mark in _MARKS.items()}

    def _run(self, output: str, token_ids: Sequence[Sequence[int]]) -> FloatMatrix:
        with self._loading:
            if self._session is None:
                self._session = open_session(self._reading.file(_FILE))
            session = self._session
        words = self._reading.words([one for ids in token_ids for one in ids])
        (found,) = session.run([output], {"words": words.reshape(len(token_ids), -1, self.dimensions)})
        return np.asarray(found, np.float32)


class PieceTokenizer:
    """Implements `citewell.ports.Tokenizer` with the reading model's vocabulary."""

    def __init__(self, reading: ReadingModel) -> None:
        self._reading = reading

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens per text, special tokens not included."""
        return [len(self.offsets(text)) for text in texts]

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Character span of each token of `text`, special tokens not included."""
        return self._reading.tokens(text, max(1, len(text))).offsets
