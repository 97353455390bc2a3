"""Models of Hugging Face's hub in ONNX Runtime on this machine, through fastembed: fetched once into the data folder, or read from a folder of yours."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from fastembed import TextEmbedding

from citewell.adapters.embedder.builtin_tokenizer import WordPieceTokenizer
from citewell.adapters.embedder.remote import sendable, unit_rows
from citewell.errors import ConfigurationError
from citewell.ports import Fingerprint, FloatMatrix, TextKind
from citewell.settings import FastembedEmbedding
from citewell.spelling import nearest

USUAL_MODEL = "BAAI/bge-small-en-v1.5"
MODELS_FOLDER = "models"
"""Inside the data folder: what was fetched."""
_TEXTS_AT_ONCE = 32
_PROCESSORS = ["CPUExecutionProvider"]
_REVISION_LENGTH = 12
# What each family was trained to read before a document, and before a query, as its model card says; fastembed adds nothing.
_INSTRUCTIONS = {
    "intfloat/multilingual-e5": ("passage: ", "query: "),
    "nomic-ai/nomic-embed-text": ("search_document: ", "search_query: "),
    "snowflake/snowflake-arctic-embed": ("", "Represent this sentence for searching relevant passages: "),
    "mixedbread-ai/mxbai-embed": ("", "Represent this sentence for searching relevant passages: "),
    "BAAI/bge-": ("", "Represent this sentence for searching relevant passages: "),
}


class FastembedEmbedder:
    """Implements `citewell.ports.Embedder`; texts go to threads in slices, so that cancelling a call ends it within one."""

    def __init__(self, model: TextEmbedding, name: str, dimensions: int) -> None:
        tokenizer: Any = getattr(model.model, "tokenizer", None)
        folder = Path(getattr(model.model, "_model_dir", ""))
        truncation: dict[str, int] = tokenizer.truncation or {}
        self._model = model
        self._instructions = next((said for start, said in _INSTRUCTIONS.items() if name.startswith(start)), ("", ""))
        self.max_tokens = truncation.get("max_length", 512) - max(
            len(tokenizer.encode(said, add_special_tokens=False)) for said in self._instructions
        )
        self.tokenizer = WordPieceTokenizer(_whole(tokenizer), self.max_tokens)
        revision = folder.name[:_REVISION_LENGTH] if folder.parent.name == "snapshots" else ""
        self.fingerprint = Fingerprint("fastembed", name, dimensions, revision)

    async def embed(self, texts: Sequence[str], kind: TextKind = "document") -> FloatMatrix:
        """As `citewell.ports.Embedder.embed`."""
        before = self._instructions[kind == "query"]
        rows: list[FloatMatrix] = []
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            part = [before + sendable(text) for text in texts[start : start + _TEXTS_AT_ONCE]]
            rows.append(await asyncio.to_thread(self._run, part))
        return np.concatenate(rows) if rows else unit_rows([], self.fingerprint.dimensions)

    def _run(self, texts: Sequence[str]) -> FloatMatrix:
        return unit_rows(list(self._model.embed(list(texts), batch_size=len(texts))), self.fingerprint.dimensions)


def build(settings: FastembedEmbedding) -> FastembedEmbedder:
    """The embedder, its model fetched unless it is there; `ConfigurationError` for a model that is unknown, damaged or out of reach."""
    name, dimensions = _chosen(settings)
    cache = settings.data / MODELS_FOLDER
    options: dict[str, Any] = {"cache_dir": str(cache), "providers": _PROCESSORS}
    if settings.path is not None:
        return FastembedEmbedder(_from_folder(settings, name, options), name, dimensions)
    return FastembedEmbedder(_fetched(settings, name, options), name, dimensions)


def _chosen(settings: FastembedEmbedding) -> tuple[str, int]:
    known = {str(one["model"]): int(one["dim"]) for one in TextEmbedding.list_supported_models()}
    wanted = settings.model or USUAL_MODEL
    name = next((one for one in known if one.lower() == wanted.lower()), None)
    if name is None:
        near = nearest(wanted, list(known))
        raise ConfigurationError(
            f"{settings.name_of('model')} is {wanted!r}, which fastembed does not have."
            + (f" Did you mean {near!r}?" if near else f" Its usual one is {USUAL_MODEL!r}.")
        )
    if settings.dimensions not in (None, known[name]):
        raise ConfigurationError(
            f"{settings.name_of('dimensions')} is {settings.dimensions}, but vectors of {name} have {known[name]} dimensions."
        )
    return name, known[name]


def _from_folder(settings: FastembedEmbedding, name: str, options: dict[str, Any]) -> TextEmbedding:
    try:
        return TextEmbedding(name, specific_model_path=str(settings.path), **options)
    except Exception as error:  # the library, the tokenizer and ONNX Runtime each raise their own
        raise ConfigurationError(
            f"The model {name} cannot be read from {settings.path}: {_said(error)}. "
            f"Put its ONNX file, tokenizer.json and the JSON files beside it there, or remove {settings.name_of('path')}."
        ) from error


def _fetched(settings: FastembedEmbedding, name: str, options: dict[str, Any]) -> TextEmbedding:
    try:
        try:
            return TextEmbedding(name, local_files_only=True, **options)
        except (ValueError, OSError):  # not there, or not all of it
            return TextEmbedding(name, **options)
    except Exception as error:  # each way to fetch, and to fail at it, has errors of its own
        raise ConfigurationError(
            f"The embedding model {name} could not be fetched from huggingface.co into {options['cache_dir']}: {_said(error)}. "
            f"Start once with a connection, or copy its files to this machine and set {settings.name_of('path')} to their folder, or "
            f"choose another {settings.name_of('provider')}; 'builtin' needs no download."
        ) from error


def _whole(tokenizer: Any) -> str:
    """The tokenizer's definition without cutting and padding."""
    copy = type(tokenizer).from_str(tokenizer.to_str())
    copy.no_truncation()
    copy.no_padding()
    return copy.to_str()


def _said(error: Exception) -> str:
    return " ".join(str(error).split())[:200].rstrip(". ") or type(error).__name__
