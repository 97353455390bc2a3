"""Hugging Face embedding models in local ONNX Runtime, through fastembed.

They are downloaded once into the data folder, or read from a folder you provide.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from fastembed import TextEmbedding

from citewell.adapters.embedder.builtin_tokenizer import WordPieceTokenizer
from citewell.adapters.embedder.remote import sendable, unit_rows
from citewell.adapters.hub_models import chosen, opened, untruncated
from citewell.errors import ConfigurationError
from citewell.ports import Fingerprint, FloatMatrix, TextKind
from citewell.settings import FastembedEmbedding

_TEXTS_AT_ONCE = 32
_REVISION_LENGTH = 12
# The prefixes for documents and queries from each family's model card; fastembed adds none.
_INSTRUCTIONS = {
    "intfloat/multilingual-e5": ("passage: ", "query: "),
    "nomic-ai/nomic-embed-text": ("search_document: ", "search_query: "),
    "snowflake/snowflake-arctic-embed": ("", "Represent this sentence for searching relevant passages: "),
    "mixedbread-ai/mxbai-embed": ("", "Represent this sentence for searching relevant passages: "),
    "BAAI/bge-": ("", "Represent this sentence for searching relevant passages: "),
}


class FastembedEmbedder:
    """Implements `citewell.ports.Embedder`; threads get texts in slices, so a canceled call ends within one slice."""

    def __init__(self, model: TextEmbedding, name: str, dimensions: int) -> None:
        tokenizer: Any = getattr(model.model, "tokenizer", None)
        folder = Path(getattr(model.model, "_model_dir", ""))
        truncation: dict[str, int] = tokenizer.truncation or {}
        self._model = model
        self._instructions = next((said for start, said in _INSTRUCTIONS.items() if name.startswith(start)), ("", ""))
        self.max_tokens = truncation.get("max_length", 512) - max(
            len(tokenizer.encode(said, add_special_tokens=False)) for said in self._instructions
        )
        self.tokenizer = WordPieceTokenizer(untruncated(tokenizer), self.max_tokens)
        revision = folder.name[:_REVISION_LENGTH] if folder.parent.name == "snapshots" else ""
        self.fingerprint = Fingerprint("fastembed", name, dimensions, revision)

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """As `citewell.ports.Embedder.embed`."""
        before = self._instructions[kind == "query"]
        rows: list[FloatMatrix] = []
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            part = [before + sendable(text) for text in texts[start : start + _TEXTS_AT_ONCE]]
            rows.append(await asyncio.to_thread(self.run, part))
        return np.concatenate(rows) if rows else unit_rows([], self.fingerprint.dimensions)

    def run(self, texts: Sequence[str]) -> FloatMatrix:
        """The vectors of one slice of texts, in a single model run; blocks."""
        return unit_rows(list(self._model.embed(list(texts), batch_size=len(texts))), self.fingerprint.dimensions)


def build(settings: FastembedEmbedding) -> FastembedEmbedder:
    """Build the embedder, downloading its model if missing.

    Raises `ConfigurationError` for an unknown, damaged or unreachable model.
    """
    model = chosen(settings)
    name, dimensions = str(model["model"]), int(model["dim"])
    if settings.dimensions not in (None, dimensions):
        raise ConfigurationError(
            f"{settings.name_of('dimensions')} is {settings.dimensions}, but the vectors of {name} have {dimensions} dimensions."
        )
    return FastembedEmbedder(opened(TextEmbedding, settings, name), name, dimensions)
